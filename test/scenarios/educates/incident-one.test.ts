import { describe, expect, it, test } from 'vitest';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
} from '../../../src/platform/educates/resources.ts';
import {
  believed,
  campus,
  environments,
  findings,
  JAVA,
  SETTINGS,
  sessions,
} from '../../simulator/world/educates/_campus.ts';
import type { EducatesWorldOptions } from '../../simulator/world/educates/_world.ts';
import { guardOf } from './_beside.ts';

const MINUTE = 60_000;
type Deliver = NonNullable<EducatesWorldOptions['deliver']>;
/** What becomes of the news that an environment got ready; everything else comes through. */
const ofReady =
  (then: Deliver): Deliver =>
  (event) => {
    const { status } = event.object as { status?: { educates?: { workshop?: { uid?: string } } } };
    const isReady =
      event.object.kind === WORKSHOP_ENVIRONMENTS.kind && status?.educates?.workshop?.uid !== undefined;
    return isReady ? then(event) : [event];
  };
/** Nothing more of it comes through until somebody annotates it. */
const unlessNudged =
  (then: Deliver): Deliver =>
  (event) =>
    event.object.metadata.annotations?.['everwarm.dev/nudge'] === undefined ? then(event) : [event];

/** Of an environment nothing is heard before it is ready, and then that it was added. */
const collapsed: Deliver = (event) => {
  if (event.object.kind !== WORKSHOP_ENVIRONMENTS.kind) return [event];
  const ready = ofReady(unlessNudged((one) => [{ ...one, type: 'ADDED' }]))(event);
  return ready[0] === event && event.type === 'ADDED' ? [] : ready;
};

const OLD_FILTER = { faults: { ignoresAdded: true } };

describe('1, 2: the first incident, six ways', () => {
  it.each<[string, EducatesWorldOptions, readonly string[]]>([
    [
      'the news comes as ADDED, which the portal ignores',
      { ...OLD_FILTER, deliver: ofReady(unlessNudged((event) => [{ ...event, type: 'ADDED' }])) },
      ['patch WorkshopEnvironment campus-labs-w01'],
    ],
    ['as MODIFIED', { ...OLD_FILTER, deliver: ofReady((event) => [{ ...event, type: 'MODIFIED' }]) }, []],
    [
      'as both',
      {
        ...OLD_FILTER,
        deliver: ofReady((event) => [
          { ...event, type: 'ADDED' },
          { ...event, type: 'MODIFIED' },
        ]),
      },
      [],
    ],
    [
      'collapsed into one ADDED',
      { ...OLD_FILTER, deliver: collapsed },
      ['patch WorkshopEnvironment campus-labs-w01'],
    ],
    [
      'not at all',
      { deliver: ofReady(unlessNudged(() => [])) },
      ['patch WorkshopEnvironment campus-labs-w01'],
    ],
  ])('%s', async (_, options, levers) => {
    const world = await campus(options);
    const guard = guardOf(world);
    await guard.run(2 * MINUTE);
    expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
    expect(guard.levers()).toEqual(levers);
    expect(await findings(world)).toEqual([]);
    await guard.run(MINUTE);
    await guard.rest();
  });

  it('while the portal was away', async () => {
    const world = await campus({}, []);
    const guard = guardOf(world);
    await world.workshop(JAVA.name);
    await world.setPortal({ workshops: [JAVA] });
    await world.run(100);
    await world.portal.stop();
    await world.run(10_000);
    world.portal.start();
    await guard.run(3 * MINUTE);
    expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
    expect(await findings(world)).toEqual([]);
    await guard.rest();
  });
});

test('1: an activation that the database refused is found and made up for', async () => {
  const world = await campus({}, []);
  const guard = guardOf(world);
  world.portal.lockDatabase(50_000);
  await world.workshop(JAVA.name);
  await world.setPortal({ workshops: [JAVA] });
  await guard.run(3 * MINUTE);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
  expect(guard.levers()).toEqual(['patch WorkshopEnvironment campus-labs-w01']);
  await guard.rest();
});

test('8: updates that are switched on later count at once', async () => {
  const world = await campus();
  const guard = guardOf(world);
  await world.setPortal({ portal: { ...SETTINGS, updates: { workshop: false } } });
  await world.workshop(JAVA.name, { vendor: 'campus' });
  await guard.run(MINUTE);
  expect(guard.levers()).toEqual([]);
  await world.setPortal({ portal: SETTINGS });
  await guard.run(2 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
  expect(guard.levers()).toEqual(['patch Workshop lab-java-basics']);
  await guard.rest();
});

test('22: an environment that was deleted by hand is made again, and the churn ends', async () => {
  const world = await campus();
  const guard = guardOf(world);
  await world.api().delete(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, {});
  await guard.run(4 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
  expect(believed(world)).toContain('campus-labs-w02 RUNNING');
  const portal = await world.find(TRAINING_PORTALS, 'campus-labs');
  expect(portal?.metadata.annotations?.['everwarm.dev/dropped']).toBeUndefined();
  await guard.rest();
});

test('10: an environment that failed for want of its Workshop is made anew when there is one', async () => {
  const world = await campus({}, []);
  const guard = guardOf(world);
  await world.setPortal({ workshops: [JAVA] });
  await guard.run(6 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Failed']);
  expect(guard.levers()).toEqual([]);
  await world.workshop(JAVA.name);
  await guard.run(2 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
  expect(guard.levers()).toEqual(['patch TrainingPortal campus-labs', 'patch TrainingPortal campus-labs']);
  await guard.rest();
});

test('9: who asks for another environment gets one, and nobody is thrown out of the old one', async () => {
  const world = await campus();
  const guard = guardOf(world);
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  const annotations = { 'everwarm.dev/refresh': 'now' };
  const change = { type: 'merge', patch: { metadata: { annotations } } } as const;
  await world.api().patch(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, change);
  await guard.run(4 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
  expect((await sessions(world))[0]).toBe('campus-labs-w01-s001 Allocated');
  await guard.rest();
  await world.through(world.portal.terminate(handed?.name ?? ''));
  await guard.run(MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
  expect(guard.levers()).toHaveLength(2);
});

test('21, 26: whoever has a session keeps it, whatever its phase says', async () => {
  const world = await campus();
  const guard = guardOf(world);
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  const change = { type: 'merge', patch: { status: { educates: { phase: 'Pending' } } } } as const;
  await world.api().patch(WORKSHOP_SESSIONS, { name: 'campus-labs-w01-s001' }, change);
  await guard.run(4 * MINUTE);
  expect((await sessions(world))[0]).toBe('campus-labs-w01-s001 Pending');
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});
