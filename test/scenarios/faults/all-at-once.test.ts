import { expect, it } from 'vitest';
import { end } from '../_story.ts';
import { allAtOnce, calm } from './_all-at-once.ts';
import { play } from './_fault.ts';

it.each([
  { seed: 1, minutes: 10, sidecars: false },
  { seed: 2, minutes: 10, sidecars: true },
])('all faults at once for ten minutes leave nothing wrong ($seed, sidecars: $sidecars)', async (weather) => {
  const fault = allAtOnce(weather);
  const { world, cast } = await play(fault, 'everwarm');
  expect(cast, 'on a pod that somebody used before').toEqual([]);
  await calm(world);
  expect(fault.harm(world, cast)).toEqual([]);
  expect(world.violations).toEqual([]);
  await end(world);
});

it('half an hour without Everwarm: used pods are handed on, and users are locked out or lose their instance', async () => {
  const fault = allAtOnce({ seed: 1, minutes: 30, sidecars: false });
  const { world, cast } = await play(fault, 'nobody', undefined);
  expect(cast.length).toBeGreaterThan(0);
  await calm(world);
  expect(fault.harm(world, cast).length).toBeGreaterThan(0);
});
