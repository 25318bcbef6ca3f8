import { describe, expect, it } from 'vitest';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../../src/platform/educates/resources.ts';
import { open, type Stage } from './_stage.ts';

const MINUTE = 60_000;
const JAVA = { name: 'java' };
const namesOf = (stage: Stage, resource = WORKSHOP_ENVIRONMENTS) =>
  stage.list(resource).map(({ metadata }) => metadata.name);
const isConverged = ({ status }: Stage) =>
  status().conditions.find(({ type }) => type === 'Progressing')?.reason === 'AtRest';

/** At rest: every entry has what it wants, and a second look writes nothing. */
async function end(stage: Stage): Promise<void> {
  await stage.guard(2 * MINUTE);
  expect(isConverged(stage)).toBe(true);
  const { desired, ready, current } = stage.status().counts;
  expect({ ready, current }).toEqual({ ready: desired, current: desired });
  await expectRest(stage);
}

async function expectRest(stage: Stage): Promise<void> {
  const before = stage.writes.length;
  await stage.pass();
  expect(stage.writes.slice(before), 'writes of a second pass').toEqual([]);
}

/** How many entries have a warm session in an environment that is in use. */
function servingIn(stage: Stage): number {
  const sessions = stage.list(WORKSHOP_SESSIONS);
  return stage
    .list(WORKSHOP_ENVIRONMENTS)
    .filter(({ status }) => status?.educates?.phase !== 'Stopping')
    .filter(({ metadata }) => sessions.some(({ spec }) => spec.environment.name === metadata.name)).length;
}

const pulled = ({ writes }: Stage) => writes.filter((write) => !write.includes('WarmPool'));

it('a portal that works is left alone', async () => {
  const stage = open([JAVA, { name: 'web' }]);
  await end(stage);
  expect(pulled(stage)).toEqual([]);
});

describe('1, 2: an environment got ready, and the portal never learned of it', () => {
  it('it is in use after one look', async () => {
    const stage = open([JAVA], { losesActivation: true });
    await stage.guard(2 * MINUTE);
    expect(namesOf(stage, WORKSHOP_SESSIONS)).toHaveLength(1);
    expect(pulled(stage)).toEqual(['patch WorkshopEnvironment']);
    await end(stage);
  });

  it('twin passes prompt it once', async () => {
    const stage = open([JAVA], { losesActivation: true });
    stage.run(2 * MINUTE);
    await Promise.all([stage.pass(), stage.pass(), stage.pass()]);
    expect(pulled(stage)).toEqual(['patch WorkshopEnvironment']);
  });
});

it('6, 8: a Workshop changed and the portal did not compare: its environment is replaced', async () => {
  const stage = open([JAVA]);
  stage.merge(TRAINING_PORTALS, 'campus-labs', { spec: { portal: { updates: { workshop: false } } } });
  stage.merge(WORKSHOPS, 'java', { spec: { title: 'Java 2' } });
  await stage.guard(MINUTE);
  expect(stage.status().counts.stale).toBe(1);
  expect(pulled(stage)).toEqual([]);
  stage.merge(TRAINING_PORTALS, 'campus-labs', { spec: { portal: { updates: { workshop: true } } } });
  await stage.guard(MINUTE);
  expect(pulled(stage)).toEqual(['patch Workshop']);
  await end(stage);
});

describe('10: an environment that failed', () => {
  it('is replaced once its Workshop was corrected', async () => {
    const stage = open([JAVA], { failsAt: 1 });
    await stage.pass();
    stage.run(MINUTE);
    stage.merge(WORKSHOPS, 'java', { spec: { title: 'corrected' } });
    await stage.guard(MINUTE);
    await end(stage);
  });

  it('is tried a few times while nobody corrects it, ever less often, and then told', async () => {
    const stage = open([JAVA], { failsAt: 1 });
    await stage.guard(30 * MINUTE);
    expect(pulled(stage)).toHaveLength(6);
    const degraded = stage.status().conditions.find(({ type }) => type === 'Degraded');
    expect(degraded).toMatchObject({
      reason: 'GivenUp',
      message: expect.stringContaining('it cannot be made'),
    });
    expect(stage.list(TRAINING_PORTALS)[0]?.spec.workshops).toMatchObject([JAVA]);
    await expectRest(stage);
  });
});

it('22: an environment that was deleted by hand is made again', async () => {
  const stage = open([JAVA, { name: 'web' }]);
  stage.remove(WORKSHOP_ENVIRONMENTS, 'campus-labs-w001');
  await stage.guard(2 * MINUTE);
  await end(stage);
});

it('28: eight environments are stale: never are more than two away', async () => {
  const entries = Array.from({ length: 8 }, (_, at) => ({ name: `lab-${at + 1}` }));
  const stage = open(entries);
  stage.merge(TRAINING_PORTALS, 'campus-labs', { spec: { portal: { updates: { workshop: false } } } });
  for (const { name } of entries) stage.merge(WORKSHOPS, name, { spec: { title: 'changed' } });
  stage.run(2_000);
  stage.merge(TRAINING_PORTALS, 'campus-labs', { spec: { portal: { updates: { workshop: true } } } });
  let away = 0;
  stage.witnesses.push(() => {
    away = Math.max(away, 8 - servingIn(stage));
  });
  await stage.guard(2 * MINUTE);
  expect(away).toBeGreaterThan(0);
  expect(away).toBeLessThanOrEqual(2);
  await end(stage);
});

describe('an entry that is being re-admitted', () => {
  it('goes back whoever dies in between', async () => {
    const stage = open([JAVA, { name: 'web' }]);
    const { workshops } = stage.list(TRAINING_PORTALS)[0]?.spec ?? { workshops: [] };
    const [entry] = workshops;
    const note = { java: { entry, at: 0, pass: 'dead', since: '2026-11-30T16:00:05Z', generation: 3 } };
    stage.merge(TRAINING_PORTALS, 'campus-labs', {
      metadata: { annotations: { 'everwarm.dev/dropped': JSON.stringify(note) } },
      spec: { workshops: workshops.slice(1) },
    });
    await stage.guard(MINUTE);
    expect(stage.list(TRAINING_PORTALS)[0]?.spec.workshops).toEqual(workshops);
    await end(stage);
  });

  it('lets a user stay until they leave', async () => {
    const stage = open([JAVA], { failsAt: 2 });
    const [session = ''] = namesOf(stage, WORKSHOP_SESSIONS);
    stage.merge(WORKSHOP_SESSIONS, session, { status: { educates: { phase: 'Allocated', user: 'ada' } } });
    stage.merge(WORKSHOP_ENVIRONMENTS, 'campus-labs-w001', {
      metadata: { annotations: { 'everwarm.dev/refresh': 'now' } },
    });
    await stage.guard(2 * MINUTE);
    expect(namesOf(stage)).toEqual(['campus-labs-w001', 'campus-labs-w002']);
    expect(namesOf(stage, WORKSHOP_SESSIONS)).toContain(session);
    stage.remove(WORKSHOP_SESSIONS, session);
    await end(stage);
    expect(namesOf(stage)).toEqual(['campus-labs-w002']);
    expect(pulled(stage)).toEqual(['patch TrainingPortal', 'patch TrainingPortal']);
  });
});
