import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import type { World } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  expectRest,
  imagesOf,
  instancesOf,
  message,
  NEW,
  OLD,
  open,
  serves,
  slotsWhere,
  statusOf,
  TYPO,
  watch,
} from './_story.ts';

/** An image with this name is in no registry. */
function misspell(world: World): void {
  world.kubelet.fail((pod) => imagesIn(pod).includes(TYPO), { kind: 'image' });
}

function imagesIn(pod: KubeObject): readonly string[] {
  const { spec } = pod as unknown as { spec: { containers: readonly { image: string }[] } };
  return spec.containers.map(({ image }) => image);
}

it('a release with a misspelt image costs two of ten instances; the other eight serve on', async () => {
  const { world } = await open({ instances: 10 });
  misspell(world);
  const lookout = watch(world);
  world.changePool('java', { image: TYPO });
  await world.run(120_000);
  const writes = world.writes();
  await world.run(1_200_000);
  expect(world.writes()).toBe(writes);
  expect(slotsWhere(world, serves)).toHaveLength(8);
  expect(lookout.fewest()).toBe(8);
  // Nothing is gained by trying again: a pod that cannot pull is left to its kubelet.
  expect(lookout.replaced()).toHaveLength(2);
  expect(statusOf(world).counts).toMatchObject({ ready: 8, stale: 8, blocked: 2, failed: 2 });
  expect(condition(world, 'Degraded')).toBe('True Blocked');
  expect(message(world, 'Degraded')).toBe('imagePull: slots 9, 10');
  await expectRest(world);
});

it('the fix of a misspelt release rolls over it, and never costs more than those two', async () => {
  const { world } = await open({ instances: 10 });
  misspell(world);
  const lookout = watch(world);
  world.changePool('java', { image: TYPO });
  await world.run(120_000);
  world.changePool('java', { image: NEW });
  await end(world);
  expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  expect(lookout.fewest()).toBe(8);
  expect(lookout.replaced()).toHaveLength(12);
  expect(condition(world, 'Degraded')).toBe('False AsExpected');
});

it('taking a misspelt release back heals the two and leaves the eight alone', async () => {
  const { world } = await open({ instances: 10 });
  const before = instancesOf(world);
  misspell(world);
  world.changePool('java', { image: TYPO });
  await world.run(120_000);
  world.changePool('java', { image: OLD });
  await end(world);
  expect(new Set(imagesOf(world))).toEqual(new Set([OLD]));
  expect(slotsWhere(world, ({ instance }) => before.includes(instance))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('an image that appears in its registry later needs nobody: the pod pulls it and the release goes on', async () => {
  const { world } = await open({ instances: 3 });
  const appear = world.kubelet.fail((pod) => imagesIn(pod).includes(NEW), { kind: 'image' });
  world.changePool('java', { image: NEW });
  await world.run(60_000);
  expect(statusOf(world).counts).toMatchObject({ ready: 2, blocked: 1 });
  appear();
  // The kubelet tries again by itself, at most 5 minutes later.
  await world.run(300_000);
  await end(world);
  expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
});
