import { describe, expect, it } from 'vitest';
import type { World } from '../../src/simulator/world.ts';
import {
  end,
  imagesOf,
  instancesOf,
  listenToWrites,
  NEW,
  OLD,
  open,
  PARTS,
  slotsWhere,
  statusOf,
  versionsOf,
  watch,
} from './_story.ts';

const now = (world: World) => new Date(world.clock.now()).toISOString();

describe('a person asks for new instances', () => {
  it('all of them: each is replaced once, within the budget, and never again', async () => {
    const { world } = await open({ instances: 10 });
    await world.run(5_000);
    const before = instancesOf(world);
    const lookout = watch(world);
    world.annotateWarmPool('java', { 'everwarm.dev/refresh': now(world) });
    await end(world);
    expect(instancesOf(world).filter((instance) => before.includes(instance))).toEqual([]);
    expect(lookout.fewest()).toBe(8);
    await world.run(600_000);
    expect(lookout.replaced()).toHaveLength(10);
    await end(world);
  });

  it('one of them: the others stay', async () => {
    const { world } = await open({ instances: 3 });
    await world.run(5_000);
    const before = instancesOf(world);
    world.annotateWarmPool('java', { 'everwarm.dev/refresh-2': now(world) });
    await end(world);
    expect(slotsWhere(world, ({ instance }) => !before.includes(instance))).toEqual([2]);
  });

  it('and a claimed one waits for its user to leave', async () => {
    const { world, users } = await open({ instances: 3, claimed: 1 });
    await world.run(5_000);
    const versions = versionsOf(world, [1]);
    const before = instancesOf(world);
    world.annotateWarmPool('java', { 'everwarm.dev/refresh': now(world) });
    await world.settle();
    expect(versionsOf(world, [1])).toEqual(versions);
    expect(statusOf(world).counts).toMatchObject({ claimed: 1, claimedStale: 1, stale: 0 });
    world.release(users[0] ?? '');
    await end(world);
    expect(instancesOf(world)[0]).not.toBe(before[0]);
  });
});

describe('a person edits an instance', () => {
  it('an image set by hand is taken back, as a replacement within the budget', async () => {
    const { world } = await open({ instances: 3 });
    const containers = containersOf(world, 2).map((c) => ({
      ...c,
      ...(c.image === OLD ? { image: NEW } : {}),
    }));
    world.editPart('java', 2, 'deployment', { spec: { template: { spec: { containers } } } });
    expect(imagesOf(world)).toEqual([OLD, NEW, OLD]);
    await end(world);
    expect(imagesOf(world)).toEqual([OLD, OLD, OLD]);
  });

  it.each([
    ['deployment', 'removed', null],
    ['deployment', 'not a number', 'seven'],
    ['proxyConfigMap', 'removed', null],
    ['emailConfigMap', 'not a number', 'seven'],
  ] as const)('a generation label of its %s that is %s makes it stale (P17)', async (part, _, label) => {
    const { world } = await open({ instances: 3 });
    const before = instancesOf(world);
    world.editPart('java', 2, part, {
      metadata: { labels: { 'theia-cloud.io/appdefinition-generation': label } },
    });
    await end(world);
    expect(slotsWhere(world, ({ instance }) => !before.includes(instance))).toEqual([2]);
    // The same on an instance that Everwarm made.
    world.editPart('java', 2, part, {
      metadata: { labels: { 'theia-cloud.io/appdefinition-generation': label } },
    });
    await end(world);
  });

  it('a replica count of zero is no instance any more: it is made anew', async () => {
    const { world } = await open({ instances: 3 });
    world.editPart('java', 2, 'deployment', { spec: { replicas: 0 } });
    await end(world);
    expect(world.slot('java', 2).ready).toBe(true);
  });

  it('what an injector adds is no reason to replace anything', async () => {
    const { world } = await open({ instances: 3 });
    const before = instancesOf(world);
    const writes = listenToWrites(world);
    world.editPart('java', 2, 'deployment', {
      metadata: { annotations: { 'example.org/owner': 'team-7' }, labels: { team: 'seven' } },
    });
    await end(world);
    expect(instancesOf(world)).toEqual(before);
    expect(writes).toEqual([]);
  });
});

describe('a person deletes a part of an instance', () => {
  it.each(PARTS)('its %s: it is back, and only that slot was touched', async (part) => {
    const { world } = await open({ instances: 3 });
    const others = versionsOf(world, [1, 3]);
    expect(world.deletePart('java', 2, part)).toBe(true);
    await end(world);
    expect(versionsOf(world, [1, 3])).toEqual(others);
  });

  it('all of it: the slot is filled again', async () => {
    const { world } = await open({ instances: 3 });
    for (const part of PARTS) world.deletePart('java', 2, part);
    await end(world);
  });
});

describe('staleness: generation', () => {
  it("follows the platform's plain rule: any change of the definition replaces every instance, scaling too", async () => {
    const { world } = await open({ instances: 4 });
    const before = instancesOf(world);
    world.setPolicy('java', { staleness: 'generation' });
    await world.settle();
    expect(instancesOf(world)).toEqual(before);
    world.changePool('java', { minInstances: 5 });
    await end(world);
    expect(instancesOf(world).filter((instance) => before.includes(instance))).toEqual([]);
  });

  it('and without it scaling replaces none', async () => {
    const { world } = await open({ instances: 4 });
    const before = instancesOf(world);
    world.changePool('java', { minInstances: 5 });
    await end(world);
    expect(instancesOf(world).slice(0, 4)).toEqual(before);
  });
});

interface Container {
  readonly image: string;
}

function containersOf(world: World, slot: number): readonly Container[] {
  const deployment = world.part('java', slot, 'deployment');
  const { spec } = deployment as unknown as {
    spec: { template: { spec: { containers: readonly Container[] } } };
  };
  return spec.template.spec.containers;
}
