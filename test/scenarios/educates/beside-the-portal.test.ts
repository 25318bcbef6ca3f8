import { describe, expect, it } from 'vitest';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../../src/platform/educates/resources.ts';
import { WARM_POOLS } from '../../../src/platform/warm-pool.ts';
import { open, type Stage } from './_stage.ts';

const MINUTE = 60_000;
const JAVA = { name: 'java' };
const WEB = { name: 'web' };
const PORTAL = 'campus-labs';
const UPDATES = (workshop: boolean) => ({ spec: { portal: { updates: { workshop } } } });
const leversOf = ({ writes }: Stage) => writes.filter((write) => !write.includes('WarmPool'));
const environmentsOf = (stage: Stage) =>
  stage.list(WORKSHOP_ENVIRONMENTS).map(({ metadata }) => metadata.name);
const entriesOf = (stage: Stage) => stage.list(TRAINING_PORTALS)[0]?.spec.workshops ?? [];

/** The last look writes nothing. */
async function rest(stage: Stage): Promise<void> {
  await stage.guard(2 * MINUTE);
  const before = stage.writes.length;
  await stage.pass();
  expect(stage.writes.slice(before), 'writes of a second pass').toEqual([]);
}

function askAnew(stage: Stage): void {
  stage.merge(WORKSHOP_ENVIRONMENTS, 'campus-labs-w001', {
    metadata: { annotations: { 'everwarm.dev/refresh': 'now' } },
  });
}

function sitDown(stage: Stage): string {
  const name = stage.list(WORKSHOP_SESSIONS)[0]?.metadata.name ?? '';
  stage.merge(WORKSHOP_SESSIONS, name, { status: { educates: { phase: 'Allocated', user: 'ada' } } });
  return name;
}

describe('the portal works: nothing is done beside it', () => {
  it.each<[string, (stage: Stage) => void, readonly string[]]>([
    [
      '7: a Workshop changed, and updates are off',
      (stage) => {
        stage.merge(TRAINING_PORTALS, PORTAL, UPDATES(false));
        stage.merge(WORKSHOPS, 'java', { spec: { title: 'changed' } });
      },
      ['campus-labs-w001', 'campus-labs-w002'],
    ],
    [
      '9: a Workshop was annotated, and is the same',
      (stage) => {
        stage.merge(WORKSHOPS, 'java', { metadata: { annotations: { note: 'x' } } });
      },
      ['campus-labs-w001', 'campus-labs-w002'],
    ],
    [
      '12: an entry was removed while a user is in it: it drains',
      (stage) => {
        sitDown(stage);
        stage.merge(TRAINING_PORTALS, PORTAL, { spec: { workshops: entriesOf(stage).slice(1) } });
      },
      ['campus-labs-w001', 'campus-labs-w002'],
    ],
    [
      '14: every entry was removed: everything drains',
      (stage) => {
        stage.merge(TRAINING_PORTALS, PORTAL, { spec: { workshops: [] } });
      },
      [],
    ],
    [
      '18: no warm session is wanted before the first user',
      (stage) => {
        const [first, second] = entriesOf(stage);
        stage.merge(TRAINING_PORTALS, PORTAL, {
          spec: { workshops: [{ ...first, initial: 0, reserved: 0 }, second] },
        });
      },
      ['campus-labs-w001', 'campus-labs-w002'],
    ],
  ])('%s', async (_, change, environments) => {
    const stage = open([JAVA, WEB]);
    await stage.guard(MINUTE);
    change(stage);
    await rest(stage);
    expect(leversOf(stage)).toEqual([]);
    expect(environmentsOf(stage)).toEqual(environments);
  });
});

it('11: one Workshop under two aliases: both environments are replaced', async () => {
  const stage = open([
    { name: 'java', alias: 'morning' },
    { name: 'java', alias: 'evening' },
  ]);
  stage.merge(TRAINING_PORTALS, PORTAL, UPDATES(false));
  stage.merge(WORKSHOPS, 'java', { spec: { title: 'changed' } });
  stage.run(2_000);
  stage.merge(TRAINING_PORTALS, PORTAL, UPDATES(true));
  await rest(stage);
  const pinned = stage
    .list(WORKSHOP_ENVIRONMENTS)
    .map(({ status }) => status?.educates?.workshop?.generation);
  expect(pinned).toEqual([2, 2]);
});

it('9: a person asks for another environment: there is one, once', async () => {
  const stage = open([JAVA]);
  await stage.guard(MINUTE);
  askAnew(stage);
  await rest(stage);
  expect(environmentsOf(stage)).toEqual(['campus-labs-w002']);
  expect(leversOf(stage)).toEqual(['patch TrainingPortal', 'patch TrainingPortal']);
});

describe('27: a pass ends in the middle', () => {
  it('between dropping an entry and putting it back: the next one puts it back', async () => {
    const stage = open([JAVA, WEB]);
    await stage.guard(MINUTE);
    const entries = entriesOf(stage);
    askAnew(stage);
    // The portal is away when the entry is dropped, and so is whoever dropped it, for a minute.
    stage.faults.isDown = true;
    await stage.pass();
    expect(entriesOf(stage)).toEqual(entries.slice(1));
    stage.run(MINUTE);
    stage.faults.isDown = false;
    await rest(stage);
    expect(entriesOf(stage)).toEqual(entries);
    expect(environmentsOf(stage)).toEqual(['campus-labs-w002', 'campus-labs-w003']);
  });

  it('a portal that never comes back has its entry again after two minutes', async () => {
    const stage = open([JAVA, WEB]);
    await stage.guard(MINUTE);
    const entries = entriesOf(stage);
    askAnew(stage);
    stage.faults.isDown = true;
    await stage.pass();
    stage.run(2 * MINUTE);
    await stage.pass();
    expect(entriesOf(stage)).toEqual(entries);
  });
});

it('whoever leaves puts back first what was dropped', async () => {
  const stage = open([JAVA, WEB]);
  await stage.guard(MINUTE);
  const entries = entriesOf(stage);
  askAnew(stage);
  stage.faults.isDown = true;
  await stage.pass();
  expect(entriesOf(stage)).toHaveLength(1);
  await stage.say({ mode: 'observe' });
  await stage.pass();
  // The portal was written, which is news.
  await stage.pass();
  expect(entriesOf(stage)).toEqual(entries);
  expect(stage.status().conditions.find(({ type }) => type === 'Leaving')).toMatchObject({ status: 'False' });
  expect(stage.list(WARM_POOLS)).toHaveLength(1);
});
