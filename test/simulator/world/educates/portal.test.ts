import { expect, test } from 'vitest';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOPS,
} from '../../../../src/platform/educates/resources.ts';
import { believed, campus, environments, findings, JAVA, SETTINGS, sessions } from './_campus.ts';

test('a portal makes an environment for its entry, and warm sessions in it', async () => {
  const world = await campus();
  expect(await environments(world)).toEqual(['campus-labs-w01 Running']);
  expect(await sessions(world)).toEqual(['campus-labs-w01-s001 Available', 'campus-labs-w01-s002 Available']);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
  expect(await findings(world)).toEqual([]);
});

test('an activation that was lost stays lost, and comes back by one annotation on the environment', async () => {
  const world = await campus({}, []);
  world.portal.lockDatabase(50_000);
  await world.workshop('lab-java-basics');
  await world.setPortal({ workshops: [JAVA] });
  await world.run(120_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running']);
  expect(believed(world)).toEqual(['campus-labs-w01 STARTING']);
  expect(await findings(world)).toEqual(['lab-java-basics NeverActivated']);

  await world.annotate(WORKSHOP_ENVIRONMENTS, 'campus-labs-w01', '1');
  await world.run(600);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
  await world.run(2_000);
  expect(await sessions(world)).toEqual(['campus-labs-w01-s001 Available', 'campus-labs-w01-s002 Available']);
  expect(await findings(world)).toEqual([]);
});

test('a Workshop that changes gets a new environment at once, the old one goes with its last user', async () => {
  const world = await campus();
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.workshop(JAVA.name, { vendor: 'campus' });
  await world.run(5_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
  await world.run(60_000);
  expect((await sessions(world))[0]).toBe('campus-labs-w01-s001 Allocated');
  await world.through(world.portal.terminate(handed?.name ?? ''));
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
});

test('updates that are switched on later count from the next annotation of the Workshop', async () => {
  const world = await campus();
  await world.setPortal({ portal: { ...SETTINGS, updates: { workshop: false } } });
  await world.run(5_000);
  await world.workshop(JAVA.name, { vendor: 'campus' });
  await world.run(60_000);
  await world.setPortal({ portal: SETTINGS });
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running']);
  await world.annotate(WORKSHOPS, JAVA.name, '1');
  await world.run(5_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
});

test('an entry that is dropped and put back at once is never missed', async () => {
  const world = await campus();
  await world.setPortal({ workshops: [] });
  await world.run(15);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running']);
});

test('an entry that is put back a second later gets a new environment, and nobody is thrown out of the old one', async () => {
  const world = await campus();
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.setPortal({ workshops: [] });
  await world.run(1_000);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Stopping', 'campus-labs-w02 Running']);
  expect((await sessions(world))[0]).toBe('campus-labs-w01-s001 Allocated');
});

test('a Workshop that comes too late leaves its environment Failed, until the entry is put back', async () => {
  const world = await campus({}, []);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(20_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Pending']);
  await world.run(320_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Failed']);
  await world.workshop(JAVA.name);
  await world.annotate(TRAINING_PORTALS, 'campus-labs', '1');
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Failed']);
  expect(believed(world)).toEqual(['campus-labs-w01 STARTING']);

  await world.setPortal({ workshops: [] });
  await world.run(1_500);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(60_000);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
});

test('the filter of old releases misses what is ADDED ready, and a restart of the portal does not', async () => {
  const world = await campus({
    faults: { ignoresAdded: true },
    deliver: (event) => [event.object.kind === 'WorkshopEnvironment' ? { ...event, type: 'ADDED' } : event],
  });
  await world.run(45_000);
  expect(believed(world)).toEqual(['campus-labs-w01 STARTING']);
  expect(await findings(world)).toEqual(['lab-java-basics NeverActivated']);
});

test('an environment that came to be while the portal was down is taken into use at its start', async () => {
  const world = await campus({ faults: { ignoresAdded: true } }, []);
  await world.workshop(JAVA.name);
  world.sessionManager.stop();
  await world.setPortal({ workshops: [JAVA] });
  await world.run(2_000);
  world.portal.stop();
  world.sessionManager.start();
  await world.run(10_000);
  expect(believed(world)).toEqual(['campus-labs-w01 STARTING']);
  world.portal.start();
  await world.run(6_000);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING']);
});
