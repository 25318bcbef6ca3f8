import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import type { World } from '../../src/simulator/world.ts';
import {
  end,
  imagesOf,
  instancesOf,
  NEW,
  OLD,
  open,
  slotsWhere,
  statusOf,
  substanceOf,
  watch,
} from './_story.ts';

describe('a release rolls through a pool within its budget', () => {
  it.each([
    { instances: 1, fewest: 0 },
    { instances: 2, fewest: 1 },
    { instances: 3, fewest: 2 },
    { instances: 10, fewest: 8 },
  ])('a pool of $instances always has $fewest to hand out', async ({ instances, fewest }) => {
    const { world } = await open({ instances });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(imagesOf(world)).toEqual(Array.from({ length: instances }, () => NEW));
    expect(lookout.fewest()).toBe(fewest);
  });

  it.each([
    { maxUnavailable: 1, fewest: 9 },
    { maxUnavailable: 4, fewest: 6 },
    { maxUnavailable: '50%', fewest: 5 },
    { maxUnavailable: '19%', fewest: 9 },
    { maxUnavailable: '1%', fewest: 9 },
    { maxUnavailable: '100%', fewest: 0 },
  ])('of ten, $maxUnavailable may be away: $fewest always serve', async ({ maxUnavailable, fewest }) => {
    const { world } = await open({ instances: 10 });
    world.setPolicy('java', { maxUnavailable });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(lookout.fewest()).toBe(fewest);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  });

  it('goes from the highest slot down, so that the next user gets the oldest instance last', async () => {
    const { world } = await open({ instances: 10 });
    world.setPolicy('java', { maxUnavailable: 1 });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(lookout.replaced()).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });
});

describe('eight of ten are claimed', () => {
  it('the two others are replaced one at a time, and the eight only when their users have left', async () => {
    const { world, users } = await open({ instances: 10, claimed: 8 });
    const held = slotsWhere(world, ({ user }) => user !== undefined);
    const versions = substanceOf(world, held);
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(lookout.fewest()).toBe(1);
    expect(lookout.replaced()).toEqual([10, 9]);
    expect(substanceOf(world, held)).toEqual(versions);
    expect(statusOf(world).counts).toMatchObject({ ready: 2, current: 2, claimed: 8, claimedStale: 8 });

    for (const user of users) world.release(user);
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(lookout.replaced()).toHaveLength(10);
  });
});

describe('all instances are broken at once', () => {
  it('a release that cures them is not held back, and rebuilds no more than two at a time', async () => {
    const { world } = await open({ instances: 10 });
    world.kubelet.fail((pod) => runs(pod, OLD), { kind: 'crash' });
    await world.run(5_000);
    const rebuilding = mostRebuiltAtOnce(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(rebuilding()).toBe(2);
  });

  it('current ones that crash are made anew after a while, no more than two at a time, and serve when the cause is gone', async () => {
    const { world } = await open({ instances: 10 });
    const before = instancesOf(world);
    const rebuilding = mostRebuiltAtOnce(world);
    const cure = world.kubelet.fail(() => true, { kind: 'crash' });
    await world.run(180_000);
    expect(statusOf(world).counts).toMatchObject({ ready: 0, stale: 0 });
    expect(statusOf(world).counts?.failed).toBeGreaterThanOrEqual(8);
    expect(rebuilding()).toBe(2);
    expect(instancesOf(world).filter((instance, at) => instance !== before[at]).length).toBeGreaterThan(0);
    cure();
    await end(world);
  });

  it('a crash that no new pod cures is tried ever more rarely', async () => {
    const { world } = await open({ instances: 2 });
    world.kubelet.fail(() => true, { kind: 'crash' });
    const lookout = watch(world);
    await world.run(600_000);
    const early = lookout.replaced().length;
    await world.run(3_600_000);
    const late = lookout.replaced().length - early;
    expect(early).toBeGreaterThan(0);
    // Six times the time, and not even twice the tries.
    expect(late).toBeLessThan(2 * early);
    expect(world.violations).toEqual([]);
  });
});

function runs(pod: KubeObject, image: string): boolean {
  const { spec } = pod as unknown as { spec: { containers: readonly { image: string }[] } };
  return spec.containers.some((container) => container.image === image);
}

/** The largest number of slots without a standing Deployment at one moment since the call. */
function mostRebuiltAtOnce(world: World): () => number {
  let most = 0;
  world.cluster.store.onCommit(({ resource }) => {
    if (resource.plural !== 'deployments') return;
    most = Math.max(most, slotsWhere(world, ({ target, complete }) => target && !complete).length);
  });
  return () => most;
}
