import { beforeAll, expect, it } from 'vitest';
import { LOOP_RIGHTS } from './_rights.ts';
import { type Day, single, workingDay } from './_working-day.ts';

/** Each right of the loop is needed: without it the same day ends differently. The notes say in which part of it first. */
let whole: Day;

beforeAll(async () => {
  whole = await workingDay();
});

it('the same day twice ends the same', async () => {
  expect((await workingDay()).portraits).toEqual(whole.portraits);
});

it.for(single(LOOP_RIGHTS))('something stays undone without %s', async (right, { annotate }) => {
  const { portraits, refused } = await workingDay(right);
  expect(refused).toBeGreaterThan(0);
  const first = portraits.findIndex(({ stands }, at) => stands !== whole.portraits[at]?.stands);
  await annotate(portraits[first]?.after ?? 'nothing was missed');
  expect(first).toBeGreaterThanOrEqual(0);
});
