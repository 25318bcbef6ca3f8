import { describe, expect, it } from 'vitest';
import type { StoreRequest } from '../../../src/embedded/types.ts';
import { CONFIG_MAPS, DEPLOYMENTS, PODS, SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import { MENDED } from '../../../src/simulator/world/operator-faults.ts';
import type { Deliver } from '../../../src/simulator/world/operator-feed.ts';
import { NAMESPACE, POOL } from './installation.ts';
import {
  addForeignOwner,
  claim,
  external,
  find,
  internal,
  learner,
  pool,
  release,
  running,
  type Seen,
  sessionOf,
  slotOfSession,
} from './story.ts';

interface Intercepted extends Pick<StoreRequest, 'verb' | 'resource' | 'user'> {
  readonly labels: string | undefined;
}

describe('claims', () => {
  it('that come at once get one slot each, the lowest free ones', async () => {
    const world = await pool(4);
    await Promise.all([1, 2, 3].map((number) => world.users.come(learner(number), POOL)));
    await world.clock.advance(5_000);
    const slots = await Promise.all([1, 2, 3].map((number) => slotOfSession(world, number)));
    expect([...slots].sort()).toEqual(['1', '2', '3']);
  });

  it('leave 10 to 120 ms between looking for a slot and having it, as measured', async () => {
    const seen: number[] = [];
    let listedAt = 0;
    let now = (): number => 0;
    const intercept = ({ verb, resource, user, labels }: Intercepted): undefined => {
      if (resource.plural !== 'services' || !user.endsWith(':operator')) return undefined;
      if (verb === 'list' && labels === undefined) listedAt = now();
      if (verb === 'patch' && listedAt > 0) seen.push(now() - listedAt);
      if (verb === 'patch') listedAt = 0;
      return undefined;
    };
    const world = await pool(20, [], {
      intercept: (request) => intercept({ ...request, labels: request.options?.labelSelector }),
    });
    now = () => world.clock.now();
    for (let number = 1; number <= 20; number += 1) await claim(world, number);
    expect(seen).toHaveLength(20);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...seen)).toBeLessThanOrEqual(120);
    expect(Math.max(...seen) - Math.min(...seen)).toBeGreaterThan(30);
  });

  it('pass by a slot whose external Service has a second owner, be it complete or not', async () => {
    const world = await pool(2);
    await addForeignOwner(world, await external(world, 1));
    await claim(world, 1);
    expect(await slotOfSession(world, 1)).toBe('2');
  });

  it('pass by a slot whose internal Service has a second owner as well', async () => {
    const world = await pool(2);
    await addForeignOwner(world, await internal(world, 1));
    await claim(world, 1);
    expect(await slotOfSession(world, 1)).toBe('2');
  });

  it('give the external Service back when the internal one is lost', async () => {
    const world = await pool(2);
    const reads = world.record();
    await world.users.come(learner(1), POOL);
    while (!reads().some(({ verb, name }) => verb === 'get' && name?.endsWith('-int'))) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    await addForeignOwner(world, await internal(world, 1));
    await world.clock.advance(3_000);
    expect((await sessionOf(world, 1))?.status?.operatorMessage).toBe(
      'Failed to reserve prewarmed instance.',
    );
    expect((await external(world, 1)).metadata.ownerReferences).toHaveLength(1);
  });

  it('are handled by a bounded number of threads', async () => {
    const world = await pool(6, [], { sessionThreads: 2 });
    let most = 0;
    world.store.onCommit(() => {
      const { body } = world.store.execute({
        verb: 'list',
        resource: SESSIONS,
        namespace: NAMESPACE,
        user: 'test',
      });
      const sessions = (body as unknown as { items: readonly Seen[] }).items;
      most = Math.max(most, sessions.filter(({ status }) => status?.operatorStatus === 'HANDLING').length);
    });
    await Promise.all([1, 2, 3, 4, 5].map((number) => world.users.come(learner(number), POOL)));
    await world.clock.advance(10_000);
    expect(most).toBe(2);
    expect((await sessionOf(world, 5))?.status?.operatorStatus).toBe('HANDLED');
  });

  it('count owners in the list only: one that comes between list and patch is not seen', async () => {
    const world = await pool(2);
    const isListed = world.record();
    await world.users.come(learner(1), POOL);
    while (!isListed().some(({ verb, resource }) => verb === 'list' && resource === 'services')) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    await addForeignOwner(world, await external(world, 1));
    await world.clock.advance(3_000);
    expect(await slotOfSession(world, 1)).toBe('1');
    const owners = (await external(world, 1)).metadata.ownerReferences ?? [];
    expect(owners.map(({ kind }) => kind)).toEqual(['AppDefinition', 'ConfigMap', 'Session']);
  });

  it('end in ERROR, without a second try, when somebody writes between the read and the patch', async () => {
    const world = await pool(2);
    const reads = world.record();
    await world.users.come(learner(1), POOL);
    while (!reads().some(({ verb, resource }) => verb === 'get' && resource === 'services')) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    await addForeignOwner(world, await external(world, 1));
    await world.clock.advance(3_000);
    const session = await sessionOf(world, 1);
    expect(session?.status).toMatchObject({
      operatorStatus: 'ERROR',
      operatorMessage: 'Failed to reserve prewarmed instance.',
    });
    expect((await external(world, 1)).metadata.ownerReferences).toHaveLength(2);
  });

  it('find no free slot and fall back: a set of objects of their own, and a pod', async () => {
    const world = await pool(1, [1]);
    await claim(world, 2);
    expect((await sessionOf(world, 2))?.metadata.annotations).toEqual({
      'theia-cloud.io/session-start-strategy': 'lazy-fallback',
    });
    const deployment = await find(world, DEPLOYMENTS, 'session-learner-2-');
    expect(deployment['status']).toMatchObject({ availableReplicas: 1 });
    await release(world, 2);
    const left = [...(await world.all(DEPLOYMENTS)), ...(await world.all(CONFIG_MAPS))];
    expect(left.filter(({ metadata }) => metadata.name.startsWith('session-'))).toEqual([]);
  });

  it.each([
    {
      title: 'the pool has its maximum',
      options: {},
      fields: { maxInstances: 1 },
      error: '552:Max instances reached. Could not create session.',
    },
    {
      title: 'nobody may have a Session',
      options: { sessionsPerUser: 0 },
      fields: {},
      error: '554:No sessions allowed for this user.',
    },
  ])('are refused by limits only when no slot is free: $title', async ({ options, fields, error }) => {
    const world = await running(options);
    await world.createPool(1, fields);
    await claim(world, 1, 2);
    expect((await sessionOf(world, 1))?.status?.operatorStatus).toBe('HANDLED');
    expect((await sessionOf(world, 2))?.status).toMatchObject({ operatorStatus: 'ERROR', error });
  });

  it('beyond what one user may have are refused', async () => {
    const world = await pool(1, [1], { sessionsPerUser: 1 });
    const name = 'a-second-one';
    const spec = { name, appDefinition: POOL, user: learner(1), sessionSecret: 'none' };
    const body = { apiVersion: 'theia.cloud/v1beta8', kind: 'Session', metadata: { name }, spec };
    await world.api.create(SESSIONS, NAMESPACE, body);
    await world.clock.advance(3_000);
    expect((await find(world, SESSIONS, name))['status']).toMatchObject({
      operatorStatus: 'ERROR',
      operatorMessage: 'Max sessions reached.',
      error: '553:No more sessions allowed for this user, you reached your limit.',
    });
  });

  it('of an AppDefinition that is not there end in ERROR', async () => {
    const world = await running();
    await world.users.come(learner(1), POOL);
    await world.clock.advance(3_000);
    expect((await sessionOf(world, 1))?.status?.operatorMessage).toBe('App Definition not found.');
  });

  it('are kept by a roll-out that begins after them, down to the Deployment of the old image', async () => {
    const world = await pool(3, [1]);
    const before = await find(world, DEPLOYMENTS, 'instance-1-');
    await world.changePool({ image: 'registry.example.org/ide/java-17:2.0.0' });
    await world.clock.advance(8_000);
    const after = await find(world, DEPLOYMENTS, 'instance-1-');
    expect(after.metadata.uid).toBe(before.metadata.uid);
    // But its user is locked out: the allow-list was replaced by an empty one.
    expect((await find(world, CONFIG_MAPS, 'instance-1-email'))['data']).toEqual({
      'authenticated-emails-list': '',
    });
  });
});

describe('releases', () => {
  it('hand the slot out again while its old pod still stops', async () => {
    const world = await pool(1, [1]);
    world.kubelet.fail(() => true, { kind: 'nodeLost' });
    await world.users.go(learner(1), POOL);
    await world.clock.advance(500);
    await world.users.come(learner(2), POOL);
    await world.clock.advance(2_000);
    expect(await slotOfSession(world, 2)).toBe('1');
    expect((await world.all(PODS)).some(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(
      true,
    );
  });

  it.each([
    { title: 'whoever has it by now', faults: {}, isHurt: true },
    { title: 'which a mended operator only does where nobody gets hurt', faults: MENDED, isHurt: false },
  ])('recycle a stale slot as a whole, $title', async ({ faults, isHurt }) => {
    let hurt = 0;
    for (let afterMs = 20; afterMs <= 200; afterMs += 20) {
      const world = await pool(1, [1], { gcLagMs: 5, faults });
      await world.changePool({ image: 'registry.example.org/ide/java-17:2.0.0' });
      await world.clock.advance(3_000);
      await world.users.go(learner(1), POOL);
      await world.clock.advance(afterMs);
      await world.users.come(learner(2), POOL);
      await world.clock.advance(8_000);
      const { status, metadata } = (await sessionOf(world, 2)) ?? {};
      const isWarm = metadata?.annotations?.['theia-cloud.io/instance-id'] === '1';
      const owners = (await external(world, 1)).metadata.ownerReferences?.length;
      if (status?.operatorStatus !== 'HANDLED' || (isWarm && owners === 1)) hurt += 1;
    }
    expect(hurt > 0).toBe(isHurt);
  });

  it('that happen while it is down are never made up for: labels, allow-list and pod stay for the next user', async () => {
    const world = await pool(1, [1]);
    const [pod] = await world.all(PODS);
    await world.operator.stop();
    await release(world, 1);
    await world.startOperator();
    await world.clock.advance(60_000);
    expect((await external(world, 1)).metadata.labels?.['theia-cloud.io/user']).toBe(
      'learner_1_at_example_org',
    );
    await claim(world, 2);
    expect((await world.all(PODS)).map(({ metadata }) => metadata.uid)).toEqual([pod?.metadata.uid]);
  });
});

it('a release survives somebody who writes in between', async () => {
  const world = await pool(1, [1], { gcLagMs: 2_000 });
  const reads = world.record();
  await world.users.go(learner(1), POOL);
  while (!reads().some(({ verb, resource }) => verb === 'get' && resource === 'services')) {
    await world.clock.step(Number.POSITIVE_INFINITY);
  }
  await addForeignOwner(world, await external(world, 1));
  await world.clock.advance(5_000);
  expect((await external(world, 1)).metadata.labels).not.toHaveProperty(['theia-cloud.io/user']);
  expect((await external(world, 1)).metadata.ownerReferences?.map(({ kind }) => kind)).toEqual([
    'AppDefinition',
    'ConfigMap',
  ]);
});

it('a Session whose slot it has not heard of is not released', async () => {
  const deliver: Deliver = (event) =>
    event.type === 'MODIFIED' && event.object.kind === 'Session' ? [] : [event];
  const world = await pool(1, [1], { deliver });
  await release(world, 1);
  expect((await external(world, 1)).metadata.labels).toHaveProperty(['theia-cloud.io/user']);
});
