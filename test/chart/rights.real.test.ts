import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { JsonPatch, KubeObject, Outcome, Resource } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  SERVICES,
} from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { apiOf, type RealCluster, startRealCluster } from '../real-cluster/cluster.ts';
import { FORWARDER, type Manifest, manifests } from './_chart.ts';
import { findHelm } from './helm.ts';

/**
 * The chart's roles and policies on a real API server. The writer is whom the functions are; nothing of Everwarm runs: what it
 * would never ask for is asked for here.
 */
beforeEach(({ skip }) => {
  const found = findHelm();
  if (found.kind === 'missing') skip(found.reason);
});

const NS = 'theia';
const kind = (group: string, version: string, name: string, plural: string, namespaced = true): Resource => ({
  group,
  version,
  kind: name,
  plural,
  namespaced,
});
const NAMESPACES = kind('', 'v1', 'Namespace', 'namespaces', false);
const SECRETS = kind('', 'v1', 'Secret', 'secrets');
const INSTALLED = new Map([
  [
    'CustomResourceDefinition',
    kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  ],
  ['Role', kind('rbac.authorization.k8s.io', 'v1', 'Role', 'roles')],
  ['RoleBinding', kind('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings')],
  [
    'ValidatingAdmissionPolicy',
    kind(
      'admissionregistration.k8s.io',
      'v1',
      'ValidatingAdmissionPolicy',
      'validatingadmissionpolicies',
      false,
    ),
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    kind(
      'admissionregistration.k8s.io',
      'v1',
      'ValidatingAdmissionPolicyBinding',
      'validatingadmissionpolicybindings',
      false,
    ),
  ],
]);

const app = { apiVersion: 'theia.cloud/v1beta10', kind: 'AppDefinition', name: 'java', uid: 'uid-of-java' };
const session = { apiVersion: 'theia.cloud/v1beta8', kind: 'Session', name: 'anna', uid: 'uid-of-anna' };
const template = (more: object = {}, container: object = {}) => ({
  selector: { matchLabels: { app: 'x' } },
  template: {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'ide', image: 'ide:1', ...container }], ...more },
  },
});
const volume = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const port = { ports: [{ port: 80 }] };

let cluster: RealCluster;
let admin: KubeClient;
let writer: KubeClient;

beforeAll(async () => {
  if (findBinaries().kind === 'missing' || findHelm().kind === 'missing') return;
  cluster = await startRealCluster({ controllers: [] });
  admin = apiOf(cluster, 'admin');
  writer = apiOf(cluster, 'controller');
  for (const name of [NS, 'ide', 'ops', 'elsewhere']) {
    ok(
      await admin.create(NAMESPACES, undefined, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    );
  }
  for (const manifest of chart()) {
    const resource = INSTALLED.get(manifest.kind);
    if (resource === undefined) continue;
    ok(await admin.create(resource, manifest.metadata.namespace, manifest));
  }
  await untilPoliciesHold();
});

afterAll(async () => {
  admin?.close();
  writer?.close();
  await cluster?.stop();
});

function chart(): readonly Manifest[] {
  const users = [cluster.users.controller.name];
  return manifests({ ...FORWARDER, forwarder: { ...FORWARDER.forwarder, functions: { users } } });
}

/** The server looks for new policies about once a second: the last one of them holds, so all do. */
async function untilPoliciesHold(): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const held = await Promise.all([
      writer.create(CONFIG_MAPS, NS, object('ConfigMap', `probe-${tries}`, [app])),
      tries === 0 ? put(CONFIG_MAPS, 'instance-0-probe', [app, session]) : undefined,
      tries === 0 ? undefined : gone(CONFIG_MAPS, 'instance-0-probe'),
      tries === 0 ? undefined : patched(CONFIG_MAPS, 'instance-0-probe', takeOff(1)),
    ]);
    if (tries > 0 && held.every((one) => one === undefined || one.kind !== 'ok')) return;
    if (tries > 0) await admin.delete(CONFIG_MAPS, place('instance-0-probe'), {});
    if (tries > 0) await put(CONFIG_MAPS, 'instance-0-probe', [app, session]);
    await systemClock.sleep(100);
  }
  throw new Error('the policies do not hold');
}

const place = (name: string) => ({ namespace: NS, name });

function object(of: string, name: string, owners: readonly object[], more: object = {}): KubeObject {
  const apiVersion = of === 'Deployment' ? 'apps/v1' : 'v1';
  const metadata = { name, namespace: NS, ...(owners.length === 0 ? {} : { ownerReferences: owners }) };
  return { apiVersion, kind: of, ...more, metadata } as unknown as KubeObject;
}

const BODY: Readonly<Record<string, object>> = {
  ConfigMap: { data: { 'authenticated-emails-list': '' } },
  Service: { spec: port },
  Deployment: { spec: template() },
  PersistentVolumeClaim: { spec: volume },
};

/** Stands there, made by somebody else. */
async function put(resource: Resource, name: string, owners: readonly object[], finalizers?: string[]) {
  const body = object(resource.kind, name, owners, BODY[resource.kind]);
  const made = finalizers === undefined ? body : { ...body, metadata: { ...body.metadata, finalizers } };
  return ok(await admin.create(resource, NS, made));
}

function ok<T>(outcome: Outcome<T>): Outcome<T> {
  expect(outcome).toMatchObject({ kind: 'ok' });
  return outcome;
}

/** Deleted as Everwarm does it: what was seen, and nothing else of that name. */
async function gone(resource: Resource, name: string): Promise<Outcome<unknown>> {
  const { uid = '', resourceVersion = '' } = standing(await admin.get(resource, place(name))).metadata;
  const preconditions = { uid, resourceVersion };
  return await writer.delete(resource, place(name), { propagation: 'Background', preconditions });
}

function standing(outcome: Outcome<KubeObject>): KubeObject {
  if (outcome.kind === 'ok') return outcome.value;
  throw new Error(outcome.message);
}

const patched = (resource: Resource, name: string, patch: JsonPatch) =>
  writer.patch(resource, place(name), { type: 'json', patch });
const takeOff = (at: number): JsonPatch => [{ op: 'remove', path: `/metadata/ownerReferences/${at}` }];

let count = 0;
const fresh = (): string => {
  count += 1;
  return `instance-${count}-java-0a1b2c3d4e5f`;
};

describe('the functions may, on a real API server,', () => {
  it.each([SERVICES, CONFIG_MAPS, DEPLOYMENTS])(
    'make, mark and take away an instance’s $kind that nobody holds',
    async (resource) => {
      const name = fresh();
      ok(await writer.create(resource, NS, object(resource.kind, name, [app], BODY[resource.kind])));
      ok(await patched(resource, name, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]));
      ok(await writer.get(resource, place(name)));
      ok(await gone(resource, name));
    },
  );

  it('take away the volume of an instance, and write on what a user holds what its user needs', async () => {
    const claim = `${fresh()}-pvc`;
    await put(PERSISTENT_VOLUME_CLAIMS, claim, [app]);
    ok(await gone(PERSISTENT_VOLUME_CLAIMS, claim));
    const held = fresh();
    await put(CONFIG_MAPS, held, [app]);
    ok(
      await patched(CONFIG_MAPS, held, [{ op: 'add', path: '/metadata/ownerReferences/-', value: session }]),
    );
    ok(
      await patched(CONFIG_MAPS, held, [
        { op: 'add', path: '/data/authenticated-emails-list', value: 'anna' },
      ]),
    );
  });

  it('change the ports of a Service that nobody holds', async () => {
    const name = fresh();
    await put(SERVICES, name, [app]);
    ok(await patched(SERVICES, name, [{ op: 'replace', path: '/spec/ports', value: [{ port: 81 }] }]));
  });
});

describe('a real API server refuses to the functions', () => {
  it.each([SERVICES, CONFIG_MAPS, DEPLOYMENTS])('to delete a $kind that a user holds', async (resource) => {
    const name = fresh();
    await put(resource, name, [app, session]);
    const outcome = await gone(resource, name);
    expect(outcome).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('nothing of an instance in use'),
    });
    ok(await admin.get(resource, place(name)));
    // Nobody else is bound: the collector and a person go on.
    ok(await admin.delete(resource, place(name), {}));
  });

  const refusals: readonly { title: string; says: string; ask: () => Promise<Outcome<unknown>> }[] = [
    {
      title: 'to delete by its name alone',
      says: 'nothing by its name alone',
      async ask() {
        const name = fresh();
        await put(CONFIG_MAPS, name, [app]);
        return await writer.delete(CONFIG_MAPS, place(name), {});
      },
    },
    {
      title: 'to give what is one user’s to another',
      says: 'gives it to nobody else',
      async ask() {
        const name = fresh();
        await put(SERVICES, name, [app, session]);
        const value = { ...session, name: 'ben', uid: 'uid-of-ben' };
        return await patched(SERVICES, name, [{ op: 'add', path: '/metadata/ownerReferences/-', value }]);
      },
    },
    {
      title: 'to put one user in the place of another',
      says: 'Everwarm takes none off',
      async ask() {
        const name = fresh();
        await put(SERVICES, name, [app, session]);
        const value = { ...session, name: 'ben', uid: 'uid-of-ben' };
        return await patched(SERVICES, name, [{ op: 'replace', path: '/metadata/ownerReferences/1', value }]);
      },
    },
    {
      title: 'to touch the finalizers of a pool’s own WarmPool',
      says: 'Everwarm touches no finalizer',
      async ask() {
        ok(
          await admin.create(WARM_POOLS, NS, {
            ...object('WarmPool', 'java', []),
            apiVersion: 'everwarm.dev/v1alpha1',
          }),
        );
        const value = ['example.com/kept'];
        return await patched(WARM_POOLS, 'java', [{ op: 'add', path: '/metadata/finalizers', value }]);
      },
    },
    {
      title: 'to delete what is no part of an instance',
      says: 'Everwarm deletes nothing else',
      async ask() {
        await put(CONFIG_MAPS, 'oauth2-proxy-config', []);
        return await gone(CONFIG_MAPS, 'oauth2-proxy-config');
      },
    },
    {
      title: 'to delete a user’s volume',
      says: 'Everwarm deletes nothing else',
      async ask() {
        await put(PERSISTENT_VOLUME_CLAIMS, 'ws-anna', []);
        return await gone(PERSISTENT_VOLUME_CLAIMS, 'ws-anna');
      },
    },
    {
      title: 'to delete a volume that only looks like an instance’s',
      says: "users' data is out of reach",
      async ask() {
        await put(PERSISTENT_VOLUME_CLAIMS, 'instance-anna-pvc', []);
        return await gone(PERSISTENT_VOLUME_CLAIMS, 'instance-anna-pvc');
      },
    },
    {
      title: 'to take a user’s hold away',
      says: 'Everwarm takes none off',
      async ask() {
        const name = fresh();
        await put(SERVICES, name, [app, session]);
        return await patched(SERVICES, name, takeOff(1));
      },
    },
    {
      title: 'to touch a finalizer',
      says: 'Everwarm touches no finalizer',
      async ask() {
        const name = fresh();
        await put(CONFIG_MAPS, name, [app], ['example.com/kept']);
        return await patched(CONFIG_MAPS, name, [{ op: 'remove', path: '/metadata/finalizers' }]);
      },
    },
    {
      title: 'to change a Deployment, which would roll its pods',
      says: 'it changes none',
      async ask() {
        const name = fresh();
        await put(DEPLOYMENTS, name, [app]);
        const image = '/spec/template/spec/containers/0/image';
        return await patched(DEPLOYMENTS, name, [{ op: 'replace', path: image, value: 'ide:2' }]);
      },
    },
    {
      title: 'to change the Service of an instance in use',
      says: 'stays as it is',
      async ask() {
        const name = fresh();
        await put(SERVICES, name, [app, session]);
        return await patched(SERVICES, name, [{ op: 'replace', path: '/spec/ports', value: [{ port: 81 }] }]);
      },
    },
    {
      title: 'to write on what is no part of an instance',
      says: 'writes on nothing else',
      async ask() {
        await put(CONFIG_MAPS, 'kube-public-info', []);
        return await patched(CONFIG_MAPS, 'kube-public-info', [{ op: 'add', path: '/data/x', value: 'y' }]);
      },
    },
    {
      title: 'to make what is no part of an instance',
      says: 'Everwarm makes nothing else',
      ask: async () => await writer.create(CONFIG_MAPS, NS, object('ConfigMap', 'mine', [app])),
    },
    {
      title: 'to make what belongs to no AppDefinition',
      says: 'belongs to an AppDefinition',
      ask: async () => await writer.create(CONFIG_MAPS, NS, object('ConfigMap', fresh(), [])),
    },
    ...[
      ['that uses a ServiceAccount', template({ serviceAccountName: 'operator' }), 'uses no ServiceAccount'],
      ['on its node’s network', template({ hostNetwork: true }), 'nothing of its node'],
      [
        'that mounts a folder of its node',
        template({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }),
        'no folder of its node',
      ],
      [
        'that mounts a Secret',
        template({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
        'mounts no Secret',
      ],
      [
        'that reads a Secret',
        template({}, { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
        'reads no Secret',
      ],
      ['that is privileged', template({}, { securityContext: { privileged: true } }), 'is not privileged'],
    ].map(([title, spec, says]) => ({
      title: `an instance ${title}`,
      says: String(says),
      ask: async () => await writer.create(DEPLOYMENTS, NS, object('Deployment', fresh(), [app], { spec })),
    })),
  ];

  it.each(refusals)('$title', async ({ ask, says }) => {
    const outcome = await ask();
    expect(outcome).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(says),
    });
  });

  it.each([
    ['to read Secrets', () => writer.list(SECRETS, { namespace: NS })],
    ['to look into another namespace', () => writer.list(PODS, { namespace: 'elsewhere' })],
    ['to delete pods', () => writer.delete(PODS, place('x'), {})],
    [
      'to give itself more',
      () =>
        writer.patch(kind('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'), place('ew-everwarm-loop'), {
          type: 'merge',
          patch: { rules: [] },
        }),
    ],
  ])('%s', async (_, ask: () => Promise<Outcome<unknown>>) => {
    expect(await ask()).toMatchObject({ kind: 'forbidden' });
  });
});
