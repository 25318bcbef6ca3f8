import { describe, expect, it } from 'vitest';
import type { World } from '../../src/simulator/world.ts';
import { end, imagesOf, NEW, open, portrait, serves, slotsWhere, watch } from './_story.ts';

describe('without a single event', () => {
  it.each([
    { instances: 1, batches: 1, resyncMs: 10_000 },
    { instances: 2, batches: 2, resyncMs: 10_000 },
    { instances: 3, batches: 3, resyncMs: 60_000 },
    { instances: 10, batches: 5, resyncMs: 10_000 },
    { instances: 10, batches: 5, resyncMs: 60_000 },
  ])(
    'a release goes through a pool of $instances within three resyncs a batch ($resyncMs ms)',
    async ({ instances, batches, resyncMs }) => {
      const { world } = await open({ instances, deliver: () => [], resyncMs });
      const lookout = watch(world);
      world.changePool('java', { image: NEW });
      await world.runUntil(() => slotsWhere(world, ({ withdrawn }) => withdrawn).length > 0);
      const began = world.clock.now();
      await world.runUntil(() => slotsWhere(world, isNew).length === instances, 3_600_000);
      expect((world.clock.now() - began) / resyncMs).toBeLessThanOrEqual(3 * batches);
      expect(lookout.fewest()).toBe(instances - Math.max(1, Math.floor(instances / 4)));
      await end(world);
    },
  );

  // A pod needs as long as a resync, so some of them find nothing to do: what counts is who had something to do.
  it('a release goes through a pool of ten in three steps a batch, and to the same end as with events', async () => {
    const heard = await open({ instances: 10 });
    heard.world.changePool('java', { image: NEW });
    await end(heard.world);

    const { world } = await open({ instances: 10, deliver: () => [], resyncMs: 2_000 });
    const passes = passesThatWrite(world);
    world.changePool('java', { image: NEW });
    await end(world);
    // Three for each of the five batches, one to say that the release was seen and one that it is done.
    expect(passes.size).toBeLessThanOrEqual(3 * 5 + 2);
    expect(portrait(world)).toEqual(portrait(heard.world));
  });

  it('users come and go, are kept while they are there and replaced afterwards', async () => {
    const { world, users } = await open({ instances: 5, claimed: 2, deliver: () => [], resyncMs: 2_000 });
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(slotsWhere(world, ({ image }) => image !== NEW)).toEqual([1, 2]);
    for (const user of users) world.release(user);
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  });

  it('a resync that finds nothing to do writes nothing, for an hour', async () => {
    const { world } = await open({ instances: 3, deliver: () => [] });
    const before = world.writes();
    await world.run(3_600_000);
    expect(world.writes()).toBe(before);
    await end(world);
  });
});

const isNew = (slot: Parameters<typeof serves>[0]) => serves(slot) && slot.image === NEW;

/** The passes that wrote anything since the call. */
function passesThatWrite(world: World): ReadonlySet<string> {
  const passes = new Set<string>();
  world.cluster.store.onCommit(({ request }) => {
    if (request.user.startsWith('everwarm/')) passes.add(request.user);
  });
  return passes;
}
