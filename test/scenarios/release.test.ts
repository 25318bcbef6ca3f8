import { describe, expect, it } from 'vitest';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  PROXY_TEMPLATE_NAME,
} from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import type { SlotView, World } from '../../src/simulator/world.ts';
import { worstFates } from './_fates.ts';
import {
  condition,
  end,
  expectRest,
  imagesOf,
  instanceObjects,
  instancesOf,
  NEW,
  OLD,
  open,
  PARTS,
  serves,
  slotsWhere,
  TYPO,
  versionsOf,
  watch,
} from './_story.ts';

/** An operator that replaces everything at once when it hears of a change. */
const ALL_AT_ONCE = { operator: { rollsOut: true, continueOnException: true } } as const;
const TEN_MINUTES = 600_000;

const free = (world: World) => slotsWhere(world, ({ claimedBy }) => claimedBy === undefined);
const serving = (world: World) => slotsWhere(world, serves);
const kept = (world: World) => slotsWhere(world, (slot) => slot.kept && slot.withdrawn);

/** What `everwarm release` writes. */
function prepare(world: World, withinMs = TEN_MINUTES): void {
  const { generation } = world.cluster.admin.find(APP_DEFINITIONS_V1BETA11, 'java')?.metadata ?? {};
  const until = new Date(world.clock.now() + withinMs).toISOString();
  world.annotateWarmPool('java', { 'everwarm.dev/release': `${generation}/${until}` });
}

/** All five objects of each unclaimed slot have two owners: nothing of it is the operator's to replace. */
function isPrepared(world: World): boolean {
  return free(world).every((slot) =>
    PARTS.every((part) => world.part('java', slot, part)?.metadata.ownerReferences?.length === 2),
  );
}

async function prepared(instances = 10, claimed = 2, withinMs = TEN_MINUTES) {
  const { world, users } = await open({ instances, claimed, ...ALL_AT_ONCE });
  prepare(world, withinMs);
  await world.runUntil(() => isPrepared(world));
  expect(kept(world)).toEqual(free(world));
  return { world, users };
}

describe('a release that was prepared', () => {
  it('keeps every pod, hands all out again as they are, and is then rolled out a few at a time', async () => {
    const { world } = await prepared();
    expect(condition(world, 'Progressing')).toBe('True Releasing');
    const before = instancesOf(world);
    world.changePool('java', { image: NEW });
    await world.runUntil(() => serving(world).length === 8, 20_000);
    expect(instancesOf(world)).toEqual(before);
    const lookout = watch(world);
    await end(world);
    expect(lookout.mostAway()).toBeLessThanOrEqual(2);
    expect(imagesOf(world).filter((image) => image === NEW)).toHaveLength(8);
    expect(imagesOf(world).filter((image) => image === OLD)).toHaveLength(2);
  });

  it('leaves what the operator alone does: none is warm, and nobody hears of it', async () => {
    const { world } = await open({ instances: 10, claimed: 2, ...ALL_AT_ONCE });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(lookout.fewest()).toBe(0);
  });

  it('hurts nobody who comes before, at or after the change', async () => {
    const { world } = await open({ instances: 10, ...ALL_AT_ONCE });
    const users: string[] = [];
    const come = async (count: number) => {
      for (let at = 0; at < count; at += 1) {
        users.push(world.claim('java'));
        await world.run(400);
      }
    };
    await come(2);
    prepare(world);
    await come(2);
    await world.runUntil(() => isPrepared(world));
    world.changePool('java', { image: NEW });
    await come(3);
    await world.runUntil(() => serving(world).length > 0);
    await come(2);
    const fates = await worstFates(world, users, () => users.every((name) => isAnswered(world, name)));
    expect([...fates.values()].filter(({ kind }) => kind === 'hurt')).toEqual([]);
    expect([...fates.values()].filter(({ kind }) => kind === 'cold').length).toBeGreaterThanOrEqual(3);
    await end(world);
  });

  it.each([100, 1_000, 3_000, 10_000, 16_000])(
    'goes on when Everwarm dies %i ms after the change and comes back',
    async (afterMs) => {
      const { world } = await prepared();
      world.changePool('java', { image: NEW });
      await world.run(afterMs);
      world.stopEverwarm();
      await world.run(30_000);
      world.startEverwarm();
      await end(world);
      expect(imagesOf(world).filter((image) => image === NEW)).toHaveLength(8);
    },
  );

  it('and is followed by another change is still no more than a roll-out', async () => {
    const { world } = await prepared();
    world.changePool('java', { image: NEW });
    await world.runUntil(() => serving(world).length === 8, 20_000);
    prepare(world);
    await world.runUntil(() => isPrepared(world));
    const before = instancesOf(world);
    world.changePool('java', { image: TYPO });
    await world.runUntil(() => serving(world).length === free(world).length, 30_000);
    expect(instancesOf(world)).toEqual(before);
    await end(world);
  });

  it('may make the pool smaller: what is beyond goes at once', async () => {
    const { world } = await prepared(10, 0);
    world.changePool('java', { image: NEW, minInstances: 7 });
    await world.run(5_000);
    const left = instanceObjects(world).filter(({ metadata }) => /^instance-(8|9|10)-/.test(metadata.name));
    expect(left).toEqual([]);
    await end(world);
    expect(imagesOf(world)).toEqual(Array(7).fill(NEW));
  });

  it('may make the pool larger', async () => {
    const { world } = await prepared(4, 1);
    world.changePool('java', { image: NEW, minInstances: 8 });
    await end(world);
    expect(imagesOf(world).filter((image) => image === NEW)).toHaveLength(7);
  });
});

describe('a release that does not come', () => {
  it('is over when its time is: everything is handed out again as it was', async () => {
    const { world } = await open({ instances: 5, ...ALL_AT_ONCE });
    const before = instancesOf(world);
    prepare(world, 30_000);
    await world.runUntil(() => isPrepared(world));
    await world.run(31_000);
    expect(serving(world)).toEqual([1, 2, 3, 4, 5]);
    expect(kept(world)).toEqual([]);
    expect(instancesOf(world)).toEqual(before);
    await end(world);
  });

  it.each([50, 1_000, 2_200, 5_000])('is called off %i ms after it began', async (afterMs) => {
    const { world } = await open({ instances: 5, claimed: 1, ...ALL_AT_ONCE });
    const before = instancesOf(world);
    prepare(world);
    await world.run(afterMs);
    world.annotateWarmPool('java', { 'everwarm.dev/release': null });
    await world.run(6_000);
    expect(serving(world)).toEqual([2, 3, 4, 5]);
    expect(instancesOf(world)).toEqual(before);
    await end(world);
  });

  it.each<{ what: string; stop: (world: World) => void; within?: number; until?: number }>([
    { what: 'the pool is paused', stop: (world: World) => world.setPolicy('java', { paused: true }) },
    { what: 'Everwarm leaves', stop: (world: World) => world.setPolicy('java', { mode: 'observe' }) },
    {
      what: 'the WarmPool is deleted',
      stop: (world: World) => void world.cluster.admin.remove(WARM_POOLS, 'java'),
    },
    {
      what: 'nobody can say any more what an instance should be',
      stop: (world: World) => void world.cluster.admin.remove(CONFIG_MAPS, PROXY_TEMPLATE_NAME),
      // Its time ends it, and a resync finds that.
      within: 60_000,
      until: 150_000,
    },
  ])('keeps nothing back when $what', async ({ stop, within, until = 25_000 }) => {
    const { world } = await prepared(5, 1, within);
    stop(world);
    const isBack = ({ withdrawn, claimedBy }: SlotView) => !withdrawn || claimedBy !== undefined;
    await world.runUntil(() => kept(world).length === 0 && world.slots('java').every(isBack), until);
    await world.run(5_000);
    await expectRest(world);
  });

  it('writes nothing while it waits', async () => {
    const { world } = await prepared(5, 1);
    await world.run(5_000);
    const before = [versionsOf(world, [1, 2, 3, 4, 5]), world.warmPool('java')?.metadata.resourceVersion];
    await world.run(300_000);
    expect([versionsOf(world, [1, 2, 3, 4, 5]), world.warmPool('java')?.metadata.resourceVersion]).toEqual(
      before,
    );
  });

  it.each(['', 'soon', '1/never', '-1/2027-01-01T00:00:00Z', '99/2027-01-01T00:00:00Z'])(
    'is none that is written as %j',
    async (mark) => {
      const { world } = await open({ instances: 3, ...ALL_AT_ONCE });
      const before = versionsOf(world, [1, 2, 3]);
      world.annotateWarmPool('java', { 'everwarm.dev/release': mark });
      await world.run(20_000);
      expect(versionsOf(world, [1, 2, 3])).toEqual(before);
      await end(world);
    },
  );
});

function isAnswered(world: World, name: string): boolean {
  const { operatorStatus } = (world.session(name)?.['status'] ?? {}) as { operatorStatus?: string };
  return operatorStatus === 'HANDLED' || operatorStatus === 'ERROR';
}
