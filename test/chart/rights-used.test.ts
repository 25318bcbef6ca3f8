import { expect, it } from 'vitest';
import { LOOP_RIGHTS } from './_rights.ts';
import { single, workingDay } from './_working-day.ts';

it('a working day asks for every right of the loop, and for no other', async () => {
  const { used } = await workingDay();
  const given = single(LOOP_RIGHTS);
  expect([...used].filter((right) => !given.includes(right))).toEqual([]);
  expect(given.filter((right) => !used.has(right))).toEqual([]);
});
