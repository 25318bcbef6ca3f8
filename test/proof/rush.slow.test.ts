import { describe, expect, it } from 'vitest';
import { end, imagesOf, NEW } from '../scenarios/_story.ts';
import { rush } from './_rush.ts';

const SEEDS = [1, 2, 3, 4, 5, 6];

/** A few of the minutes that `npm run proof` looks at. */
describe('users who come at two a second while ten instances are replaced', () => {
  it('are all served, each on a fresh pod of their own', async () => {
    for (const seed of SEEDS) {
      const { world, hurt, onUsedPods, failedByEverwarm, came } = await rush(seed, 'everwarm');
      expect({ hurt, onUsedPods, failedByEverwarm }, `seed ${seed}`).toEqual({
        hurt: [],
        onUsedPods: 0,
        failedByEverwarm: [],
      });
      expect(came).toBeGreaterThan(50);
      await end(world);
      expect(new Set(imagesOf(world)), `seed ${seed}`).toEqual(new Set([NEW]));
    }
  });

  it('get used pods, and failures, where only the operator looks after them', async () => {
    let used = 0;
    let failed = 0;
    for (const seed of SEEDS) {
      const { onUsedPods, hurt, failedByOperator } = await rush(seed, 'nobody');
      used += onUsedPods;
      failed += hurt.length + failedByOperator;
    }
    expect(used).toBeGreaterThan(0);
    expect(failed).toBeGreaterThan(0);
  });
});
