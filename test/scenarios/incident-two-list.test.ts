/** What the fix of incident 2 left open, item by item (`reference/incidents.md`). */
import { describe, expect, it } from 'vitest';
import type { World } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  imagesOf,
  instancesOf,
  listenToWrites,
  message,
  NEW,
  OLD,
  open,
  PARTS,
  serves,
  slotsWhere,
  statusOf,
  substanceOf,
  watch,
} from './_story.ts';

describe('1: a deleted Deployment', () => {
  it('is made again at once, beside a running operator that does not notice', async () => {
    const { world } = await open({ instances: 10 });
    const before = instancesOf(world);
    world.deletePart('java', 7, 'deployment');
    await world.run(500);
    expect(world.slot('java', 7).instance).toBeDefined();
    await end(world);
    expect(slotsWhere(world, ({ instance }) => !before.includes(instance))).toEqual([7]);
    expect(statusOf(world).counts).toMatchObject({ ready: 10, current: 10 });
  });

  it('is made again by the resync where nobody was told', async () => {
    const { world } = await open({ instances: 10, deliver: () => [], resyncMs: 30_000 });
    world.deletePart('java', 7, 'deployment');
    await world.run(33_000);
    expect(world.slot('java', 7)).toMatchObject({ ready: true, claimable: true });
    await end(world);
  });

  it('all ten at once come back, without one instance too many', async () => {
    const { world } = await open({ instances: 10 });
    for (let slot = 1; slot <= 10; slot += 1) world.deletePart('java', slot, 'deployment');
    await end(world);
    expect(world.slots('java')).toHaveLength(10);
  });
});

describe('2: a new definition', () => {
  it('rolls through the pool in batches: two of ten at a time are new and not yet ready', async () => {
    const { world } = await open({ instances: 10 });
    const lookout = watch(world);
    let most = 0;
    world.cluster.store.onCommit(({ resource }) => {
      if (resource.plural !== 'deployments') return;
      most = Math.max(most, slotsWhere(world, ({ ready, image }) => image === NEW && !ready).length);
    });
    world.changePool('java', { image: NEW });
    await end(world);
    expect(most).toBe(2);
    expect(lookout.fewest()).toBe(8);
    expect(lookout.replaced()).toHaveLength(10);
  });
});

describe('3: a stale instance', () => {
  it('is handed out while nothing newer is below it, and kept for its user to the end', async () => {
    const { world } = await open({ instances: 3 });
    world.changePool('java', { image: NEW });
    await world.runUntil(() => slotsWhere(world, ({ image, ready }) => image === NEW && ready).length === 1);
    const user = world.claim('java');
    await world.run(2_000);
    expect(slotsWhere(world, (slot) => slot.user === user)).toEqual([1]);
    const instance = world.slot('java', 1).instance;
    await world.settle();
    expect(imagesOf(world)).toEqual([OLD, NEW, NEW]);
    expect(world.slot('java', 1).instance).toBe(instance);
    world.release(user);
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
  });

  it('is handed out no more once the release has gone through', async () => {
    const { world } = await open({ instances: 3 });
    world.changePool('java', { image: NEW });
    await world.settle();
    const users = [world.claim('java'), world.claim('java'), world.claim('java')];
    await world.run(10_000);
    for (const slot of world.slots('java')) {
      expect(users).toContain(slot.user);
      expect(slot.image).toBe(NEW);
    }
    for (const user of users) world.release(user);
    await end(world);
  });
});

describe('4: on scale-down', () => {
  it('everything of a claimed instance is kept, its ConfigMaps too, until its user leaves', async () => {
    const { world, users } = await open({ instances: 4, claimed: 3, operatorStays: false });
    const held = substanceOf(world, [1, 2, 3]);
    world.changePool('java', { minInstances: 1 });
    await world.settle();
    expect(substanceOf(world, [1, 2, 3])).toEqual(held);
    for (const part of PARTS) {
      expect(world.part('java', 3, part), part).toBeDefined();
      expect(world.part('java', 4, part), part).toBeUndefined();
    }
    expect(statusOf(world).counts).toMatchObject({ desired: 1, claimed: 3, claimedSurplus: 2 });

    for (const user of users) world.release(user);
    await end(world);
    expect(world.slots('java')).toHaveLength(1);
  });

  it('free instances above the new number go, the unready and the highest first; those below stay as they are', async () => {
    const { world } = await open({ instances: 6, operatorStays: false });
    const before = instancesOf(world);
    world.changePool('java', { minInstances: 2 });
    await end(world);
    expect(instancesOf(world)).toEqual(before.slice(0, 2));
  });

  it('the ConfigMaps of a claimed instance are brought up to date after its user has left', async () => {
    const { world, users } = await open({ instances: 2, claimed: 1, operatorStays: false });
    world.changePool('java', { image: NEW, port: 4000 });
    await world.settle();
    expect(proxyOf(world, 1)).toContain('127.0.0.1:3000');
    expect(proxyOf(world, 2)).toContain('127.0.0.1:4000');
    world.release(users[0] ?? '');
    await end(world);
    expect(proxyOf(world, 1)).toContain('127.0.0.1:4000');
    expect(allowListOf(world, 1)).toBe('');
  });
});

describe('5: a replacement that is disturbed', () => {
  it('and stops half way leaves a slot that is not handed out, and is finished later', async () => {
    const { world } = await open({ instances: 2 });
    world.changePool('java', { image: NEW });
    await world.runUntil(() => slotsWhere(world, ({ complete }) => !complete).length > 0);
    world.stopEverwarm();
    await world.run(600_000);
    expect(world.slot('java', 2)).toMatchObject({ withdrawn: true, complete: false });
    const users = [world.claim('java'), world.claim('java')];
    await world.run(10_000);
    expect(slotsWhere(world, ({ user }) => user !== undefined)).toEqual([1]);
    world.startEverwarm();
    await world.settle();
    expect(world.slot('java', 2)).toMatchObject({ image: NEW, ready: true, claimable: true });
    for (const user of users) world.release(user);
    await end(world);
  });
});

describe('6: scaling', () => {
  it('from ten to twelve replaces nothing: all ten Deployments stay, relabelled', async () => {
    const { world } = await open({ instances: 10 });
    const before = instancesOf(world);
    world.changePool('java', { minInstances: 12 });
    await end(world);
    expect(instancesOf(world).slice(0, 10)).toEqual(before);
    expect(world.slots('java')).toHaveLength(12);
    for (let slot = 1; slot <= 12; slot += 1)
      for (const part of PARTS) expect(generation(world, slot, part)).toBe('2');
  });

  it('so that an operator which looks again afterwards finds nothing to replace either', async () => {
    const { world } = await open({ instances: 10 });
    world.changePool('java', { minInstances: 12 });
    await end(world);
    const before = instancesOf(world);
    await world.stopOperator('terminate');
    await world.startOperator();
    world.annotatePool('java', { touched: 'by hand' });
    await end(world);
    expect(instancesOf(world)).toEqual(before);
  });

  it.each([
    ['max', { maxInstances: 30 }],
    ['the time-out', { timeout: 60 }],
    ['from ten to eight', { minInstances: 8 }],
  ])('%s alone replaces nothing', async (_, change) => {
    const { world } = await open({ instances: 10, claimed: 1 });
    const before = instancesOf(world);
    const held = substanceOf(world, [1]);
    world.changePool('java', change);
    await end(world);
    expect(instancesOf(world)).toEqual(before.slice(0, world.slots('java').length));
    expect(substanceOf(world, [1])).toEqual(held);
  });

  it('and a release in one change replaces each instance once', async () => {
    const { world } = await open({ instances: 3 });
    const lookout = watch(world);
    world.changePool('java', { minInstances: 5, image: NEW });
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW, NEW, NEW, NEW]);
    expect([...lookout.replaced()].sort()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('7: everybody can see it', () => {
  it('while nothing is done yet: so many are stale, and who has the first word', async () => {
    const { world } = await open({ instances: 10, claimed: 2 });
    world.changePool('java', { image: NEW });
    await world.run(5_000);
    expect(statusOf(world).counts).toMatchObject({
      desired: 10,
      ready: 8,
      current: 0,
      stale: 8,
      claimed: 2,
      claimedStale: 2,
    });
    expect(condition(world, 'Current')).toBe('False Stale');
    expect(message(world, 'Current')).toContain('8 unclaimed instances are stale');
    expect(condition(world, 'Progressing')).toBe('True Settling');
    expect(condition(world, 'Ready')).toBe('True EnoughReady');
  });

  it('in the middle: what is being built, and that enough are ready', async () => {
    const { world } = await open({ instances: 10 });
    world.changePool('java', { image: NEW });
    await world.runUntil(() => slotsWhere(world, ({ complete }) => !complete).length === 2);
    expect(condition(world, 'Progressing')).toBe('True Building');
    expect(message(world, 'Progressing')).toBe('being built or replaced: slots 9, 10');
    expect(statusOf(world).ledger?.map(({ slot }) => slot)).toEqual(['10', '9']);
    expect(condition(world, 'Ready')).toBe('True EnoughReady');
    expect(statusOf(world).counts).toMatchObject({ ready: 8, stale: 8 });
  });

  it('too few are ready: the pool says how many', async () => {
    const { world } = await open({ instances: 4 });
    world.kubelet.fail(() => true, { kind: 'crash' });
    await world.run(5_000);
    expect(condition(world, 'Ready')).toBe('False TooFewReady');
    expect(message(world, 'Ready')).toBe('0 of 4 unclaimed instances are ready');
  });

  it('at the end: nothing is stale, nothing is under way, nobody is needed; and what was done was told', async () => {
    const { world } = await open({ instances: 3 });
    const told = world.events.length;
    const writes = listenToWrites(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(statusOf(world).counts).toMatchObject({
      desired: 3,
      ready: 3,
      current: 3,
      stale: 0,
      failed: 0,
      blocked: 0,
    });
    expect(condition(world, 'Current')).toBe('True AllCurrent');
    expect(condition(world, 'Progressing')).toBe('False AtRest');
    expect(condition(world, 'Degraded')).toBe('False AsExpected');
    expect(statusOf(world)).toMatchObject({ ledger: [], waiting: [] });
    expect(world.events.slice(told).at(-1)).toMatchObject({ type: 'PoolConverged', ready: 3, claimed: 0 });
    expect(writes.at(-1)).toBe('change WarmPool/java status');
    expect(slotsWhere(world, serves)).toEqual([1, 2, 3]);
  });
});

function dataOf(
  world: World,
  slot: number,
  part: 'proxyConfigMap' | 'emailConfigMap',
): Readonly<Record<string, string>> {
  return (world.part('java', slot, part)?.['data'] ?? {}) as Readonly<Record<string, string>>;
}

function proxyOf(world: World, slot: number): string {
  return dataOf(world, slot, 'proxyConfigMap')['oauth2-proxy.cfg'] ?? '';
}

function allowListOf(world: World, slot: number): string {
  return Object.values(dataOf(world, slot, 'emailConfigMap')).join();
}

function generation(world: World, slot: number, part: (typeof PARTS)[number]): string | undefined {
  return world.part('java', slot, part)?.metadata.labels?.['theia-cloud.io/appdefinition-generation'];
}
