import { expect, it } from 'vitest';
import { end } from '../_story.ts';
import { allAtOnce, calm } from './_all-at-once.ts';
import { play } from './_fault.ts';

it.each([
  { seed: 3, minutes: 60, sidecars: false },
  { seed: 4, minutes: 60, sidecars: true },
  { seed: 5, minutes: 60, sidecars: false },
  { seed: 6, minutes: 60, sidecars: true },
])('all faults at once for an hour leave nothing wrong ($seed, sidecars: $sidecars)', async (weather) => {
  const fault = allAtOnce(weather);
  const { world, cast } = await play(fault, 'everwarm');
  expect(cast, 'on a pod that somebody used before').toEqual([]);
  await calm(world);
  expect(fault.harm(world, cast)).toEqual([]);
  expect(world.violations).toEqual([]);
  await end(world);
});
