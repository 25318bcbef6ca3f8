import { describe, expect, it } from 'vitest';
import { RESOURCE_QUOTAS } from '../../src/platform/theia-cloud/resources.ts';
import {
  condition,
  end,
  expectRest,
  imagesOf,
  instancesOf,
  listenToWrites,
  message,
  NEW,
  OLD,
  open,
  serves,
  slotsWhere,
  statusOf,
  watch,
} from './_story.ts';

describe('a full cluster', () => {
  it('two of ten find no node: the pool says so, and rests', async () => {
    const { world } = await open({ instances: 10, kubelet: { maxPods: 8 } });
    expect(slotsWhere(world, serves)).toHaveLength(8);
    expect(statusOf(world).counts).toMatchObject({ ready: 8, blocked: 2 });
    expect(condition(world, 'Degraded')).toBe('True Blocked');
    expect(message(world, 'Degraded')).toMatch(/^unschedulable: slots \d+, \d+$/);
    await expectRest(world);
  });

  it('a release passes through it one instance at a time, although two are away already', async () => {
    const { world } = await open({ instances: 10, kubelet: { maxPods: 8 } });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(slotsWhere(world, serves)).toHaveLength(8);
    expect(lookout.fewest()).toBe(7);
    await expectRest(world);
  });

  it('a release that fits on no node is tried on a few, and costs no more than those', async () => {
    const { world } = await open({ instances: 10 });
    world.kubelet.fail((pod) => JSON.stringify(pod['spec']).includes(NEW), { kind: 'unschedulable' });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.run(600_000);
    expect(lookout.fewest()).toBeGreaterThanOrEqual(7);
    expect(message(world, 'Degraded')).toContain('unschedulable');
    await expectRest(world);
    world.changePool('java', { image: OLD });
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([OLD]));
  });

  it('half of which is missing from the start still lets a release through', async () => {
    const { world } = await open({ instances: 10, kubelet: { maxPods: 5 } });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.settle(3_600_000);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(slotsWhere(world, serves)).toHaveLength(5);
    expect(lookout.fewest()).toBeGreaterThanOrEqual(4);
    await expectRest(world);
  });

  it('is full again as soon as a node is added', async () => {
    const { world } = await open({ instances: 10, kubelet: { maxPods: 8 } });
    const before = instancesOf(world);
    world.kubelet.setMaxPods(undefined);
    await end(world);
    expect(instancesOf(world)).toEqual(before);
    expect(condition(world, 'Degraded')).toBe('False AsExpected');
  });
});

describe('a quota of pods is lowered and lifted', () => {
  it('what stands is kept; what cannot be made waits, says why, and is not tried hot', async () => {
    const { world } = await open({ instances: 10 });
    const before = instancesOf(world);
    world.setQuota(8);
    world.deletePart('java', 9, 'deployment');
    world.deletePart('java', 10, 'deployment');
    await world.run(15_000);
    const writes = listenToWrites(world);
    await world.run(60_000);
    expect(instancesOf(world).slice(0, 8)).toEqual(before.slice(0, 8));
    expect(statusOf(world).counts).toMatchObject({ ready: 8, blocked: 2 });
    expect(message(world, 'Degraded')).toBe('quota: slots 9, 10');
    expect(writes.filter((write) => !write.endsWith(' status')).length).toBeLessThanOrEqual(6);
    expect(world.violations).toEqual([]);
  });

  it('is full again within 5 s after the quota is lifted, however long it lasted', async () => {
    const { world } = await open({ instances: 10 });
    world.setQuota(8);
    world.deletePart('java', 9, 'deployment');
    world.deletePart('java', 10, 'deployment');
    await world.run(1_800_000);
    world.setQuota(undefined);
    await world.run(5_000);
    expect(slotsWhere(world, serves)).toHaveLength(10);
    await end(world);
    expect(condition(world, 'Degraded')).toBe('False AsExpected');
  });

  it('a quota that is only raised frees as many as it has room for', async () => {
    const { world } = await open({ instances: 10 });
    world.setQuota(8);
    world.deletePart('java', 9, 'deployment');
    world.deletePart('java', 10, 'deployment');
    await world.run(600_000);
    world.setQuota(9);
    await world.run(5_000);
    expect(slotsWhere(world, serves)).toHaveLength(9);
    world.setQuota(undefined);
    await end(world);
  });

  it('in the middle of a release it costs no more than the budget, and the release goes on when it is lifted', async () => {
    const { world } = await open({ instances: 10 });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.runUntil(() => slotsWhere(world, (slot) => serves(slot) && slot.image === NEW).length === 4);
    world.setQuota(2);
    await world.run(600_000);
    // Two were away when the quota came, and one more was tried.
    expect(lookout.fewest()).toBeGreaterThanOrEqual(7);
    world.setQuota(undefined);
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  });

  it('a release rolls under a quota that has room for no pod more', async () => {
    const { world } = await open({ instances: 10 });
    world.setQuota(10);
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(lookout.fewest()).toBe(8);
  });
});

describe('a quota of Deployments', () => {
  const QUOTA = 'deployments-max';
  const limit = (deployments: number) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: QUOTA },
    spec: { hard: { 'count/deployments.apps': String(deployments) } },
  });

  it('refuses creates: all creates of the pool wait, with one try at a time and ever more time between', async () => {
    const { world } = await open({ instances: 10 });
    // The operator's own Deployment counts as well.
    world.cluster.admin.create(RESOURCE_QUOTAS, limit(8));
    for (const slot of [8, 9, 10]) world.deletePart('java', slot, 'deployment');
    await world.run(600);
    const refusedBefore = refusals(world.events);
    await world.run(60_000);
    expect(refusals(world.events) - refusedBefore).toBeLessThanOrEqual(4);
    expect(refusals(world.events)).toBeGreaterThan(0);
    expect(condition(world, 'Degraded')).toBe('True Refused');
    expect(message(world, 'Degraded')).toContain('quota');
    expect(slotsWhere(world, serves)).toHaveLength(7);

    world.cluster.admin.remove(RESOURCE_QUOTAS, QUOTA);
    await world.run(5_000);
    expect(slotsWhere(world, serves)).toHaveLength(10);
    await end(world);
  });

  it('a release stops within its budget where nothing can be made, and goes on when it can', async () => {
    const { world } = await open({ instances: 10 });
    world.cluster.admin.create(RESOURCE_QUOTAS, limit(5));
    world.deletePart('java', 10, 'deployment');
    await world.run(30_000);
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await world.run(600_000);
    expect(lookout.fewest()).toBeGreaterThanOrEqual(8);
    expect(condition(world, 'Degraded')).toBe('True Refused');
    world.cluster.admin.remove(RESOURCE_QUOTAS, QUOTA);
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  });
});

function refusals(events: readonly { readonly type: string }[]): number {
  return events.filter(({ type }) => type === 'ActionFailed').length;
}
