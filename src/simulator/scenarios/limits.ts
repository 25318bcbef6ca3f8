import assert from 'node:assert/strict';
import { type Scenario, story } from '../_story.ts';
import { assertCurrent, NEW, OLD, openPool, POOL } from './_pool.ts';

const BESIDE = { operator: { rollsOut: false } };

/** Where the cluster, or a person, sets limits. */
export const LIMITS: readonly Scenario[] = [
  story(
    'full-cluster',
    'two of ten find no node: a release goes through all the same, for those who go make room',
    async (world) => {
      world.kubelet.setMaxPods(8);
      await openPool(world, 10);
      assert.equal(world.slots(POOL).filter(({ ready }) => ready).length, 8);
      world.changePool(POOL, { image: NEW });
      await world.run(600_000);
      const slots = world.slots(POOL);
      assert.deepEqual(new Set(slots.map(({ image }) => image)), new Set([NEW]));
      assert.equal(slots.filter(({ ready }) => ready).length, 8);
    },
    BESIDE,
  ),
  story(
    'quota',
    'a quota below what a release needs holds it back, and its end is noticed at once',
    async (world) => {
      await openPool(world, 4);
      world.setQuota(3);
      world.changePool(POOL, { image: NEW });
      await world.run(200_000);
      assert.ok(world.slots(POOL).filter(({ ready }) => ready).length >= 3);
      world.setQuota(undefined);
      await world.settle();
      assertCurrent(world, NEW);
    },
    BESIDE,
  ),
  story(
    'pause',
    'a pause in the middle of a replacement lets it end and begins no other',
    async (world) => {
      await openPool(world, 4);
      world.changePool(POOL, { image: NEW });
      await world.runUntil(() => world.slots(POOL).some(({ withdrawn }) => withdrawn));
      world.setPolicy(POOL, { paused: true });
      await world.run(120_000);
      const paused = world.slots(POOL);
      assert.equal(paused.filter(({ withdrawn, ready }) => withdrawn || !ready).length, 0);
      assert.equal(paused.filter(({ image }) => image === NEW).length, 1);
      world.setPolicy(POOL, { paused: false });
      await world.settle();
      assertCurrent(world, NEW);
    },
    BESIDE,
  ),
  story(
    'leave',
    'from guard to observe in the middle of a replacement: what is withdrawn is returned, then silence',
    async (world) => {
      await openPool(world, 4);
      world.changePool(POOL, { image: NEW });
      await world.runUntil(() => world.slots(POOL).some(({ withdrawn }) => withdrawn));
      world.setPolicy(POOL, { mode: 'observe' });
      await world.run(120_000);
      assert.equal(world.slots(POOL).filter(({ withdrawn, ready }) => withdrawn || !ready).length, 0);
      const writes = world.writes();
      world.changePool(POOL, { image: OLD });
      await world.run(120_000);
      assert.equal(world.writes(), writes, 'in observe nothing is written');
    },
    BESIDE,
  ),
];
