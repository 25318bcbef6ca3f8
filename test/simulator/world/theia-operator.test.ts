import { describe, expect, it } from 'vitest';
import type { StoreRequest } from '../../../src/embedded/types.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  LEASES,
  SERVICES,
  SESSIONS,
} from '../../../src/platform/theia-cloud/resources.ts';
import type { Deliver } from '../../../src/simulator/world/operator-feed.ts';
import { sessionName } from '../../../src/simulator/world/users.ts';
import { comparable, isWrite, NAMESPACE, POOL, recorded, type Sent, theiaCloud } from './installation.ts';
import {
  external,
  find,
  internal,
  learner,
  namesOf,
  pool,
  running,
  sessionOf,
  slotOfSession,
  statusesOf,
} from './story.ts';

describe('a process', () => {
  it('leads only when the Lease of the one before it has run out, or was given up', async () => {
    for (const { how, waits } of [
      { how: 'kill', waits: true },
      { how: 'terminate', waits: false },
    ] as const) {
      const world = await running();
      const ended = world.operator.stop(how);
      await world.clock.advance(100);
      await ended;
      const next = world.anotherOperator();
      let isUp = false;
      void next.start().then(() => {
        isUp = true;
      });
      await world.clock.advance(2_000);
      expect(isUp).toBe(!waits);
      await world.clock.advance(7_000);
      expect(isUp).toBe(true);
    }
  });

  it('renews its Lease, with times of six decimals', async () => {
    const world = await running();
    const spec = async () =>
      (await find(world, LEASES, 'theia-cloud-operator-leaders'))['spec'] as Record<string, string>;
    const first = await spec();
    await world.clock.advance(30_000);
    const second = await spec();
    expect(second['holderIdentity']).toBe(first['holderIdentity']);
    expect(second['renewTime']).toMatch(/\.\d{6}Z$/);
    expect(Date.parse(second['renewTime'] ?? '')).toBeGreaterThan(world.clock.now() - 2_000);
  });

  it('sends nothing more once it was killed, in whatever it was', async () => {
    const world = await running();
    const sent = world.record();
    void world.createPool(3);
    while (sent().filter(isWrite).length < 6) await world.clock.step(Number.POSITIVE_INFINITY);
    await world.operator.stop();
    const before = sent().length;
    await world.clock.advance(60_000);
    expect(sent()).toHaveLength(before);
    expect(world.operator.isRunning()).toBe(false);
  });

  it('creates after its start what is missing, and replaces nothing that is old', async () => {
    const world = await pool(2);
    await world.operator.stop();
    const deployment = await find(world, DEPLOYMENTS, 'instance-2-');
    await world.api.delete(DEPLOYMENTS, { namespace: NAMESPACE, name: deployment.metadata.name }, {});
    await world.changePool({ image: 'registry.example.org/ide/java-17:2.0.0' });
    await world.clock.advance(10_000);
    await world.startOperator();
    await world.clock.advance(10_000);
    const images = (await world.all(DEPLOYMENTS)).map(
      (object) => JSON.stringify(object).match(/ide\/java-17:([0-9.]+)/)?.[1],
    );
    expect(images).toEqual(['1.0.0', '2.0.0']);
  });

  it('handles a Session that came while it was down twice', async () => {
    const world = await pool(2);
    await world.operator.stop();
    await world.users.come(learner(1), POOL);
    const statuses = statusesOf(world, 1);
    await world.startOperator();
    await world.clock.advance(5_000);
    expect(statuses()).toEqual(['HANDLING', 'HANDLED', 'HANDLING', 'HANDLED']);
    expect(await slotOfSession(world, 1)).toBe('1');
  });

  it('writes for such a Session what the real one was recorded to write', async () => {
    const world = await pool(4, [1, 2, 3]);
    await world.operator.stop();
    await world.users.come(learner(4), POOL);
    const sent = world.record();
    await world.startOperator();
    await world.clock.advance(5_000);
    const patches = (requests: readonly Sent[]) =>
      comparable(requests.filter(({ verb, resource }) => verb === 'patch' && resource.startsWith('sessions')))
        .map((line) => line.replace(/ws-\S+-session/, 'SESSION'))
        .sort();
    // Only the order differs: it depends on how soon the first of the two asks for the URL.
    expect(patches(sent())).toEqual(patches(recorded('x-session-created-while-down')));
  });

  it.each([
    { title: 'ends itself', options: {}, runs: false },
    { title: 'goes on if it is set to', options: { continueOnException: true }, runs: true },
  ])('that meets a conflict on a Session sets it to ERROR and $title', async ({ options, runs }) => {
    const exits: string[] = [];
    const world = await pool(2, [], { ...options, onExit: (reason) => exits.push(reason) });
    const name = sessionName(learner(1), POOL);
    const sent = world.record();
    await world.users.come(learner(1), POOL);
    while (sent().filter(({ verb, resource }) => verb === 'get' && resource === 'sessions').length < 2) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    const patch = { type: 'merge', patch: { metadata: { labels: { touched: 'yes' } } } } as const;
    await world.api.patch(SESSIONS, { namespace: NAMESPACE, name }, patch);
    await world.clock.advance(3_000);
    expect((await sessionOf(world, 1))?.status?.operatorStatus).toBe('ERROR');
    expect(world.operator.isRunning()).toBe(runs);
    expect(exits).toEqual(runs ? [] : [expect.stringMatching(/^writing Session /)]);
  });

  it('takes it calmly when a Session is gone before it was handled', async () => {
    const world = await pool(2);
    await world.users.come(learner(1), POOL);
    while ((await sessionOf(world, 1))?.status?.operatorStatus === undefined) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    await world.users.go(learner(1), POOL);
    await world.clock.advance(5_000);
    expect(world.operator.isRunning()).toBe(true);
    expect((await external(world, 1)).metadata.ownerReferences).toHaveLength(1);
  });

  it('repeats a request that was throttled', async () => {
    let refusals = 2;
    const throttled = {
      code: 429,
      body: { apiVersion: 'v1', kind: 'Status', metadata: { name: '' }, message: 'Too many requests' },
    };
    const intercept = ({ verb, resource }: StoreRequest) => {
      if (verb !== 'create' || resource.plural !== 'services' || refusals === 0) return undefined;
      refusals -= 1;
      return throttled;
    };
    const world = await theiaCloud({ intercept });
    await world.startOperator();
    await world.createPool(1);
    expect(refusals).toBe(0);
    expect(await namesOf(world, DEPLOYMENTS)).toHaveLength(1);
  });

  it('makes nothing of a slot that lacks one of its two Services, neither on MODIFIED nor at a start', async () => {
    const world = await pool(2);
    for (const service of [await internal(world, 1), await external(world, 2)]) {
      await world.api.delete(SERVICES, { namespace: NAMESPACE, name: service.metadata.name }, {});
    }
    await world.changePool({ timeout: 5 });
    await world.clock.advance(5_000);
    expect(await namesOf(world, SERVICES)).toHaveLength(2);
    await world.operator.stop();
    await world.clock.advance(10_000);
    await world.startOperator();
    await world.clock.advance(5_000);
    expect(await namesOf(world, SERVICES)).toHaveLength(2);
  });

  it('calls a Session interrupted that was being handled when it was killed', async () => {
    const world = await pool(2);
    await world.users.come(learner(1), POOL);
    while ((await sessionOf(world, 1))?.status?.operatorStatus === undefined) {
      await world.clock.step(Number.POSITIVE_INFINITY);
    }
    await world.operator.stop();
    await world.clock.advance(10_000);
    await world.startOperator();
    expect((await sessionOf(world, 1))?.status).toMatchObject({ operatorStatus: 'ERROR' });
    expect((await sessionOf(world, 1))?.status?.operatorMessage).toMatch(
      /^Handling was unexpectedly interrupted\./,
    );
  });

  it('gives a whole AppDefinition up at its start when one name is taken', async () => {
    const world = await running();
    await world.operator.stop();
    await world.createPool(0);
    const app = await find(world, APP_DEFINITIONS_V1BETA11, POOL);
    const name = `instance-2-${POOL}-${app.metadata.uid?.slice(-12)}`;
    await world.api.create(SERVICES, NAMESPACE, { metadata: { name }, spec: { ports: [{ port: 1 }] } });
    await world.changePool({ minInstances: 2 });
    await world.clock.advance(10_000);
    await world.startOperator();
    await world.clock.advance(5_000);
    // Slot 1 has got its Services; the name that was taken ended everything after them, both times.
    expect(await namesOf(world, SERVICES)).toEqual([
      expect.stringMatching(/^instance-1-.+[0-9a-f]$/),
      expect.stringMatching(/^instance-1-.+-int$/),
      name,
    ]);
    expect(await namesOf(world, DEPLOYMENTS)).toEqual([]);
  });

  it('that is told of a change and does not roll out leaves the pool stale', async () => {
    const world = await pool(2, [], { rollsOut: false });
    const sent = world.record();
    await world.changePool({ image: 'registry.example.org/ide/java-17:2.0.0' });
    await world.clock.advance(10_000);
    expect(sent().filter(isWrite)).toEqual([]);
  });

  it('that is dead never comes up', async () => {
    const world = await running({ dead: true });
    expect(world.operator.isRunning()).toBe(false);
    await world.createPool(2);
    expect(await namesOf(world, SERVICES)).toEqual([]);
  });

  it('ends itself when its Lease was taken by another', async () => {
    const exits: string[] = [];
    const world = await running({ onExit: (reason) => exits.push(reason) });
    const place = { namespace: NAMESPACE, name: 'theia-cloud-operator-leaders' };
    await world.api.patch(LEASES, place, {
      type: 'merge',
      patch: { spec: { holderIdentity: 'somebody-else' } },
    });
    await world.clock.advance(10_000);
    expect(world.operator.isRunning()).toBe(false);
    expect(exits).toEqual(['leadership lost']);
  });
});

describe('what it hears can be changed on the way', () => {
  it.each<{ title: string; deliver: Deliver; replaced: boolean }>([
    { title: 'as MODIFIED, as it is', deliver: (event) => [event], replaced: true },
    { title: 'as MODIFIED twice', deliver: (event) => [event, event], replaced: true },
    {
      title: 'as ADDED only',
      deliver: (event) => [event.type === 'MODIFIED' ? { ...event, type: 'ADDED' } : event],
      replaced: false,
    },
    { title: 'not at all', deliver: (event) => (event.type === 'MODIFIED' ? [] : [event]), replaced: false },
  ])('a release that comes $title', async ({ deliver, replaced }) => {
    const world = await pool(2, [], { deliver });
    await world.changePool({ image: 'registry.example.org/ide/java-17:2.0.0' });
    await world.clock.advance(10_000);
    const text = JSON.stringify(await world.all(DEPLOYMENTS));
    expect(text.includes('java-17:2.0.0')).toBe(replaced);
    expect(text.includes('java-17:1.0.0')).toBe(!replaced);
  });
});

it('an AppDefinition that is deleted takes everything with it but the slots of live Sessions', async () => {
  const world = await pool(2, [1]);
  await world.api.delete(APP_DEFINITIONS_V1BETA11, { namespace: NAMESPACE, name: POOL }, {});
  await world.clock.advance(5_000);
  expect(await namesOf(world, DEPLOYMENTS)).toHaveLength(1);
  expect(await namesOf(world, SERVICES)).toHaveLength(2);
  expect(await namesOf(world, CONFIG_MAPS)).toEqual([]);
  expect((await world.all(HTTP_ROUTES)).map(({ metadata }) => metadata.name)).toEqual([
    expect.stringMatching(/-route$/),
  ]);
});

it('an AppDefinition that is deleted is cleaned up by the operator when it is first', async () => {
  const world = await pool(2, [1], { gcLagMs: 60_000 });
  const sent = world.record();
  await world.api.delete(APP_DEFINITIONS_V1BETA11, { namespace: NAMESPACE, name: POOL }, {});
  await world.clock.advance(5_000);
  const writes = sent().filter(isWrite);
  const count = (verb: string, resource: string) =>
    writes.filter((one) => one.verb === verb && one.resource === resource && one.code === 200).length;
  // The claimed slot's Services and Deployment lose an owner; ConfigMaps have no other.
  expect([count('delete', 'services'), count('patch', 'services')]).toEqual([2, 2]);
  expect([count('delete', 'deployments'), count('patch', 'deployments')]).toEqual([1, 1]);
  expect(count('delete', 'configmaps')).toBe(4);
});
