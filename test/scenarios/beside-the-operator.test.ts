import { describe, expect, it } from 'vitest';
import { APP_DEFINITIONS_V1BETA11 } from '../../src/platform/theia-cloud/resources.ts';
import { createWorld } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  imagesOf,
  instanceObjects,
  instancesOf,
  listenToWrites,
  NEW,
  OLD,
  open,
  slotsWhere,
  statusOf,
  watch,
} from './_story.ts';

describe('a new pool', () => {
  it("is the operator's to build: in its first 15 s Everwarm writes nothing but the WarmPool", async () => {
    const said: string[] = [];
    const world = await createWorld({ operator: { log: (line) => said.push(line) } });
    world.startEverwarm();
    await world.startOperator();
    await world.run(60_000);
    const writes = listenToWrites(world);
    world.createPool('java', { minInstances: 10 });
    await world.run(15_000);
    expect([...new Set(writes)].sort()).toEqual(['change WarmPool/java status', 'create WarmPool/java']);
    await end(world);
    // A name that is taken already would have ended its work on the whole pool.
    expect(said).toEqual([]);
    expect(statusOf(world).counts).toMatchObject({ desired: 10, ready: 10, current: 10 });
  });

  it('whose operator stops half way is finished by Everwarm', async () => {
    const world = await createWorld();
    world.startEverwarm();
    await world.startOperator();
    await world.run(60_000);
    world.createPool('java', { minInstances: 10 });
    await world.runUntil(() => instanceObjects(world).length >= 25);
    await world.stopOperator();
    expect(slotsWhere(world, ({ complete }) => !complete).length).toBeGreaterThan(0);
    await end(world);
  });

  it('is built by Everwarm alone where no operator runs, and adopted without a write by an operator that comes later', async () => {
    const world = await createWorld();
    world.startEverwarm();
    world.createPool('java', { minInstances: 10 });
    await end(world);
    const before = instancesOf(world);
    await world.startOperator();
    const writes = listenToWrites(world);
    await world.settle();
    expect(writes.filter((write) => !write.endsWith(' status'))).toEqual([]);
    expect(instancesOf(world)).toEqual(before);
    await end(world);
  });

  it('is untouched by the pools beside it', async () => {
    const { world } = await open({ instances: 3 });
    const before = instancesOf(world);
    world.createPool('python', { minInstances: 5 });
    world.changePool('python', { image: NEW });
    await end(world);
    expect(instancesOf(world)).toEqual(before);
    expect(imagesOf(world, 'python')).toEqual([NEW, NEW, NEW, NEW, NEW]);
    world.deletePool('python');
    await end(world);
    expect(instancesOf(world)).toEqual(before);
    expect(instanceObjects(world)).toHaveLength(3 * 5);
  });
});

describe('a running operator that rolls out by itself', () => {
  it('does so before Everwarm begins: nothing is replaced twice', async () => {
    const { world } = await open({ instances: 10, operator: { rollsOut: true } });
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
    expect(lookout.replaced()).toHaveLength(10);
  });

  it('takes its owner off a slot that is being replaced when the pool shrinks: Everwarm removes the left-over at once', async () => {
    const { world } = await open({ instances: 4, operator: { rollsOut: true } });
    world.annotateWarmPool('java', {
      'everwarm.dev/refresh-4': new Date(world.clock.now() + 1_000).toISOString(),
    });
    await world.runUntil(() => world.slot('java', 4).withdrawn);
    world.changePool('java', { minInstances: 3 });
    await world.run(5_000);
    expect(instanceObjects(world).filter(({ metadata }) => metadata.name.startsWith('instance-4-'))).toEqual(
      [],
    );
    await end(world);
    // The next start of the operator finds no name taken, and the pool can grow again.
    await world.stopOperator('terminate');
    await world.startOperator();
    world.changePool('java', { minInstances: 5 });
    await end(world);
    expect(world.slots('java')).toHaveLength(5);
  });
});

describe('an operator that is restarted', () => {
  it.each([500, 1_500, 2_500, 4_000, 6_000])(
    '%i ms into a replacement changes nothing about how it ends',
    async (afterMs) => {
      const { world } = await open({ instances: 10, claimed: 2 });
      const lookout = watch(world);
      world.changePool('java', { image: NEW });
      await world.runUntil(() => slotsWhere(world, ({ withdrawn }) => withdrawn).length > 0);
      await world.run(afterMs);
      await world.stopOperator();
      await world.run(3_000);
      await world.startOperator();
      await end(world);
      expect(imagesOf(world)).toEqual([OLD, OLD, ...Array.from({ length: 8 }, () => NEW)]);
      expect(lookout.fewest()).toBe(6);
      expect(lookout.replaced()).toHaveLength(8);
    },
  );

  it('again and again does not keep a pool from becoming current', async () => {
    const { world } = await open({ instances: 10 });
    world.changePool('java', { image: NEW });
    for (let times = 0; times < 10; times += 1) {
      await world.stopOperator('terminate');
      await world.startOperator();
      await world.run(20_000);
    }
    await end(world);
    expect(new Set(imagesOf(world))).toEqual(new Set([NEW]));
  });
});

describe('a user', () => {
  it('who leaves while the operator is down leaves a used slot: it is made anew before it counts as ready', async () => {
    const { world, users } = await open({ instances: 3, claimed: 1 });
    const [user = ''] = users;
    const [slot = 0] = slotsWhere(world, (view) => view.user === user);
    const before = instancesOf(world);
    await world.stopOperator();
    await world.run(60_000);
    world.release(user);
    await world.run(1_000);
    expect(world.slot('java', slot)).toMatchObject({ ready: true, clean: false });
    expect(statusOf(world).counts?.ready).toBe(2);
    await world.startOperator();
    await end(world);
    expect(instancesOf(world)[slot - 1]).not.toBe(before[slot - 1]);
    expect(
      instancesOf(world).filter((instance, at) => at !== slot - 1 && instance === before[at]),
    ).toHaveLength(2);
  });

  it('who leaves beside a running operator leaves the cleaning to it', async () => {
    const { world, users } = await open({ instances: 3, claimed: 1 });
    const before = instancesOf(world);
    const writes = listenToWrites(world);
    world.release(users[0] ?? '');
    await end(world);
    expect(instancesOf(world)).toEqual(before);
    // One write: the slot was held while it was claimed, and is handed back when it is clean and its pod fresh.
    const anchor = world.part('java', 1, 'externalService')?.metadata.name;
    expect(writes.filter((write) => !write.endsWith(' status'))).toEqual([`change Service/${anchor}`]);
  });

  it.each([5, 20, 250])(
    'whose stale instance was kept for them leaves it to Everwarm (%i ms a request of the operator): nobody gets in the way',
    async (paceMs) => {
      const said: string[] = [];
      const { world, users } = await open({
        instances: 3,
        claimed: 1,
        operator: { pace: () => paceMs, log: (line) => said.push(line) },
      });
      world.changePool('java', { image: NEW });
      await world.settle();
      said.length = 0;
      const lookout = watch(world);
      world.release(users[0] ?? '');
      await end(world);
      // It may meet the garbage collector at a Service of the release, which both clean; nothing else.
      expect(said.filter((line) => !line.startsWith('releasing '))).toEqual([]);
      expect(lookout.replaced()).toEqual([1]);
      expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
    },
  );

  it.each([0, 250, 1_000, 2_000, 2_250, 3_000, 5_000, 8_000])(
    'who comes %i ms after a release gets an instance and keeps it through the roll-out',
    async (afterMs) => {
      const { world } = await open({ instances: 3 });
      world.changePool('java', { image: NEW });
      await world.run(afterMs);
      const user = world.claim('java');
      await world.run(3_000);
      const [slot = 0] = slotsWhere(world, (view) => view.user === user);
      const instance = instancesOf(world)[slot - 1];
      expect(instance).toBeDefined();
      await world.settle();
      expect(world.session(user)?.['status']).toMatchObject({ operatorStatus: 'HANDLED' });
      expect(world.slot('java', slot)).toMatchObject({ user, ready: true });
      expect(instancesOf(world)[slot - 1]).toBe(instance);
      world.release(user);
      await end(world);
      expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
    },
  );

  it('who waits for an instance that never comes does not hold back a release', async () => {
    const { world } = await open({ instances: 2 });
    await world.stopOperator();
    world.claim('java');
    world.changePool('java', { image: NEW });
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW]);
  });
});

it('a pool that goes takes its instances along, and Everwarm makes none again', async () => {
  const { world } = await open({ instances: 3, operatorStays: false });
  const writes = listenToWrites(world);
  world.deletePool('java');
  await world.run(120_000);
  expect(instanceObjects(world)).toEqual([]);
  expect(world.cluster.admin.list(APP_DEFINITIONS_V1BETA11)).toEqual([]);
  expect(writes).toEqual([]);
  expect(world.warmPool('java')).toBeUndefined();
  expect(world.violations).toEqual([]);
});

it('a pool whose operator is dead is kept whole all the same', async () => {
  const { world } = await open({ instances: 3, operatorStays: false });
  world.deletePart('java', 2, 'deployment');
  await world.run(5_000);
  expect(world.slot('java', 2)).toMatchObject({ ready: true, complete: true });
  await end(world);
  expect(condition(world, 'Ready')).toBe('True EnoughReady');
});
