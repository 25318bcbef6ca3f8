import assert from 'node:assert/strict';
import { type Scenario, story } from '../_story.ts';
import { assertCurrent, NEW, OLD, openPool, POOL } from './_pool.ts';

const BESIDE = { operator: { rollsOut: false } };

/** Releases in pools of several sizes, and beside users. */
export const RELEASES: readonly Scenario[] = [
  ...[1, 2, 3, 10].map((instances) =>
    story(
      `release-${instances}`,
      `a release rolls through a pool of ${instances}`,
      async (world) => {
        await openPool(world, instances);
        world.changePool(POOL, { image: NEW });
        await world.settle();
        assertCurrent(world, NEW);
      },
      BESIDE,
    ),
  ),
  story(
    'eight-claimed',
    'eight of ten are claimed: the other two are replaced one at a time, the eight when their users leave',
    async (world) => {
      const users = await openPool(world, 10, 8);
      const held = world.slots(POOL).filter(({ user }) => user !== undefined);
      assert.equal(held.length, 8);
      world.changePool(POOL, { image: NEW });
      await world.settle();
      assertCurrent(world, NEW);
      const kept = held.map(({ slot }) => world.slot(POOL, Number(slot)).image);
      assert.deepEqual(new Set(kept), new Set([OLD]));
      for (const user of users) world.release(user);
      await world.settle();
      assertCurrent(world, NEW);
    },
    BESIDE,
  ),
  story(
    'all-broken',
    'every instance crashes: the release that cures it goes through all of them',
    async (world) => {
      await openPool(world, 4);
      world.kubelet.fail((pod) => JSON.stringify(pod['spec']).includes(OLD), {
        kind: 'crash',
        container: POOL,
      });
      await world.run(30_000);
      world.changePool(POOL, { image: NEW });
      await world.settle(3_600_000);
      assertCurrent(world, NEW);
    },
    BESIDE,
  ),
  story(
    'typo-release',
    'a release with a typo costs one instance at most, and its correction does not wait for a back-off',
    async (world) => {
      await openPool(world, 4);
      const typo = 'registry.example.org/ide:tpyo';
      world.kubelet.fail((pod) => JSON.stringify(pod['spec']).includes(typo), { kind: 'image' });
      world.changePool(POOL, { image: typo });
      await world.run(300_000);
      assert.equal(world.slots(POOL).filter(({ image, ready }) => ready && image === OLD).length, 3);
      world.changePool(POOL, { image: NEW });
      await world.settle();
      assertCurrent(world, NEW);
    },
    BESIDE,
  ),
  story(
    'new-pool',
    'a new pool is built by the operator; Everwarm stands by and writes nothing but the WarmPool',
    async (world) => {
      world.startEverwarm();
      await world.startOperator();
      world.createPool(POOL, { minInstances: 10, image: OLD });
      await world.settle();
      assertCurrent(world, OLD);
      assert.deepEqual(
        world.events.filter(({ type }) => type === 'ActionDone'),
        [],
      );
    },
    BESIDE,
  ),
];
