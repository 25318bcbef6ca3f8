import { expect, it } from 'vitest';
import { playCourse } from './_course.ts';
import { permute } from './_permutations.ts';

const RUNS = 150;

it(`${RUNS} ways of losing, doubling, reordering and holding back the news lead to the same objects`, async () => {
  const { odd, sums } = await permute(1, RUNS);
  expect(odd).toEqual([]);
  // Each fate met a good part of the notices: the ways are not all alike.
  for (const fate of ['lost', 'doubled', 'late', 'redriven'] as const)
    expect(sums[fate] / sums.sent, fate).toBeGreaterThan(0.1);
});

it('of news that never arrive nothing comes while nobody looks by himself', async () => {
  const never = 100 * 3_600_000;
  await expect(playCourse(() => [], never)).rejects.toThrow('not settled');
});
