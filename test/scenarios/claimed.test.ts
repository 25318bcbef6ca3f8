import { describe, expect, it } from 'vitest';
import type { KubeApi, KubeObject } from '../../src/kube/api.ts';
import { DEPLOYMENTS, HTTP_ROUTES, PODS, SESSIONS } from '../../src/platform/theia-cloud/resources.ts';
import type { World } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  imagesOf,
  listenToWrites,
  message,
  NEW,
  OLD,
  open,
  PARTS,
  slotsWhere,
  statusOf,
} from './_story.ts';

const EVENTS = / Event\//;

function owners(object: KubeObject | undefined): readonly string[] {
  return (object?.metadata.ownerReferences ?? []).map(({ kind }) => kind);
}

function allowList(world: World, slot: number): unknown {
  const { data } = (world.part('java', slot, 'emailConfigMap') ?? {}) as { data?: Record<string, string> };
  return data?.['authenticated-emails-list'];
}

function userOf(world: World, session: string | undefined): string {
  const { spec } = (world.session(session ?? '') ?? {}) as { spec?: { user?: string } };
  return spec?.user ?? '';
}

/** What Everwarm wrote but for status and Events. */
function writesOn(writes: readonly string[]): readonly string[] {
  return writes.filter((write) => !write.endsWith(' status') && !EVENTS.test(write));
}

describe('whoever holds an instance', () => {
  it('owns all that it needs, and it is held for them', async () => {
    const { world } = await open({ claimed: 1 });
    for (const part of PARTS) expect(owners(world.part('java', 1, part)), part).toContain('Session');
    expect(owners(world.part('java', 1, 'externalService'))).toContain('WarmPool');
    await end(world);
  });

  it('is let in again when the list of those who may was emptied', async () => {
    const { world, users } = await open({ claimed: 1 });
    const user = userOf(world, users[0]);
    expect(allowList(world, 1)).toBe(user);
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    await end(world);
    expect(allowList(world, 1)).toBe(user);
  });

  it('keeps it through a roll-out of the operator, and is let in all the while', async () => {
    const { world, users } = await open({ instances: 4, claimed: 2, operator: { rollsOut: true } });
    const [first = '', second = ''] = [allowList(world, 1), allowList(world, 2)];
    const lists: unknown[] = [];
    world.cluster.store.onCommit(({ object }) => {
      if (object.metadata.name.includes('-email-')) lists.push(allowList(world, 1), allowList(world, 2));
    });
    world.changePool('java', { image: NEW });
    await end(world);
    expect(new Set(lists)).toEqual(new Set([first, second]));
    expect(imagesOf(world)).toEqual([OLD, OLD, NEW, NEW]);
    expect(slotsWhere(world, ({ user }) => users.includes(user ?? ''))).toEqual([1, 2]);
  });

  it.each(PARTS)('gets the %s again that somebody deleted', async (part) => {
    const { world, users } = await open({ claimed: 1 });
    const user = userOf(world, users[0]);
    world.deletePart('java', 1, part);
    await end(world);
    expect(owners(world.part('java', 1, part))).toContain('Session');
    expect(world.slot('java', 1)).toMatchObject({ user: users[0], complete: true, ready: true });
    expect(allowList(world, 1)).toBe(user);
    // And the release afterwards is like any other.
    world.release(users[0] ?? '');
    await end(world);
    expect(world.slot('java', 1)).toMatchObject({ clean: true, claimable: true });
  });

  it('is reached again when the route is gone', async () => {
    const { world, users } = await open({ claimed: 1 });
    const name = `${world.session(users[0] ?? '')?.metadata.uid}-route`;
    const before = world.cluster.admin.find(HTTP_ROUTES, name);
    expect(before).toBeDefined();
    world.cluster.admin.remove(HTTP_ROUTES, name);
    await world.run(61_000);
    await end(world);
    const after = world.cluster.admin.find(HTTP_ROUTES, name);
    expect(after?.['spec']).toEqual(before?.['spec']);
    expect(after?.metadata.labels).toEqual(before?.metadata.labels);
    expect(owners(after)).toEqual(['Session']);
  });

  it('gets the labels again by which the operator finds the slot at release', async () => {
    const { world, users } = await open({ claimed: 1 });
    for (const part of ['externalService', 'internalService'] as const)
      world.editPart('java', 1, part, { metadata: { labels: { 'theia-cloud.io/session-uuid': null } } });
    await end(world);
    const uid = world.session(users[0] ?? '')?.metadata.uid;
    for (const part of ['externalService', 'internalService'] as const)
      expect(world.part('java', 1, part)?.metadata.labels).toMatchObject({
        'theia-cloud.io/session-uuid': uid,
      });
  });

  it('gets no second user when the operator replaced the Service that it had just claimed', async () => {
    const { world, users } = await open({ claimed: 1 });
    const source = owners(world.part('java', 1, 'externalService'))[0];
    expect(source).toBe('AppDefinition');
    for (const part of ['externalService', 'internalService'] as const) {
      const reference = world.part('java', 1, part)?.metadata.ownerReferences?.[0];
      world.editPart('java', 1, part, { metadata: { ownerReferences: [reference] } });
    }
    await world.run(5_000);
    expect(world.slot('java', 1)).toMatchObject({ user: users[0], claimable: false });
    const other = world.claim('java');
    await world.run(5_000);
    expect(slotsWhere(world, ({ user }) => user === other)).toEqual([2]);
    await end(world);
  });

  it('gets everything else where the right to make a route is missing', async () => {
    const { world, users } = await open({ claimed: 1, between: withoutRoutes });
    const before = allowList(world, 1);
    world.cluster.admin.remove(HTTP_ROUTES, `${world.session(users[0] ?? '')?.metadata.uid}-route`);
    await world.run(61_000);
    expect(condition(world, 'Degraded')).toBe('True Refused');
    expect(message(world, 'Degraded')).toMatch(/HTTPRoute\/.*-route: forbidden/);
    const writes = listenToWrites(world);
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    await world.run(2_000);
    expect(allowList(world, 1)).toBe(before);
    // The pool itself goes on, too.
    world.changePool('java', { image: NEW });
    await world.run(60_000);
    expect(imagesOf(world)).toEqual([OLD, NEW, NEW]);
    expect(writes.filter((write) => write.includes('HTTPRoute'))).toEqual([]);
    expect(world.violations).toEqual([]);
  });

  it('is cared for while the pool itself cannot be worked on', async () => {
    const { world } = await open({ claimed: 1 });
    const before = allowList(world, 1);
    world.cluster.admin.merge(DEPLOYMENTS, 'operator-deployment', {
      spec: {
        template: {
          spec: { containers: [{ name: 'operator', image: 'operator', args: ['--instancesHost'] }] },
        },
      },
    });
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    await world.run(5_000);
    expect(condition(world, 'Degraded')).toBe('True SettingsUnknown');
    expect(allowList(world, 1)).toBe(before);
  });
});

describe('a release', () => {
  it('of a stale instance is no race: it is made anew behind our reference, by nobody else', async () => {
    const { world, users } = await open({ claimed: 1, operator: { rollsOut: true } });
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(world.slot('java', 1)).toMatchObject({ image: OLD, user: users[0] });
    expect(statusOf(world).counts).toMatchObject({ claimed: 1, claimedStale: 1 });
    const others: string[] = [];
    world.cluster.store.onCommit(({ object, request }) => {
      if (request.user === 'operator' && request.verb === 'delete') others.push(object.kind);
    });
    world.release(users[0] ?? '');
    await end(world);
    expect(others).toEqual(['Pod']);
    expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
  });

  it('is over when the pod is fresh: nobody gets the slot before, though it is the next', async () => {
    const { world, users } = await open({ claimed: 1 });
    const [podBefore] = podsOf(world, 1);
    world.release(users[0] ?? '');
    await world.run(300);
    const next = world.claim('java');
    await world.run(1_500);
    expect(slotsWhere(world, ({ user }) => user === next)).toEqual([2]);
    await end(world);
    expect(podsOf(world, 1)).not.toContain(podBefore);
    expect(world.slot('java', 1).claimable).toBe(true);
  });

  it('without holding is the operator’s alone', async () => {
    const { world, users } = await open({ claimed: 1 });
    world.setPolicy('java', { claims: { hold: false } });
    await world.settle();
    expect(owners(world.part('java', 1, 'externalService'))).toEqual(['AppDefinition', 'Session']);
    const writes = listenToWrites(world);
    world.release(users[0] ?? '');
    await end(world);
    expect(writesOn(writes)).toEqual([]);
  });

  // Without logins nothing on the pod tells that it was used.
  it.each(
    [true, false].flatMap((keycloak) =>
      [0, 20, 60, 80, 100, 120, 160, 240].map((ms) => [ms, keycloak] as const),
    ),
  )(
    'in which the operator dies after %i ms hands out no used pod (logins: %s)',
    async (afterMs, keycloak) => {
      const { world, users } = await open({ claimed: 1, keycloak });
      const used = podsOf(world, 1);
      world.release(users[0] ?? '');
      await world.run(afterMs);
      await world.stopOperator('kill');
      await end(world);
      expect(world.slot('java', 1)).toMatchObject({ clean: true, claimable: true, ready: true });
      expect(podsOf(world, 1).filter((uid) => used.includes(uid))).toEqual([]);
      await world.startOperator();
      const next = world.claim('java');
      await world.run(5_000);
      expect(slotsWhere(world, ({ user }) => user === next)).toEqual([1]);
      await end(world);
    },
  );

  it('while nobody looked leaves a used slot that is not handed out', async () => {
    const { world, users } = await open({ claimed: 1 });
    const used = podsOf(world, 1);
    await world.stopOperator();
    world.stopEverwarm();
    await world.run(30_000);
    world.release(users[0] ?? '');
    await world.run(30_000);
    await world.startOperator();
    const next = world.claim('java');
    await world.run(5_000);
    // The operator alone would have given it away, with the other's files.
    expect(slotsWhere(world, ({ user }) => user === next)).toEqual([2]);
    world.startEverwarm();
    await end(world);
    expect(podsOf(world, 1).filter((uid) => used.includes(uid))).toEqual([]);
    expect(allowList(world, 1)).toBe('');
  });
});

describe('a pool that is left', () => {
  it('lets go of every instance in use, and touches nothing else of it', async () => {
    const { world, users } = await open({ claimed: 2 });
    world.setPolicy('java', { mode: 'observe' });
    await world.run(5_000);
    expect(condition(world, 'Leaving')).toBe('False Left');
    for (const slot of [1, 2])
      expect(owners(world.part('java', slot, 'externalService'))).toEqual(['AppDefinition', 'Session']);
    const writes = listenToWrites(world);
    world.release(users[0] ?? '');
    await world.run(60_000);
    expect(writes).toEqual([]);
    expect(world.violations).toEqual([]);
  });
});

describe('a pool that shrinks under its users', () => {
  it('lets them keep what they need, and leaves nothing behind', async () => {
    const { world, users } = await open({ instances: 4, claimed: 3, operator: { rollsOut: true } });
    const before = allowList(world, 3);
    world.changePool('java', { minInstances: 1 });
    await world.settle();
    expect(world.slot('java', 3)).toMatchObject({ user: users[2], target: false, complete: true });
    expect(allowList(world, 3)).toBe(before);
    for (const user of users) world.release(user);
    await end(world);
    expect(world.slots('java')).toHaveLength(1);
    world.changePool('java', { minInstances: 4 });
    await end(world);
    expect(world.slots('java')).toHaveLength(4);
  });
});

describe('a claim that went wrong', () => {
  it('in two is reported with both names, and nothing is written on it', async () => {
    const { world, users } = await open({ claimed: 1, operatorStays: false });
    const [first = ''] = users;
    const second = twin(world, first, 'somebody-else');
    await world.settle();
    expect(condition(world, 'Degraded')).toBe('True SplitClaim');
    expect(message(world, 'Degraded')).toContain(first);
    expect(message(world, 'Degraded')).toContain(second);
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    const writes = listenToWrites(world);
    await world.run(120_000);
    expect(writesOn(writes)).toEqual([]);
    world.cluster.admin.remove(SESSIONS, second);
    await end(world);
    expect(condition(world, 'Degraded')).toBe('False AsExpected');
    expect(allowList(world, 1)).not.toBe('');
  });

  it('of which one failed is the other’s', async () => {
    const { world, users } = await open({ claimed: 1, operatorStays: false });
    const second = twin(world, users[0] ?? '', 'somebody-else');
    settle(world, second, { operatorStatus: 'ERROR', operatorMessage: 'no luck' });
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    await end(world);
    expect(allowList(world, 1)).not.toBe('');
  });
});

/** Everwarm may not make routes. */
function withoutRoutes(api: KubeApi): KubeApi {
  return {
    ...api,
    create: (resource, namespace, body) =>
      resource.plural === HTTP_ROUTES.plural
        ? Promise.resolve({ kind: 'forbidden', message: 'httproutes is forbidden' })
        : api.create(resource, namespace, body),
  };
}

/** uids of the pods of a slot. */
function podsOf(world: World, slot: number): readonly string[] {
  return world.cluster.admin
    .list(PODS)
    .filter(({ metadata }) => metadata.labels?.['app'] === `java-${slot}`)
    .map(({ metadata }) => metadata.uid ?? '');
}

/** What the operator says of a Session. */
function settle(world: World, name: string, status: Readonly<Record<string, string>>): void {
  world.cluster.admin.merge(SESSIONS, { name, subresource: 'status' }, { status });
}

/** A second Session that was told the same slot. */
function twin(world: World, session: string, name: string): string {
  const { metadata } = world.session(session) ?? {};
  world.cluster.admin.create(SESSIONS, {
    apiVersion: 'theia.cloud/v1beta8',
    kind: 'Session',
    metadata: { name, ...(metadata?.annotations && { annotations: metadata.annotations }) },
    spec: { name, appDefinition: 'java', user: `${name}@example.org` },
  });
  settle(world, name, { operatorStatus: 'HANDLED' });
  return name;
}
