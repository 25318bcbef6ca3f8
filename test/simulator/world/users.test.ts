import { expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import { runCrowd, sessionName } from '../../../src/simulator/world/users.ts';
import { POOL, theiaCloud } from './installation.ts';

it('a user gets a Session under the name that the service would give it, and one only', async () => {
  const world = await theiaCloud();
  const first = await world.users.come('learner-1@example.org', POOL);
  const second = await world.users.come('learner-1@example.org', POOL);
  expect([first.kind, second.kind]).toEqual(['ok', 'exists']);
  const [session] = await world.all(SESSIONS);
  expect(session?.metadata.name).toBe('ws-java-17-course-learner-1-example-org-session');
  expect(session?.['spec']).toMatchObject({
    name: session?.metadata.name,
    appDefinition: POOL,
    user: 'learner-1@example.org',
  });
});

it('a Session that its user ends is gone', async () => {
  const world = await theiaCloud();
  await world.users.come('learner-1@example.org', POOL);
  await world.users.go('learner-1@example.org', POOL);
  expect(await world.all(SESSIONS)).toEqual([]);
  expect((await world.users.go('learner-1@example.org', POOL)).kind).toBe('notFound');
});

it('names stay valid however long a user is called', () => {
  const name = sessionName(`${'very.'.repeat(30)}long@example.org`, POOL);
  expect(name).toMatch(/^ws-java-17-course-very-.*-session$/);
  expect(name.length).toBeLessThanOrEqual(62);
});

it('a crowd comes and goes, never more than it counts, until it is stopped', async () => {
  const world = await theiaCloud();
  const counts = new Set<number>();
  const crowd = { users: world.users, clock: world.clock, random: seededRandom(3), appDefinition: POOL };
  const stop = runCrowd({ ...crowd, people: 3, awayMs: 10_000, stayMs: 10_000 });
  for (let second = 0; second < 300; second += 1) {
    await world.clock.advance(1_000);
    counts.add((await world.all(SESSIONS)).length);
  }
  expect([...counts].sort()).toEqual([0, 1, 2, 3]);
  stop();
  await world.clock.advance(0);
  const before = world.store.revision();
  await world.clock.advance(300_000);
  expect(world.store.revision()).toBe(before);
});
