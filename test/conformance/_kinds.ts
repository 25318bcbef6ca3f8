/** What the programs know of a kind. */
export interface Kind {
  readonly plural: string;
  readonly kind: string;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly clusterScoped?: true;
  readonly custom?: true;
  readonly status?: true;
  readonly scale?: true;
  /** Writes are only tried. */
  readonly dry?: true;
  /** A good object's fields, besides kind and metadata. */
  readonly fields: Fields;
  /** Changes that are fine, as merge patches; the first ones may stand in a create, too. */
  readonly changes: readonly Fields[];
  /** Changes that are refused, pruned or decoded in a special way. */
  readonly oddities: readonly Fields[];
  readonly statuses?: readonly Fields[];
}

type Fields = Readonly<Record<string, unknown>>;

const LABELS = { app: 'a' };
const CONTAINER = { name: 'main', image: 'registry.example.org/web:1' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [CONTAINER] } };
const RICH_CONTAINER = {
  name: 'main',
  image: 'web',
  args: [],
  env: [
    { name: 'A', value: '' },
    { name: 'B', value: 'b' },
    { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'D', valueFrom: { configMapKeyRef: { name: 'c', key: 'k', optional: true } } },
  ],
  ports: [{ containerPort: 80 }, { name: 'https', containerPort: 443, protocol: 'TCP' }],
  resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: '0.5', memory: '128974848' } },
  readinessProbe: { httpGet: { port: 80 }, periodSeconds: 3 },
  livenessProbe: { tcpSocket: { port: 'https' } },
  volumeMounts: [
    { name: 'v', mountPath: '/v' },
    { name: 'c', mountPath: '/c', subPath: 'x', readOnly: true },
  ],
  securityContext: { runAsUser: 1001, privileged: false },
  tty: false,
};
const RICH_POD = {
  containers: [RICH_CONTAINER],
  initContainers: [
    { name: 'init', image: 'init@sha256:0123456789012345678901234567890123456789012345678901234567890123' },
  ],
  volumes: [
    { name: 'v', emptyDir: {} },
    { name: 'c', configMap: { name: 'c' } },
    { name: 's', secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
    { name: 'p', persistentVolumeClaim: { claimName: 'p' } },
  ],
  automountServiceAccountToken: false,
  securityContext: { fsGroup: 1 },
  nodeSelector: {},
  imagePullSecrets: [{ name: 'pull' }],
  hostNetwork: false,
};

const podOddities = (wrap: (spec: Fields) => Fields): readonly Fields[] => [
  wrap({ containers: [] }),
  wrap({ containers: [{ name: 'main' }] }),
  wrap({ containers: [{ name: 'Main', image: 'web' }] }),
  wrap({ containers: [CONTAINER, CONTAINER] }),
  wrap({ containers: [{ ...CONTAINER, imagePullPolicy: 'Sometimes' }] }),
  wrap({ containers: [{ ...CONTAINER, ports: [{ containerPort: 70000 }] }] }),
  wrap({ containers: [{ ...CONTAINER, ports: [{ containerPort: 'http' }] }] }),
  wrap({ containers: [{ ...CONTAINER, volumeMounts: [{ name: 'nowhere', mountPath: '/x' }] }] }),
  wrap({ containers: [{ ...CONTAINER, resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }] }),
  wrap({ containers: [{ ...CONTAINER, resources: { limits: { cpu: 'many' } } }] }),
  wrap({ containers: [{ ...CONTAINER, env: [{ value: 'x' }] }] }),
  wrap({ containers: [{ ...CONTAINER, bogus: 1 }] }),
  wrap({ containers: [{ ...CONTAINER, env: { A: 'b' } }] }),
  wrap({ containers: 'none' }),
  wrap({ restartPolicy: 'Sometimes' }),
  wrap({ terminationGracePeriodSeconds: '30' }),
];

const workload = (plural: string, kind: string, more: readonly Fields[], odd: readonly Fields[]): Kind => ({
  plural,
  kind,
  apiVersion: 'apps/v1',
  status: true,
  scale: true,
  fields: { spec: { selector: { matchLabels: LABELS }, template: TEMPLATE } },
  changes: [
    { spec: { template: { spec: RICH_POD } } },
    { spec: { replicas: 0 } },
    { spec: { template: { spec: { containers: [{ ...CONTAINER, image: 'web:latest' }] } } } },
    { spec: { template: { spec: { serviceAccountName: 'robot', terminationGracePeriodSeconds: 5 } } } },
    { spec: { minReadySeconds: 0 } },
    { spec: { template: { metadata: { annotations: { note: 'x' } } } } },
    { metadata: { annotations: { note: 'y' } } },
    ...more,
  ],
  oddities: [
    { spec: { selector: null } },
    { spec: { selector: {} } },
    { spec: { selector: { matchLabels: { app: 'other' } } } },
    { spec: { template: { metadata: { labels: { app: 'other' } } } } },
    { spec: { replicas: -1 } },
    { spec: { replicas: '1' } },
    { spec: { replicas: 1.5 } },
    { spec: { bogus: true } },
    { spec: null },
    ...podOddities((spec) => ({ spec: { template: { spec } } })),
    ...odd,
  ],
  statuses: [{ status: { replicas: 2, readyReplicas: 1 } }, { status: { observedGeneration: 1 } }],
});

const CORE: readonly Kind[] = [
  {
    plural: 'configmaps',
    kind: 'ConfigMap',
    apiVersion: 'v1',
    fields: { data: { a: '1' } },
    changes: [
      { data: { a: '2', b: 'x' } },
      { data: { a: null } },
      { binaryData: { bin: 'AAEC' } },
      { immutable: false },
      { data: {} },
      { immutable: true },
    ],
    oddities: [
      { data: { a: 1 } },
      { data: { 'no key': 'x' } },
      { data: { '..': 'x' } },
      { data: ['a'] },
      { data: 'a' },
      { binaryData: { bin: '???' } },
      { binaryData: { a: 'AAEC' } },
      { bogus: true },
      { immutable: 'yes' },
    ],
  },
  {
    plural: 'secrets',
    kind: 'Secret',
    apiVersion: 'v1',
    fields: { data: { a: 'MQ==' } },
    changes: [
      { stringData: { b: 'plain' } },
      { data: { a: 'Mg==' } },
      { type: 'Opaque' },
      { stringData: { a: 'wins' } },
    ],
    oddities: [
      { data: { a: '???' } },
      { data: { 'no key': 'MQ==' } },
      { stringData: { a: 1 } },
      { type: 'example.com/other' },
      { bogus: 1 },
    ],
  },
  {
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    fields: {},
    changes: [{ automountServiceAccountToken: false }, { imagePullSecrets: [{ name: 'pull' }] }],
    oddities: [{ automountServiceAccountToken: 'no' }, { imagePullSecrets: 'pull' }, { bogus: 1 }],
  },
  {
    plural: 'services',
    kind: 'Service',
    apiVersion: 'v1',
    status: true,
    // The real server asks itself for each address, and keeps all others waiting when many are wanted at once.
    fields: { spec: { clusterIP: 'None', selector: LABELS, ports: [{ port: 80 }] } },
    changes: [
      {
        spec: {
          ports: [
            { name: 'http', port: 80, targetPort: 'web' },
            { name: 'other', port: 81, protocol: 'UDP' },
          ],
        },
      },
      { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
      { spec: { selector: { app: 'b' } } },
      { spec: { selector: {} } },
      { spec: { publishNotReadyAddresses: true } },
    ],
    oddities: [
      { spec: { ports: [] } },
      { spec: { ports: null } },
      { spec: { ports: [{ port: 0 }] } },
      { spec: { ports: [{ port: 70000 }] } },
      { spec: { ports: [{ port: 80 }, { port: 81 }] } },
      {
        spec: {
          ports: [
            { name: 'a', port: 80 },
            { name: 'b', port: 80 },
          ],
        },
      },
      {
        spec: {
          ports: [
            { name: 'a', port: 80 },
            { name: 'a', port: 81 },
          ],
        },
      },
      { spec: { ports: [{ port: 80, protocol: 'ICMP' }] } },
      { spec: { ports: [{ port: '80' }] } },
      { spec: { type: 'Other' } },
      { spec: { sessionAffinity: 'Sticky' } },
      { spec: { bogus: 1 } },
      { spec: { selector: { app: 1 } } },
    ],
    statuses: [{ status: { conditions: [] } }],
  },
  {
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    status: true,
    fields: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    changes: [
      { spec: { resources: { requests: { storage: '1024Mi' } } } },
      { metadata: { labels: { x: 'y' } } },
    ],
    oddities: [
      { spec: { accessModes: [] } },
      { spec: { accessModes: ['Sometimes'] } },
      { spec: { resources: { requests: null } } },
      { spec: { resources: { requests: { storage: '-1' } } } },
      { spec: { resources: { requests: { storage: 'much' } } } },
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      { spec: { volumeMode: 'Tape' } },
      { spec: null },
      { spec: { bogus: 1 } },
    ],
    statuses: [{ status: { phase: 'Bound' } }, { status: { capacity: { storage: '1024Mi' } } }],
  },
  {
    plural: 'resourcequotas',
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    dry: true,
    status: true,
    fields: { spec: { hard: { services: '1k' } } },
    changes: [
      { spec: { hard: { services: '2000', 'requests.cpu': '100' } } },
      { spec: { hard: { secrets: '5' } } },
    ],
    oddities: [
      { spec: { hard: { services: 'many' } } },
      { spec: { hard: { services: '-1' } } },
      { spec: { hard: { services: '1.5' } } },
      { spec: { bogus: 1 } },
    ],
    statuses: [{ status: { hard: { services: '1k' }, used: { services: '3' } } }],
  },
  {
    plural: 'events',
    kind: 'Event',
    apiVersion: 'v1',
    fields: {
      involvedObject: { kind: 'ConfigMap', namespace: '{ns}', name: 'a', apiVersion: 'v1' },
      reason: 'Seen',
      message: 'm',
      type: 'Normal',
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:00Z',
      count: 1,
      source: { component: 'test' },
    },
    changes: [
      { count: 2, lastTimestamp: '2020-01-01T01:00:00+01:00' },
      { message: 'n' },
      { type: 'Odd' },
      { lastTimestamp: '2020-01-01T01:00:00.123Z' },
      { reportingComponent: 'test', reportingInstance: 'one' },
    ],
    oddities: [
      { involvedObject: { namespace: 'elsewhere' } },
      { involvedObject: { namespace: null } },
      { count: 'two' },
      { lastTimestamp: 'yesterday' },
      { lastTimestamp: '2020-01-01' },
      { eventTime: '2020-01-01T00:00:00Z' },
      { bogus: 1 },
    ],
  },
  {
    plural: 'pods',
    kind: 'Pod',
    apiVersion: 'v1',
    status: true,
    fields: { spec: { containers: [CONTAINER] } },
    changes: [
      { spec: RICH_POD },
      { spec: { containers: [{ ...CONTAINER, image: 'web:2' }] } },
      { metadata: { labels: { x: 'y' } } },
    ],
    oddities: [...podOddities((spec) => ({ spec })), { spec: null }],
    statuses: [
      { status: { phase: 'Running' } },
      {
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }],
          podIP: '192.0.2.7',
        },
      },
      { status: { conditions: [{ type: 'Ready' }] } },
    ],
  },
  {
    plural: 'namespaces',
    kind: 'Namespace',
    apiVersion: 'v1',
    clusterScoped: true,
    fields: {},
    changes: [
      { metadata: { labels: { x: 'y' } } },
      { metadata: { annotations: { x: 'y' } } },
      { spec: { finalizers: ['kubernetes'] } },
    ],
    oddities: [
      { spec: { finalizers: ['example.com/x'] } },
      { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
      { spec: { bogus: 1 } },
    ],
  },
];

const APPS: readonly Kind[] = [
  workload(
    'deployments',
    'Deployment',
    [
      { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } },
      { spec: { strategy: { rollingUpdate: { maxUnavailable: 1 } } } },
      { spec: { paused: true, revisionHistoryLimit: 3, progressDeadlineSeconds: 60 } },
    ],
    [
      { spec: { strategy: { type: 'Magic' } } },
      { spec: { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } } },
      { spec: { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } } },
      { spec: { strategy: { rollingUpdate: { maxUnavailable: 'half' } } } },
      { spec: { minReadySeconds: 700 } },
      { spec: { revisionHistoryLimit: -1 } },
    ],
  ),
  workload('replicasets', 'ReplicaSet', [], []),
  {
    plural: 'leases',
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    fields: {
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.123456Z' },
    },
    changes: [
      { spec: { renewTime: '2020-01-01T02:00:00.000000+01:00' } },
      { spec: { holderIdentity: 'you', leaseTransitions: 1 } },
      { spec: { holderIdentity: null } },
    ],
    oddities: [
      { spec: { leaseDurationSeconds: 0 } },
      { spec: { leaseTransitions: -1 } },
      { spec: { renewTime: '2020-01-01T00:00:00.123Z' } },
      { spec: { renewTime: '2020-01-01T00:00:00Z' } },
      { spec: { renewTime: 'now' } },
      { spec: { holderIdentity: '' } },
      { spec: { bogus: 1 } },
    ],
  },
];

const GOOD_ROUTE = {
  parentRefs: [{ name: 'gateway' }],
  hostnames: ['ide.example.org'],
  rules: [
    { matches: [{ path: { type: 'PathPrefix', value: '/a/' } }], backendRefs: [{ name: 'a', port: 80 }] },
  ],
};

const CUSTOM: readonly Kind[] = [
  {
    plural: 'widgets',
    kind: 'Widget',
    apiVersion: 'g.dev/v1',
    custom: true,
    status: true,
    scale: true,
    fields: { spec: { size: 3 } },
    changes: [
      { spec: { size: 4, mode: 'Lazy' } },
      { spec: null },
      { spec: { envs: [{ name: 'A' }, { name: 'B', value: 'b' }] } },
      { spec: { free: { any: [1, null, { x: null }] }, tags: [] } },
      { spec: { nested: {}, options: {} } },
      { spec: { nested: { deep: {} }, options: { a: 1 } } },
      { spec: { note: null } },
      { spec: { size: null } },
      { spec: { fixed: 'one' } },
      { spec: { ratio: 1.5, flag: false, port: 'http' } },
      { spec: { ratio: 2, port: 80, when: '2020-01-01T00:00:00Z' } },
      { status: { phase: 'Up' } },
    ],
    oddities: [
      { spec: { size: 1000 } },
      { spec: { size: -1 } },
      { spec: { size: 'big' } },
      { spec: { size: 2.5 } },
      { spec: { mode: 'Other' } },
      { spec: { image: 'A1' } },
      { spec: { image: 'waytoolongname' } },
      { spec: { envs: [{ value: 'x' }] } },
      { spec: { envs: [{ name: 'A' }, { name: 'A' }] } },
      { spec: { tags: ['a', 'a'] } },
      { spec: { tags: ['a', 'b', 'c', 'd'] } },
      { spec: { min: 50 } },
      { spec: { max: 1 } },
      { spec: { max: 1, min: 90 } },
      { spec: { fixed: 'two' } },
      { spec: { port: 1.5 } },
      { spec: { port: true } },
      { spec: { when: 'yesterday' } },
      { spec: { flag: 'yes' } },
      { spec: { ratio: 'x' } },
      { spec: { options: { a: 'x' } } },
      { spec: { nested: { deep: { y: 1 } } } },
      { spec: { bogus: 1, free: { kept: true } }, also: 2 },
      { spec: 'text' },
      { spec: [] },
      { spec: { envs: [{ name: 1 }] } },
    ],
    statuses: [
      { status: { phase: 'Up', size: 2 } },
      { status: { phase: 'Sideways' } },
      { status: { size: 'x' } },
      { status: { size: 1, selector: 'app=a' }, spec: { size: 99 } },
      { status: { bogus: 1 } },
      { status: null },
    ],
  },
  {
    plural: 'plains',
    kind: 'Plain',
    apiVersion: 'g.dev/v1',
    custom: true,
    fields: { spec: { size: 3 }, status: { phase: 'Up' } },
    changes: [
      { spec: { size: 4 } },
      { status: { phase: 'Down' } },
      { status: { deep: { x: [] } } },
      { spec: {} },
    ],
    oddities: [{ spec: { size: 'x' } }, { spec: { bogus: 1 } }, { status: 'up' }, { data: {} }],
    statuses: [{ status: { phase: 'Up' } }],
  },
  {
    plural: 'realms',
    kind: 'Realm',
    apiVersion: 'g.dev/v1',
    custom: true,
    clusterScoped: true,
    fields: { spec: { owner: 'me' } },
    changes: [{ spec: { owner: 'you' } }],
    oddities: [{ spec: { owner: 'x' } }, { spec: {} }, { spec: null }, { spec: { owner: null } }],
  },
  {
    plural: 'warmpools',
    kind: 'WarmPool',
    apiVersion: 'everwarm.dev/v1alpha1',
    custom: true,
    status: true,
    fields: { spec: { mode: 'guard', rollout: { maxUnavailable: '25%' } } },
    changes: [
      { spec: { paused: true } },
      { spec: { rollout: { maxUnavailable: 2 } } },
      { spec: { staleness: 'generation' } },
    ],
    oddities: [{ spec: { mode: 'own' } }, { spec: { paused: 'yes' } }, { spec: { claims: {} } }],
    statuses: [
      { status: { observedGeneration: 1, revision: 'v1-abc', counts: { desired: 3, ready: 2 } } },
      { status: { ledger: [{ slot: '1', revision: 'r', pass: 'p', since: '2020-01-01T00:00:00Z' }] } },
      { status: { ledger: [{ slot: '1' }] } },
      {
        status: {
          conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: 'm', lastTransitionTime: 'x' }],
        },
      },
    ],
  },
  {
    plural: 'appdefinitions',
    kind: 'AppDefinition',
    apiVersion: 'theia.cloud/v1beta11',
    custom: true,
    status: true,
    fields: {
      spec: {
        name: 'java',
        image: 'ide:1',
        uid: 101,
        port: 3000,
        ingressname: 'route',
        minInstances: 1,
        maxInstances: 2,
        requestsCpu: '1',
        requestsMemory: '1',
        limitsCpu: '1',
        limitsMemory: '1',
      },
    },
    changes: [
      { spec: { image: 'ide:2' } },
      { spec: { minInstances: 2 } },
      { spec: { options: { a: 1, b: 'c' } } },
      { spec: { sidecars: [{ name: 's', image: 'i', port: 1 }] } },
    ],
    oddities: [
      { spec: { name: 'not a name' } },
      { spec: { minInstances: 3 } },
      { spec: { port: 70000 } },
      { spec: { image: null } },
      { spec: { image: null, port: null } },
      { spec: { minInstances: null } },
      { spec: { sidecars: [{ name: 's' }] } },
      { spec: { options: { a: true } } },
      { spec: null },
    ],
    statuses: [{ status: { operatorStatus: 'HANDLED' } }, { status: { operatorStatus: 1 } }],
  },
  {
    plural: 'sessions',
    kind: 'Session',
    apiVersion: 'theia.cloud/v1beta8',
    custom: true,
    status: true,
    fields: { spec: { name: 's', user: 'u', appDefinition: 'java' } },
    changes: [
      { spec: { workspace: 'w' } },
      { spec: { envVars: { A: 'b' } } },
      { spec: { envVarsFromSecrets: ['s'] } },
    ],
    oddities: [
      { spec: { user: null } },
      { spec: null },
      { spec: { appDefinition: 'no name' } },
      { spec: { envVars: { A: [] } } },
    ],
    statuses: [{ status: { operatorStatus: 'HANDLED', url: 'u' } }, { status: { lastActivity: 'now' } }],
  },
  {
    plural: 'workspaces',
    kind: 'Workspace',
    apiVersion: 'theia.cloud/v1beta5',
    custom: true,
    status: true,
    fields: { spec: { name: 'w', user: 'u' } },
    changes: [{ spec: { storage: 'p' } }, { spec: { label: 'l' } }],
    oddities: [{ spec: { name: null } }, { spec: { label: 1 } }],
    statuses: [{ status: { volumeClaim: { status: 'ok' } } }],
  },
  {
    plural: 'httproutes',
    kind: 'HTTPRoute',
    apiVersion: 'gateway.networking.k8s.io/v1',
    custom: true,
    status: true,
    fields: { spec: GOOD_ROUTE },
    changes: [
      { spec: { hostnames: ['*.example.org'] } },
      { spec: { rules: [{ backendRefs: [{ name: 'b', port: 81, weight: 0 }] }] } },
    ],
    oddities: [
      { spec: { hostnames: ['Not A Host'] } },
      { spec: { rules: [{ matches: [{ path: { type: 'Nothing' } }] }] } },
      { spec: { rules: [{ backendRefs: [{ name: 'b', port: 0 }] }] } },
      { spec: { rules: [{ backendRefs: [{ name: 'b' }] }] } },
      { spec: { rules: [{ matches: [{ path: { type: 'PathPrefix', value: 'a' } }] }] } },
    ],
    statuses: [{ status: { parents: [] } }, { status: { parents: [{ parentRef: { name: 'g' } }] } }],
  },
];

/** Every kind that Everwarm, the platforms and their users use. */
export const KINDS: readonly Kind[] = [...CORE, ...APPS, ...CUSTOM];

export function kindOf(plural: string): Kind {
  const found = KINDS.find((kind) => kind.plural === plural);
  if (found === undefined) throw new Error(`no kind ${plural}`);
  return found;
}

/** Where a kind's objects are, in the program's namespace. */
export function placeOf({ apiVersion, plural, clusterScoped }: Kind): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return clusterScoped === true ? `${root}/${plural}` : `${root}/namespaces/{ns}/${plural}`;
}
