import { expect, test } from 'vitest';
import { seededRandom } from '../../../../src/clock.ts';
import { reconcile } from '../../../../src/controller/reconcile.ts';
import { createEducates } from '../../../../src/platform/educates/educates.ts';
import { WORKSHOP_ENVIRONMENTS } from '../../../../src/platform/educates/resources.ts';
import { keyOf } from '../../../../src/simulator/driver.ts';
import { believed, campus, environments, JAVA, sessions } from './_campus.ts';
import { STORIES } from './_fault-stories.ts';
import type { EducatesWorld } from './_world.ts';

/** Everwarm looks every ten seconds, for so long. */
async function guarded(world: EducatesWorld, ms: number): Promise<void> {
  const { clock } = world;
  const platform = createEducates({ mode: 'guard' });
  const crew = {
    api: world.api('everwarm'),
    platform,
    clock,
    random: seededRandom(3),
    report: () => undefined,
  };
  for (const end = clock.now() + ms; clock.now() < end; await world.run(10_000))
    await world.through(reconcile(crew, keyOf('campus-labs-ui', 'campus-labs')));
}

test('an activation that was lost is made up for, and nobody else is disturbed', async () => {
  const world = await campus();
  world.portal.lockDatabase(30_000);
  await world.workshop('lab-web-ide');
  const web = { name: 'lab-web-ide', capacity: 3, initial: 1, reserved: 1 };
  await world.setPortal({ workshops: [JAVA, web] });
  await world.run(60_000);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING', 'campus-labs-w02 STARTING']);
  await guarded(world, 300_000);
  expect(believed(world)).toEqual(['campus-labs-w01 RUNNING', 'campus-labs-w02 RUNNING']);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running', 'campus-labs-w02 Running']);
});

test('a Workshop that came too late gets its environment, and who is elsewhere stays', async () => {
  const world = await campus();
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  const web = { name: 'lab-web-ide', capacity: 3, initial: 1, reserved: 1 };
  await world.setPortal({ workshops: [JAVA, web] });
  await world.run(340_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running', 'campus-labs-w02 Failed']);
  await world.workshop('lab-web-ide');
  await guarded(world, 900_000);
  expect(await environments(world)).toEqual(['campus-labs-w01 Running', 'campus-labs-w03 Running']);
});

test('an environment that somebody deleted comes back, and its warm sessions with it', async () => {
  const world = await campus();
  await world.api().delete(WORKSHOP_ENVIRONMENTS, { name: 'campus-labs-w01' }, {});
  await world.run(5_000);
  await guarded(world, 600_000);
  expect(await environments(world)).toEqual(['campus-labs-w02 Running']);
  expect(await sessions(world)).toEqual(['campus-labs-w02-s001 Available', 'campus-labs-w02-s002 Available']);
});

test('where nothing is wrong, nothing is written to anything of the portal', async () => {
  const world = await campus();
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await guarded(world, 60_000);
  const written: string[] = [];
  world.store.onCommit(({ request, object }) => {
    if (request.user === 'everwarm') written.push(`${request.verb} ${object.kind} ${object.metadata.name}`);
  });
  await guarded(world, 120_000);
  expect(written).toEqual([]);
});

/** What guard makes of each of them; a name that is taken is a person's to free. */
const HEALED: Readonly<Record<string, readonly string[]>> = {
  ignoresStarting: ['campus-labs-w02 Running'],
  comparesOnEventsOnly: ['campus-labs-w02 Running'],
  losesLabelledEntries: ['campus-labs-w02 Running'],
  leaksEnvironments: ['campus-labs-w02 Running'],
  strandsSessions: ['campus-labs-w01-s002 Available'],
};

test.each(STORIES.filter(({ fault }) => fault in HEALED))('guard makes up for $what', async (story) => {
  const { fault, tell, see = environments } = story;
  const world = await tell({});
  await guarded(world, 1_200_000);
  expect(await see(world)).toEqual(HEALED[fault]);
});
