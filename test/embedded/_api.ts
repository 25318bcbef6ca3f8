import { seededRandom } from '../../src/clock.ts';
import { createNamespaces, installCrds } from '../../src/embedded/boot.ts';
import { createStore, type EmbeddedStore, type StoreOptions } from '../../src/embedded/store.ts';
import type { RequestOptions, StoreRequest, StoreResponse } from '../../src/embedded/types.ts';
import type { KubeObject, Resource } from '../../src/kube/api.ts';

export const START = Date.parse('2026-01-01T00:00:00Z');
export const CRDS = new URL('../fixtures/theia-cloud/crds', import.meta.url).pathname;

function core(kind: string, plural: string, namespaced = true): Resource {
  return { group: '', version: 'v1', kind, plural, namespaced };
}

export const CONFIG_MAPS = core('ConfigMap', 'configmaps');
export const SECRETS = core('Secret', 'secrets');
export const SERVICES = core('Service', 'services');
export const PODS = core('Pod', 'pods');
export const CLAIMS = core('PersistentVolumeClaim', 'persistentvolumeclaims');
export const QUOTAS = core('ResourceQuota', 'resourcequotas');
export const EVENTS = core('Event', 'events');
export const NAMESPACES = core('Namespace', 'namespaces', false);
export const DEPLOYMENTS: Resource = { ...core('Deployment', 'deployments'), group: 'apps' };
export const LEASES: Resource = { ...core('Lease', 'leases'), group: 'coordination.k8s.io' };
export const DEFINITIONS: Resource = {
  ...core('CustomResourceDefinition', 'customresourcedefinitions', false),
  group: 'apiextensions.k8s.io',
};
export const WIDGETS: Resource = { ...core('Widget', 'widgets'), group: 'g.dev' };
export const PLAINS: Resource = { ...WIDGETS, kind: 'Plain', plural: 'plains' };

const FREE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The kind of the reference's examples, and one without a status subresource. */
export const WIDGET_CRD = definition(WIDGETS, {
  'x-kubernetes-validations': [
    { rule: '!has(self.min) || self.min <= self.size', message: 'min must not exceed size' },
  ],
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
    min: { type: 'integer' },
    mode: { type: 'string', enum: ['Eager', 'Lazy'], default: 'Eager' },
    image: { type: 'string', pattern: '^[a-z]+$' },
    note: { type: 'string', nullable: true },
    port: { 'x-kubernetes-int-or-string': true },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    envs: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, value: { type: 'string', default: 'none' } },
      },
    },
    fixed: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed stays' }],
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
});

const PLAIN_CRD = definition(PLAINS, {
  type: 'object',
  properties: { size: { type: 'integer' } },
});

function definition({ group, version, kind, plural }: Resource, spec: unknown) {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: FREE } } };
  const subresources =
    kind === 'Widget'
      ? { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } }
      : undefined;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema,
          ...(subresources === undefined ? {} : { subresources }),
        },
      ],
    },
  };
}

/** A store whose time the test moves, and short forms of the requests. */
export interface Api {
  readonly store: EmbeddedStore;
  /** Moves the clock. */
  pass(ms: number): void;
  now(): number;
  create(resource: Resource, body: unknown, more?: Partial<StoreRequest>): StoreResponse;
  get(resource: Resource, name: string, more?: Partial<StoreRequest>): StoreResponse;
  list(resource: Resource, options?: RequestOptions): StoreResponse;
  update(resource: Resource, name: string, body: unknown, more?: Partial<StoreRequest>): StoreResponse;
  merge(resource: Resource, name: string, body: unknown, more?: Partial<StoreRequest>): StoreResponse;
  json(resource: Resource, name: string, body: unknown, more?: Partial<StoreRequest>): StoreResponse;
  strategic(resource: Resource, name: string, body: unknown, more?: Partial<StoreRequest>): StoreResponse;
  remove(resource: Resource, name: string, options?: RequestOptions): StoreResponse;
}

/** A cluster with the namespace `ns` and the kinds Widget and Plain. */
export function openApi(options: Partial<StoreOptions> = {}): Api {
  let time = START;
  const store = createStore({ now: () => time, random: seededRandom(7), ...options });
  createNamespaces(store, ['ns']);
  installCrds(store, [WIDGET_CRD, PLAIN_CRD]);
  const send = (verb: StoreRequest['verb'], resource: Resource, fields: Partial<StoreRequest>) =>
    store.execute({
      verb,
      resource,
      user: 'somebody',
      ...(resource.namespaced ? { namespace: 'ns' } : {}),
      ...fields,
    });
  return {
    store,
    pass: (ms) => {
      time += ms;
    },
    now: () => time,
    create: (resource, body, more) => send('create', resource, { body, ...more }),
    get: (resource, name, more) => send('get', resource, { name, ...more }),
    list: (resource, wanted = {}) => send('list', resource, { options: wanted }),
    update: (resource, name, body, more) => send('update', resource, { name, body, ...more }),
    merge: (resource, name, body, more) =>
      send('patch', resource, { name, body, patchType: 'merge', ...more }),
    json: (resource, name, body, more) => send('patch', resource, { name, body, patchType: 'json', ...more }),
    strategic: (resource, name, body, more) =>
      send('patch', resource, { name, body, patchType: 'strategic', ...more }),
    remove: (resource, name, wanted = {}) => send('delete', resource, { name, options: wanted }),
  };
}

export function configMap(name: string, metadata: Readonly<Record<string, unknown>> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data: { a: '1' } };
}

export function widget(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
) {
  return { apiVersion: 'g.dev/v1', kind: 'Widget', metadata: { name, ...metadata }, spec };
}

export function plain(name: string, spec: Readonly<Record<string, unknown>> = {}) {
  return { apiVersion: 'g.dev/v1', kind: 'Plain', metadata: { name }, spec };
}

export function deployment(name: string, image = 'registry.example.org/web:1') {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  };
}

/** The names in a list, in its order. */
export function namesIn({ body }: StoreResponse): readonly string[] {
  return (body['items'] as readonly KubeObject[]).map(({ metadata }) => metadata.name);
}

/** The fields of a Status that say why. */
export function refusal({ code, body }: StoreResponse) {
  const { reason, message, details } = body;
  return { code, reason, message, details };
}
