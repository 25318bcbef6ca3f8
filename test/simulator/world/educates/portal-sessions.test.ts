import { expect, test } from 'vitest';
import type { KubeApi } from '../../../../src/kube/api.ts';
import {
  SECRETS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
} from '../../../../src/platform/educates/resources.ts';
import { PORTAL_MENDED } from '../../../../src/simulator/world/educates/portal-faults.ts';
import { believed, campus, environments, findings, JAVA, phases, sessions } from './_campus.ts';

const S001 = 'campus-labs-w01-s001';

test('a claim over REST waits for its user, and is bound to him when he comes', async () => {
  const world = await campus();
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'rest'));
  expect(handed?.name).toBe(S001);
  expect((await sessions(world))[0]).toBe(`${S001} Allocating`);
  expect(await world.through(world.portal.activate(S001, 'another token'))).toBe(false);
  expect(await world.through(world.portal.activate(S001, handed?.token ?? ''))).toBe(true);
  await world.run(2_000);
  expect((await sessions(world))[0]).toBe(`${S001} Allocated`);
  expect(await phases(world, WORKSHOP_ALLOCATIONS)).toEqual([`${S001} Allocated`]);
  const secrets = (await world.all(SECRETS, 'campus-labs-w01')).map(({ metadata }) => metadata.name);
  expect(secrets).toEqual(expect.arrayContaining([`${S001}-user`, `${S001}-request`, `${S001}-session`]));
  expect((await world.find(WORKSHOP_SESSIONS, S001))?.metadata.generation).toBe(5);
});

test('a claim whose user never comes is over after a minute, and another warm session is there', async () => {
  const world = await campus();
  await world.through(world.portal.request(JAVA.name, 'user-a', 'rest'));
  await world.run(80_000);
  expect((await sessions(world)).map((one) => one.split('-').at(-1))).toEqual([
    's002 Available',
    's003 Available',
  ]);
});

/** Somebody else writes the session between the portal's reading and writing. */
function busyServer(api: KubeApi): KubeApi {
  return {
    ...api,
    patch: async (resource, place, patch) => {
      const isClaim = resource.kind === 'WorkshopSession' && JSON.stringify(patch).includes('"user"');
      if (isClaim)
        await api.patch(resource, place, {
          type: 'merge',
          patch: { metadata: { annotations: { note: 'seen' } } },
        });
      return api.patch(resource, place, patch);
    },
  };
}

test('a claim whose write meets a conflict leaves the phase Available under a live user', async () => {
  const world = await campus({ between: busyServer });
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.run(5_000);
  expect((await sessions(world))[0]).toBe(`${S001} Available`);
  expect(await phases(world, WORKSHOP_ALLOCATIONS)).toEqual([`${S001} Allocated`]);
  expect(world.log.join('\n')).toContain(`Failed to update status of ${S001}`);
});

test('a warm session that was deleted is handed out until the next round', async () => {
  const world = await campus();
  await world.run(1_000);
  await world.api().delete(WORKSHOP_SESSIONS, { name: S001 }, {});
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  expect(handed?.name).toBe(S001);
  expect(await world.find(WORKSHOP_SESSIONS, S001)).toBeUndefined();

  const mended = await campus({ faults: PORTAL_MENDED });
  await mended.api().delete(WORKSHOP_SESSIONS, { name: S001 }, {});
  const other = await mended.through(mended.portal.request(JAVA.name, 'user-a', 'browser'));
  expect(other?.name).toBe('campus-labs-w01-s002');
});

test('a deleted warm session is replaced in the next round', async () => {
  const world = await campus();
  await world.api().delete(WORKSHOP_SESSIONS, { name: S001 }, {});
  await world.run(18_000);
  expect(await sessions(world)).toEqual(['campus-labs-w01-s002 Available', 'campus-labs-w01-s003 Available']);
});

test('a session that waited for a Secret is Pending under its user, and stays so when it is built', async () => {
  const world = await campus({}, []);
  await world.workshop(JAVA.name, {
    environment: { secrets: [{ name: 'lab-credentials', namespace: 'educates' }] },
  });
  await world.setPortal({ workshops: [{ ...JAVA, initial: 1, reserved: 1 }] });
  await world.run(5_000);
  expect(await sessions(world)).toEqual([`${S001} Pending (no url)`]);
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.run(20_000);
  expect((await sessions(world))[0]).toBe(`${S001} Pending (no url)`);
  await world.run(60_000);
  expect((await phases(world, WORKSHOP_ALLOCATIONS))[0]).toBe(`${S001} Failed`);
  await world.api().create(SECRETS, 'campus-labs-w01', { metadata: { name: 'lab-credentials' } });
  await world.run(20_000);
  expect((await sessions(world))[0]).toBe(`${S001} Pending`);
});

test('whoever is killed between a namespace and the rest leaves an environment Unknown for ever', async () => {
  const world = await campus({}, []);
  await world.workshop(JAVA.name);
  world.store.onCommit(({ type, resource, object }) => {
    if (type === 'ADDED' && resource.kind === 'Namespace' && object.metadata.name === 'campus-labs-w01')
      world.sessionManager.stop();
  });
  await world.setPortal({ workshops: [JAVA] });
  await world.run(5_000);
  world.sessionManager.start();
  await world.run(400_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Unknown']);
  expect(believed(world)).toEqual(['campus-labs-w01 STARTING']);
  expect((await findings(world)).map((one) => one.split(' ')[0])).toEqual([JAVA.name]);
});

test('an environment that was deleted by hand stays RUNNING, and sessions are made in vain', async () => {
  const world = await campus();
  await world.api().delete(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, {});
  await world.run(60_000);
  expect(await environments(world)).toEqual([]);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
  expect(await sessions(world)).toEqual([]);

  const mended = await campus({ faults: PORTAL_MENDED });
  await mended.api().delete(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, {});
  await mended.run(60_000);
  expect(await environments(mended)).toEqual(['campus-labs-w02 Running']);
});
