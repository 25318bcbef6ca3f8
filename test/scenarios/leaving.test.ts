import { describe, expect, it } from 'vitest';
import { planOnly } from '../../src/controller/reconcile.ts';
import { directApi } from '../../src/embedded/direct.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { NAMESPACE } from '../../src/simulator/cluster.ts';
import { keyOf } from '../../src/simulator/driver.ts';
import { createWorld, type World, type WorldOptions } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  expectRest,
  imagesOf,
  instanceObjects,
  listenToWrites,
  NEW,
  OLD,
  open,
  serves,
  slotsWhere,
  watch,
} from './_story.ts';

const withdrawn = (world: World) => slotsWhere(world, (slot) => slot.withdrawn);

/** A release in the middle: `afterMs` after the first instances were withdrawn. */
async function inTheMiddle(afterMs: number) {
  const { world } = await open({ instances: 10 });
  world.changePool('java', { image: NEW });
  await world.runUntil(() => withdrawn(world).length > 0);
  await world.run(afterMs);
  return world;
}

/** Before the first delete, while nothing stands, while the new ones start, in a later batch. */
const MOMENTS = [100, 2_600, 3_500, 12_000];

describe('pause', () => {
  it.each(MOMENTS)(
    '%i ms into a roll-out: what is begun is finished, nothing more is taken away',
    async (afterMs) => {
      const world = await inTheMiddle(afterMs);
      world.setPolicy('java', { paused: true });
      await world.run(250);
      const lookout = watch(world);
      await world.run(300_000);
      expect(slotsWhere(world, serves)).toHaveLength(10);
      expect(lookout.mostAway()).toBeLessThanOrEqual(2);
      const done = imagesOf(world).filter((image) => image === NEW).length;
      expect(done).toBeLessThan(10);
      await expectRest(world);

      world.setPolicy('java', { paused: false });
      await end(world);
      expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    },
  );

  it('does not keep a deleted Deployment from being made again', async () => {
    const { world } = await open({ instances: 3 });
    world.setPolicy('java', { paused: true });
    world.deletePart('java', 2, 'deployment');
    await end(world);
  });
});

describe('leave', () => {
  it.each(MOMENTS)(
    '%i ms into a roll-out: every instance is handed out again, and then there is silence',
    async (afterMs) => {
      const world = await inTheMiddle(afterMs);
      world.setPolicy('java', { mode: 'observe' });
      await world.run(60_000);
      expect(slotsWhere(world, serves)).toHaveLength(10);
      expect(withdrawn(world)).toEqual([]);
      expect(condition(world, 'Leaving')).toBe('False Left');

      const writes = listenToWrites(world);
      world.deletePart('java', 3, 'deployment');
      world.changePool('java', { image: OLD });
      await world.run(300_000);
      expect(writes).toEqual([]);
      await expectRest(world);

      world.setPolicy('java', { mode: 'guard' });
      await end(world);
      expect(new Set(imagesOf(world))).toEqual(new Set([OLD]));
    },
  );

  it('gives back an instance whose image cannot be pulled: it is no worse than none', async () => {
    const { world } = await open({ instances: 3 });
    world.kubelet.fail(() => true, { kind: 'image' });
    world.changePool('java', { image: NEW });
    await world.run(60_000);
    expect(withdrawn(world)).toEqual([3]);
    world.setPolicy('java', { mode: 'observe' });
    await world.run(60_000);
    expect(withdrawn(world)).toEqual([]);
    expect(condition(world, 'Leaving')).toBe('False Left');
    await expectRest(world);
  });

  it('and uninstall: without Everwarm and its WarmPools everything is handed out as before', async () => {
    const world = await inTheMiddle(2_600);
    world.setPolicy('java', { mode: 'observe' });
    await world.runUntil(() => condition(world, 'Leaving') === 'False Left');
    world.stopEverwarm();
    world.cluster.admin.remove(WARM_POOLS, 'java');
    await world.run(60_000);
    expect(world.warmPool('java')).toBeUndefined();
    expect(slotsWhere(world, serves)).toHaveLength(10);
    const owners = instanceObjects(world).flatMap(({ metadata }) =>
      metadata.ownerReferences?.map(({ kind }) => kind),
    );
    expect(new Set(owners)).toEqual(new Set(['AppDefinition']));
    const user = world.claim('java');
    await world.run(5_000);
    expect(slotsWhere(world, (slot) => slot.user === user)).toEqual([1]);
    expect(world.violations).toEqual([]);
  });
});

describe('a WarmPool that is deleted', () => {
  it.each(MOMENTS)('%i ms into a roll-out is made again, and the roll-out goes on', async (afterMs) => {
    const world = await inTheMiddle(afterMs);
    world.cluster.admin.remove(WARM_POOLS, 'java');
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(world.warmPool('java')).toBeDefined();
  });
});

describe('observe', () => {
  /** A pool beside which Everwarm may only look. */
  async function watched(options: WorldOptions) {
    const world = await createWorld({ operator: { rollsOut: false }, ...options });
    world.startEverwarm();
    await world.startOperator();
    world.createPool('java', { minInstances: 3, image: OLD });
    await world.run(60_000);
    expect(slotsWhere(world, serves)).toEqual([1, 2, 3]);
    world.changePool('java', { image: NEW });
    return world;
  }

  it('writes nothing at all: no instance, no status, not even a WarmPool', async () => {
    const world = await watched({ mode: 'observe' });
    world.deletePart('java', 2, 'deployment');
    await world.run(300_000);
    expect(world.writes()).toBe(0);
    expect(world.warmPool('java')).toBeUndefined();
    await expectRest(world);
  });

  it('tells what it would do', async () => {
    const world = await watched({ mode: 'observe' });
    await world.run(60_000);
    const { store, settings, random } = world.cluster;
    const deps = {
      api: directApi(store, { user: 'reader', now: world.clock.now }),
      platform: createTheiaCloud({
        mode: 'observe',
        settings,
        oAuth2ProxyImage: settings.oAuth2ProxyImage,
      }),
      random,
      report: () => undefined,
    };
    const look = await planOnly(deps, keyOf(NAMESPACE, 'java'));
    expect(look?.plan.actions).toMatchObject([{ kind: 'withdraw', slot: '3', reason: 'stale' }]);
    expect(look?.plan.status.counts).toMatchObject({ desired: 3, stale: 2 });
  });

  it('is what remains where the WarmPool kind is not installed', async () => {
    const world = await watched({ hasWarmPools: false });
    await world.run(300_000);
    expect(imagesOf(world)).toEqual([OLD, OLD, OLD]);
    expect(world.events.filter(({ type }) => type === 'PoolBlocked')).not.toEqual([]);
    expect(world.violations).toEqual([]);
  });
});
