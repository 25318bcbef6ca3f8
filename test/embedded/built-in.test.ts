import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeObject, Resource } from '../../src/kube/api.ts';
import {
  CLAIMS,
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  NAMESPACES,
  openApi,
  PODS,
  SECRETS,
  SERVICES,
} from './_api.ts';

const POOL = new URL('../fixtures/theia-cloud/a-pool-keycloak/objects.json', import.meta.url);
const RECORDED: readonly KubeObject[] = JSON.parse(readFileSync(POOL, 'utf8')).items;

function recorded(kind: string, name: RegExp): KubeObject {
  const found = RECORDED.find((object) => object.kind === kind && name.test(object.metadata.name));
  if (found === undefined) throw new Error(`no ${kind} ${name} was recorded`);
  return found;
}

/** What the recorded cluster added to what its operator sent, one field name each. */
const ADDED = new Set([
  'clusterIP',
  'clusterIPs',
  'creationTimestamp',
  'defaultMode',
  'dnsPolicy',
  'internalTrafficPolicy',
  'ipFamilies',
  'ipFamilyPolicy',
  'generation',
  'progressDeadlineSeconds',
  'resourceVersion',
  'restartPolicy',
  'revisionHistoryLimit',
  'schedulerName',
  'sessionAffinity',
  'status',
  'strategy',
  'terminationGracePeriodSeconds',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'uid',
]);

/** An object as its maker wrote it: without what the server added, with the quantities of the AppDefinition. */
function minimal(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => minimal(element, key));
  if (typeof value !== 'object' || value === null) return value === '3G' ? '3000M' : value;
  // Owners are told by their uid, which no server adds.
  const keeps = (field: string) => key === 'ownerReferences' || !ADDED.has(field);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field, inner]) => keeps(field) && !isDefault(field, inner))
      .map(([field, inner]) => [field, minimal(inner, field)]),
  );
}

function isDefault(field: string, value: unknown): boolean {
  if (field === 'protocol') return value === 'TCP';
  if (field === 'deployment.kubernetes.io/revision') return true;
  return field === 'resources' && Object.keys(value as object).length === 0;
}

/** Leaves out what no two servers share. */
function compared(object: KubeObject) {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, annotations, ...metadata } = object.metadata;
  const others = Object.entries(annotations ?? {}).filter(
    ([name]) => name !== 'deployment.kubernetes.io/revision',
  );
  const { status: ____, ...rest } = object;
  const { clusterIP: _ip, clusterIPs: _ips, ...spec } = (object['spec'] ?? {}) as Record<string, unknown>;
  return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(others) }, spec };
}

describe('the recorded pool, sent again without what the server adds', () => {
  const cases: readonly [string, Resource, RegExp][] = [
    ['Service', SERVICES, /^instance-1-java/],
    ['Service', SERVICES, /int/],
    ['ConfigMap', CONFIG_MAPS, /^instance-1-proxy/],
    ['ConfigMap', CONFIG_MAPS, /^instance-1-email/],
    ['Deployment', DEPLOYMENTS, /^instance-1-/],
  ];
  it.each(cases)('comes back equal: %s %#', (kind, resource, name) => {
    const api = openApi();
    const wanted = recorded(kind, name);
    const sent = minimal(wanted) as KubeObject;
    const body = { ...sent, metadata: { ...sent.metadata, namespace: 'ns' } };
    const answer = api.create(resource, body);
    expect(answer.code).toBe(201);
    expect(answer.warnings).toEqual([]);
    const placed = { ...wanted, metadata: { ...wanted.metadata, namespace: 'ns' } };
    expect(compared(answer.body)).toEqual(compared(placed));
  });
});

describe('a Deployment', () => {
  const created = () => openApi().create(DEPLOYMENTS, deployment('d')).body;

  it('gets every default of its kind', () => {
    expect(created()['spec']).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: 'd' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: {
        metadata: { labels: { app: 'd' } },
        spec: {
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
          containers: [
            {
              name: 'main',
              image: 'registry.example.org/web:1',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
        },
      },
    });
    expect(created()['status']).toEqual({});
  });

  it('does not change when it is sent again in its minimal form', () => {
    const api = openApi();
    const { body } = api.create(DEPLOYMENTS, deployment('d'));
    const { spec } = deployment('d');
    const again = [api.update(DEPLOYMENTS, 'd', deployment('d')), api.merge(DEPLOYMENTS, 'd', { spec })];
    expect(again.map((answer) => answer.body)).toEqual([body, body]);
  });

  it.each([
    ['registry.example.org/web', 'Always'],
    ['registry.example.org:5000/web', 'Always'],
    ['web:latest', 'Always'],
    ['web:1.2', 'IfNotPresent'],
    ['web@sha256:0123', 'IfNotPresent'],
  ])('pulls %s %s', (image, imagePullPolicy) => {
    const { body } = openApi().create(DEPLOYMENTS, deployment('d', image));
    expect(body['spec']).toMatchObject({ template: { spec: { containers: [{ imagePullPolicy }] } } });
  });

  it('loses empty values and keeps those that say something', () => {
    const body = deployment('d');
    const container = {
      ...body.spec.template.spec.containers[0],
      args: [],
      tty: false,
      env: [{ name: 'EMPTY', value: '' }],
      volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
    };
    const spec = {
      ...body.spec,
      replicas: 0,
      paused: false,
      minReadySeconds: 0,
      template: {
        metadata: { ...body.spec.template.metadata, creationTimestamp: null, annotations: {} },
        spec: {
          containers: [container],
          volumes: [{ name: 'scratch', emptyDir: {} }],
          hostNetwork: false,
          automountServiceAccountToken: false,
        },
      },
    };
    const { template, ...rest } = openApi().create(DEPLOYMENTS, { ...body, spec }).body[
      'spec'
    ] as typeof spec;
    expect(rest).toMatchObject({ replicas: 0 });
    expect(Object.keys(rest)).not.toContain('paused');
    expect(Object.keys(rest)).not.toContain('minReadySeconds');
    expect(template.metadata).toEqual({ labels: { app: 'd' } });
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      volumes: [{ name: 'scratch', emptyDir: {} }],
      containers: [{ env: [{ name: 'EMPTY' }] }],
    });
    expect(template.spec.containers[0]?.env[0]).toEqual({ name: 'EMPTY' });
    expect(Object.keys(template.spec)).not.toContain('hostNetwork');
    expect(Object.keys(template.spec.containers[0] ?? {})).not.toContain('args');
  });

  it('must mount volumes that it has and ask for no more than its limits', () => {
    const body = deployment('d');
    const container = {
      ...body.spec.template.spec.containers[0],
      volumeMounts: [{ name: 'nothing', mountPath: '/x' }],
      resources: { limits: { cpu: '1' }, requests: { cpu: '1500m' } },
    };
    const template = { ...body.spec.template, spec: { containers: [container] } };
    const { message } = openApi().create(DEPLOYMENTS, { ...body, spec: { ...body.spec, template } }).body;
    expect(message).toBe(
      'Deployment.apps "d" is invalid: [spec.template.spec.containers[0].volumeMounts[0].name: Not found: "nothing", spec.template.spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1]',
    );
  });
});

it.each([
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['3000M', '3G'],
  ['128974848', '128974848'],
  ['1.5Gi', '1536Mi'],
  ['100u', '100u'],
  ['1e3', '1e3'],
  ['2500', '2500'],
  ['0.1', '100m'],
])('writes the quantity %s as %s', (given, canonical) => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: given } } };
  const { body } = openApi().create(CLAIMS, { metadata: { name: 'c' }, spec });
  expect(body['spec']).toMatchObject({ resources: { requests: { storage: canonical } } });
});

it('refuses what is no quantity', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: 'much' } } };
  expect(openApi().create(CLAIMS, { metadata: { name: 'c' }, spec }).body['message']).toContain(
    'cannot be handled as a PersistentVolumeClaim: quantities must match the regular expression',
  );
});

it('gives a Service its address and its ports their targets', () => {
  const { body } = openApi().create(SERVICES, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
  expect(body).toMatchObject({ status: { loadBalancer: {} } });
  expect(body['spec']).toEqual({
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
  });
});

it('gives a pod what only pods get', () => {
  const containers = [{ name: 'main', image: 'web:1', resources: { limits: { cpu: '1', memory: '1Gi' } } }];
  const { body } = openApi().create(PODS, { metadata: { name: 'p' }, spec: { containers } });
  expect(body).toMatchObject({
    spec: {
      enableServiceLinks: true,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }],
      containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }],
    },
    status: { phase: 'Pending', qosClass: 'Guaranteed' },
    metadata: { generation: 1 },
  });
});

it('binds a pod to a node and lets nobody change what it runs afterwards', () => {
  const api = openApi();
  api.create(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'main', image: 'web:1' }] } });
  expect(api.create(PODS, { target: { name: 'node-1' } }, { name: 'p', subresource: 'binding' }).code).toBe(
    201,
  );
  expect(api.get(PODS, 'p').body['spec']).toMatchObject({ nodeName: 'node-1' });
  expect(api.merge(PODS, 'p', { spec: { nodeName: 'node-2' } }).code).toBe(422);
  expect(api.merge(PODS, 'p', { spec: { hostname: 'x' } }).code).toBe(422);
  expect(api.strategic(PODS, 'p', { spec: { containers: [{ name: 'main', image: 'web:2' }] } }).code).toBe(
    200,
  );
});

it('protects a claim, stores secrets encoded and labels a namespace', () => {
  const api = openApi();
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  expect(api.create(CLAIMS, { metadata: { name: 'c' }, spec }).body).toMatchObject({
    metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
    spec: { volumeMode: 'Filesystem' },
    status: { phase: 'Pending' },
  });
  const secret = api.create(SECRETS, { metadata: { name: 's' }, stringData: { password: 'x' } }).body;
  expect(secret).toMatchObject({ type: 'Opaque', data: { password: 'eA==' } });
  expect(secret['stringData']).toBeUndefined();
  expect(api.get(NAMESPACES, 'ns').body).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'ns' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
});

it('lets nobody change an immutable ConfigMap', () => {
  const api = openApi();
  api.create(CONFIG_MAPS, { ...configMap('a'), immutable: true });
  expect(api.merge(CONFIG_MAPS, 'a', { data: { a: '2' } }).body['message']).toBe(
    'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
  );
  expect(api.merge(CONFIG_MAPS, 'a', { metadata: { labels: { x: 'y' } } }).code).toBe(200);
});
