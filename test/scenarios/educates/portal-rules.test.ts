import { expect, test } from 'vitest';
import { WORKSHOP_ENVIRONMENTS } from '../../../src/platform/educates/resources.ts';
import { WARM_POOLS } from '../../../src/platform/warm-pool.ts';
import {
  believed,
  campus,
  environments,
  findings,
  JAVA,
  SETTINGS,
  sessions,
} from '../../simulator/world/educates/_campus.ts';
import { guardOf } from './_beside.ts';

const MINUTE = 60_000;
const WEB = { name: 'lab-web-ide', capacity: 4, initial: 1, reserved: 1 };

/** The numbers are those of the scenarios that a controller of training portals is measured by. */

test('3: an environment that is not ready is not prompted, whatever is written on it', async () => {
  const world = await campus({}, []);
  const guard = guardOf(world);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(5_000);
  const change = { type: 'merge', patch: { metadata: { annotations: { note: 'hello' } } } } as const;
  await world.api().patch(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, change);
  await guard.run(2 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Pending']);
  expect(guard.levers()).toEqual([]);
});

test("4: another portal's environment is its own affair, however stuck it is", async () => {
  const world = await campus();
  const guard = guardOf(world);
  const labels = {
    'training.educates.dev/portal.name': 'other-labs',
    'training.educates.dev/portal.uid': '00000000-0000-4000-8000-000000000001',
  };
  const made = await world.api().create(WORKSHOP_ENVIRONMENTS, undefined, {
    apiVersion: 'training.educates.dev/v1beta1',
    kind: WORKSHOP_ENVIRONMENTS.kind,
    metadata: { name: 'other-labs-w01', labels },
    spec: { workshop: { name: 'lab-that-is-missing' } },
  });
  expect(made.kind).toBe('ok');
  await guard.run(10 * MINUTE);
  expect(guard.levers()).toEqual([]);
  expect(await findings(world)).toEqual([]);
});

test('5: news that come twice make one environment, and as many sessions as are wanted', async () => {
  const world = await campus({ deliver: (event) => [event, event] });
  const guard = guardOf(world);
  await guard.run(2 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running']);
  expect(await sessions(world)).toHaveLength(JAVA.reserved);
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});

test('6: a Workshop that changes while its environment starts is served as it is now', async () => {
  const world = await campus({}, []);
  const guard = guardOf(world);
  await world.workshop(JAVA.name);
  await world.setPortal({ portal: SETTINGS, workshops: [JAVA] });
  // The environment is made for the Workshop as it was, and the portal compares only what is in use.
  while ((await world.all(WORKSHOP_ENVIRONMENTS)).length === 0) await world.run(10);
  world.portal.lockDatabase(2_000);
  await world.run(1_000);
  await world.workshop(JAVA.name, { vendor: 'campus' });
  await guard.run(4 * MINUTE);
  const [current] = (await environments(world)).slice(-1);
  expect(current).toMatch(/Running$/);
  expect(await findings(world)).toEqual([]);
  await guard.rest();
});

test('13: an entry that a person takes out and puts back is left to the portal', async () => {
  const world = await campus();
  const guard = guardOf(world);
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.setPortal({ workshops: [] });
  await world.run(1_500);
  await world.setPortal({ workshops: [JAVA] });
  await guard.run(3 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
  expect((await sessions(world))[0]).toBe(`${handed?.name} Allocated`);
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});

test('15: after a claim the portal makes another warm session, up to what the entry holds', async () => {
  const world = await campus();
  const guard = guardOf(world);
  for (const [at, user] of ['a', 'b', 'c', 'd'].entries()) {
    await world.through(world.portal.request(JAVA.name, `user-${user}`, 'browser'));
    await guard.run(MINUTE);
    expect(await sessions(world)).toHaveLength(Math.min(at + 1 + JAVA.reserved, JAVA.capacity));
  }
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});

test('16: a portal that is full for its draining users makes nothing, and that is told', async () => {
  const one = { ...JAVA, capacity: 1, initial: 1, reserved: 1 };
  const world = await campus({}, [one]);
  await world.setPortal({ portal: { ...SETTINGS, sessions: { maximum: 1 } } });
  const guard = guardOf(world);
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.workshop(JAVA.name, { vendor: 'campus' });
  await guard.run(4 * MINUTE);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
  expect(await sessions(world)).toHaveLength(1);
  expect((await findings(world)).join()).toContain('NoRoom');
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});

test('17: more sessions at the start than are wanted later are left as they are', async () => {
  const many = { ...JAVA, capacity: 10, initial: 7, reserved: 2 };
  const world = await campus({}, [many]);
  const guard = guardOf(world);
  await guard.run(5 * MINUTE);
  expect(await sessions(world)).toHaveLength(7);
  expect(guard.levers()).toEqual([]);
  await guard.rest();
});

test('25: at rest nothing is written for an hour, not even a status', async () => {
  const world = await campus({}, [JAVA, WEB]);
  const guard = guardOf(world);
  await guard.run(MINUTE);
  const versionOf = async () =>
    (await world.find(WARM_POOLS, 'campus-labs', 'campus-labs-ui'))?.metadata.resourceVersion;
  const before = await versionOf();
  expect(before).toBeDefined();
  await guard.run(60 * MINUTE);
  expect(await versionOf()).toBe(before);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING', 'campus-labs-w02 RUNNING']);
  expect(guard.levers()).toEqual([]);
});
