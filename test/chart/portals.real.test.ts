import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { JsonPatch, KubeObject, Outcome, Resource } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { readEnvironment, readPortal, readSession, readWorkshop } from '../../src/platform/educates/crds.ts';
import { type Entry, entriesOf } from '../../src/platform/educates/entries.ts';
import {
  annotateEnvironment,
  annotatePortal,
  annotateWorkshop,
  deleteEnvironment,
  putBack,
  readmit,
  recycleSession,
} from '../../src/platform/educates/levers.ts';
import {
  SECRETS,
  TRAINING_PORTALS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../src/platform/educates/resources.ts';
import type { Request } from '../../src/platform/platform.ts';
import { SERVICES } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { apiOf, type RealCluster, startRealCluster } from '../real-cluster/cluster.ts';
import { FORWARDER, manifests } from './_chart.ts';
import { findHelm } from './helm.ts';

/**
 * The chart's roles and policies for Educates on a real API server. `levers` has the chart's rights and no more; `thief` is one
 * of the functions' identities, too, to whom somebody has given every right there is: only the policies are in its way.
 */
beforeEach(({ skip }) => {
  const found = findHelm();
  if (found.kind === 'missing') skip(found.reason);
});

const UI = 'campus-labs-ui';
const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const kind = (group: string, name: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  kind: name,
  plural: `${name.toLowerCase().replace(/y$/, 'ie')}s`,
  namespaced,
});
const NAMESPACES = kind('', 'Namespace', false);
const CRDS = kind('apiextensions.k8s.io', 'CustomResourceDefinition', false);
const BINDINGS = kind(RBAC, 'ClusterRoleBinding', false);
const INSTALLED = new Map(
  [
    CRDS,
    BINDINGS,
    kind(RBAC, 'ClusterRole', false),
    kind(RBAC, 'Role', true),
    kind(RBAC, 'RoleBinding', true),
    kind(ADMISSION, 'ValidatingAdmissionPolicy', false),
    kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', false),
  ].map((resource) => [resource.kind, resource]),
);

let cluster: RealCluster;
let admin: KubeClient;
let levers: KubeClient;
let thief: KubeClient;

beforeAll(async () => {
  if (findBinaries().kind === 'missing' || findHelm().kind === 'missing') return;
  cluster = await startRealCluster({ controllers: [] });
  admin = apiOf(cluster, 'admin');
  levers = apiOf(cluster, 'controller');
  thief = apiOf(cluster, 'vendor');
  for (const name of [UI, 'theia'])
    ok(await admin.create(NAMESPACES, undefined, object('v1', 'Namespace', name)));
  for (const name of ['trainingportals', 'workshops', 'workshopenvironments', 'workshopsessions'])
    ok(await admin.create(CRDS, undefined, definition(name)));
  ok(await admin.create(CRDS, undefined, definition('workshopallocations')));
  const { controller, vendor } = cluster.users;
  const values = {
    ...FORWARDER,
    platforms: ['theia-cloud', 'educates'],
    namespaces: ['theia', UI],
    forwarder: { ...FORWARDER.forwarder, functions: { users: [controller.name, vendor.name] } },
  };
  for (const manifest of manifests(values)) {
    const resource = INSTALLED.get(manifest.kind);
    if (resource !== undefined) ok(await admin.create(resource, manifest.metadata.namespace, manifest));
  }
  const everything = { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' } };
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: vendor.name }];
  const binding = { ...object(`${RBAC}/v1`, 'ClusterRoleBinding', 'thief'), ...everything, subjects };
  ok(await admin.create(BINDINGS, undefined, binding));
  await untilServed();
  await untilPoliciesHold();
});

afterAll(async () => {
  for (const api of [admin, levers, thief]) api?.close();
  await cluster?.stop();
});

function definition(plural: string): KubeObject {
  const file = new URL(`../fixtures/educates/crds/${plural}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as KubeObject;
}

function object(apiVersion: string, of: string, name: string, more: object = {}): KubeObject {
  return {
    apiVersion,
    kind: of,
    ...more,
    metadata: { name, ...('metadata' in more ? (more.metadata as object) : {}) },
  };
}

function ok<T>(outcome: Outcome<T>): T {
  expect(outcome).toMatchObject({ kind: 'ok' });
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  return outcome.value;
}

async function untilServed(): Promise<void> {
  const kinds = [TRAINING_PORTALS, WORKSHOPS, WORKSHOP_ENVIRONMENTS, WORKSHOP_SESSIONS, WORKSHOP_ALLOCATIONS];
  for (let tries = 0; tries < 200; tries += 1) {
    const asked = await Promise.all([...kinds, WARM_POOLS].map((resource) => admin.list(resource, {})));
    if (asked.every((one) => one.kind === 'ok')) return;
    await systemClock.sleep(100);
  }
  throw new Error('a kind is not served');
}

/** The server looks for new policies about once a second: both of them refuse, so both hold. */
async function untilPoliciesHold(): Promise<void> {
  const workshop = await put(WORKSHOPS, 'probe', { spec: { title: 'a', description: 'b' } });
  for (let tries = 0; tries < 200; tries += 1) {
    const made = await thief.create(WORKSHOPS, undefined, {
      ...workshop,
      metadata: { name: `probe-${tries}` },
    });
    const changed = await change(WORKSHOPS, 'probe', [
      { op: 'add', path: '/metadata/labels', value: { a: `${tries}` } },
    ]);
    if (made.kind === 'forbidden' && changed.kind === 'forbidden') return;
    await systemClock.sleep(100);
  }
  throw new Error('the policies do not hold');
}

/** Stands there, made by the portal or a person. */
async function put(resource: Resource, name: string, more: object = {}): Promise<KubeObject> {
  const apiVersion = `${resource.group}/${resource.version}`;
  return ok(await admin.create(resource, undefined, object(apiVersion, resource.kind, name, more)));
}

const change = (resource: Resource, name: string, patch: JsonPatch): Promise<Outcome<unknown>> =>
  thief.patch(resource, { name }, { type: 'json', patch });

/** As act.ts sends it. */
async function send(api: KubeClient, request: Request): Promise<Outcome<unknown>> {
  if (request.verb === 'create') throw new Error('no lever makes anything');
  const place = { name: request.name };
  if (request.verb === 'patch')
    return await api.patch(request.resource, place, { type: 'json', patch: request.patch });
  const { uid, resourceVersion, propagation } = request;
  return await api.delete(request.resource, place, {
    propagation,
    preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  });
}

const JAVA = { name: 'lab-java', alias: 'java-1', capacity: 3, reserved: 1 };
const NET = { name: 'lab-net', env: [{ name: 'A', value: 'b' }] };
const portalSpec = { portal: { password: 'secret', sessions: { maximum: 4 } }, workshops: [JAVA, NET] };
const owned = {
  ownerReferences: [
    { apiVersion: 'training.educates.dev/v1beta1', kind: 'TrainingPortal', name: 'p', uid: 'u' },
  ],
};

const environment = (phase: string, metadata: object = owned) => ({
  metadata,
  spec: { workshop: { name: 'lab-java' } },
  status: { educates: { phase } },
});
const session = (educates: object) => ({ spec: { environment: { name: 'w01' } }, status: { educates } });

let count = 0;
const fresh = (of: string): string => {
  count += 1;
  return `${of}-${count}`;
};

async function portalAt(name: string) {
  const portal = readPortal(ok(await admin.get(TRAINING_PORTALS, { name })));
  const { entries } = entriesOf(portal, { workshops: new Map(), others: [] });
  const entryOf = (slot: string): Entry => {
    const found = entries.find((entry) => entry.slot === slot);
    if (found === undefined) throw new Error(`no entry ${slot}`);
    return found;
  };
  return { portal, entryOf };
}

describe('on a real API server the chart’s rights are enough', () => {
  it('for every lever on a portal: it is annotated, and each of its entries is dropped and put back', async () => {
    const name = fresh('portal');
    await put(TRAINING_PORTALS, name, { spec: portalSpec });
    ok(await send(levers, annotatePortal((await portalAt(name)).portal).request('pass-1')));
    for (const slot of ['java-1', 'lab-net']) {
      const before = await portalAt(name);
      ok(await send(levers, readmit(before.portal, before.entryOf(slot), 0).request('pass-2')));
    }
    expect((await portalAt(name)).portal.given).toEqual([]);
    for (const slot of ['java-1', 'lab-net']) {
      const { portal, entryOf } = await portalAt(name);
      const entry = entryOf(slot);
      if (entry.dropped === undefined) throw new Error(`${slot} is not dropped`);
      ok(await send(levers, putBack(portal, entry, entry.dropped)));
    }
    const { portal } = await portalAt(name);
    expect(portal.dropped).toBe(undefined);
    expect(portal.given).toHaveLength(2);
    expect(portal.given).toEqual(expect.arrayContaining([JAVA, NET]));
  });

  it('to annotate a Workshop and an environment, and to take away what nobody is in', async () => {
    const workshop = await put(WORKSHOPS, fresh('lab'), { spec: { title: 'a', description: 'b' } });
    ok(await send(levers, annotateWorkshop(readWorkshop(workshop)).request('pass')));
    const used = await put(WORKSHOP_ENVIRONMENTS, fresh('w'), environment('Running'));
    ok(await send(levers, annotateEnvironment(readEnvironment(used)).request('pass')));
    const leaked = await put(WORKSHOP_ENVIRONMENTS, fresh('w'), environment('Stopping'));
    ok(await send(levers, deleteEnvironment(readEnvironment(leaked)).request('pass')));
    const orphan = await put(WORKSHOP_ENVIRONMENTS, fresh('w'), environment('Running', {}));
    ok(await send(levers, deleteEnvironment(readEnvironment(orphan)).request('pass')));
    const broken = await put(WORKSHOP_SESSIONS, fresh('s'), session({ phase: 'Failed' }));
    ok(await send(levers, recycleSession(readSession(broken)).request('pass')));
  });

  it('to read all that a look reads, and to keep the portal’s WarmPool', async () => {
    for (const resource of [
      TRAINING_PORTALS,
      WORKSHOPS,
      WORKSHOP_ENVIRONMENTS,
      WORKSHOP_SESSIONS,
      WORKSHOP_ALLOCATIONS,
    ])
      ok(await levers.list(resource, {}));
    const { group, version } = WARM_POOLS;
    const body = {
      apiVersion: `${group}/${version}`,
      kind: WARM_POOLS.kind,
      metadata: { name: 'campus-labs' },
      spec: {},
    };
    ok(await levers.create(WARM_POOLS, UI, body));
    const patch = [{ op: 'add', path: '/status', value: { observedGeneration: 1 } }] as const;
    const place = { namespace: UI, name: 'campus-labs', subresource: 'status' as const };
    ok(await levers.patch(WARM_POOLS, place, { type: 'json', patch }));
    ok(await levers.list(WARM_POOLS, { namespace: UI }));
  });
});

describe('a real API server refuses to the functions, for want of a right,', () => {
  it.each([
    ['to read Secrets', () => levers.list(SECRETS, { metadataOnly: true })],
    [
      'to read another kind’s objects in a portal’s namespace',
      () => levers.list(SERVICES, { namespace: UI }),
    ],
    [
      'to write on a session',
      () => levers.patch(WORKSHOP_SESSIONS, { name: 's' }, { type: 'merge', patch: {} }),
    ],
    [
      'to make a session',
      () =>
        levers.create(
          WORKSHOP_SESSIONS,
          undefined,
          object('training.educates.dev/v1beta1', 'WorkshopSession', 's', session({})),
        ),
    ],
    ['to delete a portal', () => levers.delete(TRAINING_PORTALS, { name: 'p' }, {})],
    ['to delete a Workshop', () => levers.delete(WORKSHOPS, { name: 'w' }, {})],
    ['to touch an allocation', () => levers.delete(WORKSHOP_ALLOCATIONS, { name: 'a' }, {})],
  ] as const)('%s', async (_, ask: () => Promise<Outcome<unknown>>) => {
    expect(await ask()).toMatchObject({ kind: 'forbidden' });
  });
});

describe('a real API server refuses to the functions, whatever rights they have,', () => {
  const onPortal = async (patch: JsonPatch, metadata: object = {}): Promise<Outcome<unknown>> => {
    const name = fresh('portal');
    const status = { educates: { phase: 'Running' } };
    await put(TRAINING_PORTALS, name, { spec: portalSpec, status, metadata });
    return await change(TRAINING_PORTALS, name, patch);
  };
  const onEnvironment = async (patch: JsonPatch): Promise<Outcome<unknown>> => {
    const name = fresh('w');
    await put(WORKSHOP_ENVIRONMENTS, name, environment('Running'));
    return await change(WORKSHOP_ENVIRONMENTS, name, patch);
  };
  const deletion = async (
    resource: Resource,
    body: object,
    drop: readonly string[] = [],
  ): Promise<Outcome<unknown>> => {
    const { metadata } = await put(resource, fresh('gone'), body);
    const { uid = '', resourceVersion = '' } = metadata;
    const seen = Object.entries({ uid, resourceVersion }).filter(([field]) => !drop.includes(field));
    return await thief.delete(resource, { name: metadata.name }, { preconditions: Object.fromEntries(seen) });
  };
  const noted = (slot: string) => JSON.stringify({ [slot]: { entry: {}, at: 0 } });
  const dropped = '/metadata/annotations/everwarm.dev~1dropped';

  const refusals: readonly { title: string; says: string; ask: () => Promise<Outcome<unknown>> }[] = [
    {
      title: 'to write a portal’s status',
      says: 'Everwarm writes none',
      ask: () => onPortal([{ op: 'replace', path: '/status/educates/phase', value: 'Stopping' }]),
    },
    {
      title: 'to change another field of a portal',
      says: 'changes no other field',
      ask: () => onPortal([{ op: 'replace', path: '/spec/portal/sessions/maximum', value: 40 }]),
    },
    {
      title: 'to take a field of a portal away',
      says: 'changes no other field',
      ask: () => onPortal([{ op: 'remove', path: '/spec/portal' }]),
    },
    {
      title: 'to change an entry where it stands',
      says: 'changes none where it stands',
      ask: () => onPortal([{ op: 'replace', path: '/spec/workshops/0/reserved', value: 9 }]),
    },
    {
      title: 'to drop an entry that is then known nowhere',
      says: 'is written down in the same request',
      ask: () => onPortal([{ op: 'remove', path: '/spec/workshops/0' }]),
    },
    {
      title: 'to drop two entries at once',
      says: 'one entry at a time',
      ask: () => onPortal([{ op: 'replace', path: '/spec/workshops', value: [] }]),
    },
    {
      title: 'to drop one entry and write down another',
      says: 'is written down in the same request',
      ask: () =>
        onPortal([
          { op: 'remove', path: '/spec/workshops/0' },
          { op: 'add', path: '/metadata/annotations', value: { 'everwarm.dev/dropped': noted('lab-net') } },
        ]),
    },
    {
      title: 'to add an entry that was never dropped',
      says: 'adds no other entry',
      ask: () => onPortal([{ op: 'add', path: '/spec/workshops/-', value: { name: 'lab-mine' } }]),
    },
    {
      title: 'to add an entry under cover of a record that it makes up in the same request',
      says: 'adds no other entry',
      ask: () =>
        onPortal(
          [
            { op: 'add', path: '/spec/workshops/-', value: { name: 'lab-mine' } },
            { op: 'add', path: dropped, value: noted('lab-mine') },
          ],
          { annotations: { a: 'b' } },
        ),
    },
    {
      title: 'to write an annotation that is somebody else’s',
      says: 'and no others',
      ask: () =>
        onPortal([{ op: 'replace', path: '/metadata/annotations/a', value: 'c' }], {
          annotations: { a: 'b' },
        }),
    },
    {
      title: 'to take an annotation away that is somebody else’s',
      says: 'and no others',
      ask: () => onPortal([{ op: 'remove', path: '/metadata/annotations/a' }], { annotations: { a: 'b' } }),
    },
    {
      title: 'to set a label',
      says: 'no other metadata',
      ask: () => onEnvironment([{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]),
    },
    {
      title: 'to take an owner off',
      says: 'no other metadata',
      ask: () => onEnvironment([{ op: 'remove', path: '/metadata/ownerReferences' }]),
    },
    {
      title: 'to hold an environment with a finalizer',
      says: 'no other metadata',
      ask: () => onEnvironment([{ op: 'add', path: '/metadata/finalizers', value: ['example.com/held'] }]),
    },
    {
      title: 'to write an environment’s status',
      says: 'Everwarm writes none',
      ask: () => onEnvironment([{ op: 'add', path: '/status/educates/reserved', value: 0 }]),
    },
    {
      title: 'to change an environment’s spec',
      says: 'changes no other field',
      ask: () => onEnvironment([{ op: 'replace', path: '/spec/workshop/name', value: 'lab-net' }]),
    },
    {
      title: 'to change a Workshop',
      says: 'changes no other field',
      ask: async () => await change(WORKSHOPS, 'probe', [{ op: 'replace', path: '/spec/title', value: 'c' }]),
    },
    {
      title: 'to write on a session',
      says: 'on a session: Everwarm makes none',
      async ask() {
        const name = fresh('s');
        await put(WORKSHOP_SESSIONS, name, session({ phase: 'Available' }));
        return await change(WORKSHOP_SESSIONS, name, [
          { op: 'add', path: '/metadata/annotations', value: { 'everwarm.dev/nudge': '1' } },
        ]);
      },
    },
    {
      title: 'to make an environment',
      says: 'Everwarm makes none',
      ask: async () =>
        await thief.create(
          WORKSHOP_ENVIRONMENTS,
          undefined,
          object('training.educates.dev/v1beta1', 'WorkshopEnvironment', fresh('w'), environment('Running')),
        ),
    },
    {
      title: 'to delete a portal',
      says: 'and nothing else',
      ask: () => deletion(TRAINING_PORTALS, { spec: portalSpec }),
    },
    {
      title: 'to delete an allocation',
      says: 'and nothing else',
      ask: () =>
        deletion(WORKSHOP_ALLOCATIONS, {
          spec: { environment: { name: 'w' }, session: { name: 's', user: 'anna' } },
        }),
    },
    {
      title: 'to delete a session that has a user',
      says: 'a user is in it',
      ask: () => deletion(WORKSHOP_SESSIONS, session({ phase: 'Available', user: 'anna' })),
    },
    ...['Allocating', 'Allocated'].map((phase) => ({
      title: `to delete a session that is ${phase}`,
      says: 'a user is in it',
      ask: () => deletion(WORKSHOP_SESSIONS, session({ phase })),
    })),
    ...['uid', 'resourceVersion'].flatMap((field) => [
      {
        title: `to delete a session without its ${field}`,
        says: 'as it has seen it',
        ask: () => deletion(WORKSHOP_SESSIONS, session({ phase: 'Available' }), [field]),
      },
      {
        title: `to delete an environment without its ${field}`,
        says: 'as it has seen it',
        ask: () => deletion(WORKSHOP_ENVIRONMENTS, environment('Stopping'), [field]),
      },
    ]),
    {
      title: 'to delete an environment that its portal has not let go of',
      says: 'has not let go of it',
      ask: () => deletion(WORKSHOP_ENVIRONMENTS, environment('Running')),
    },
  ];

  it.each(refusals)('$title', async ({ ask, says }) => {
    expect(await ask()).toMatchObject({ kind: 'forbidden', message: expect.stringContaining(says) });
  });

  it('and to nobody else: the portal and a person do all of that', async () => {
    const name = fresh('portal');
    await put(TRAINING_PORTALS, name, { spec: portalSpec });
    const patch = [{ op: 'replace', path: '/spec/portal/sessions/maximum', value: 40 }] as const;
    ok(await admin.patch(TRAINING_PORTALS, { name }, { type: 'json', patch }));
    ok(await admin.delete(TRAINING_PORTALS, { name }, {}));
  });
});
