import { readFileSync } from 'node:fs';
import { seededRandom } from '../../../src/clock.ts';
import { createNamespaces, installCrds } from '../../../src/embedded/boot.ts';
import { createClaimProtection } from '../../../src/embedded/claims.ts';
import { createDeploymentController } from '../../../src/embedded/deployments.ts';
import { directApi } from '../../../src/embedded/direct.ts';
import { createGarbageCollector } from '../../../src/embedded/gc.ts';
import { createKubelet, type Kubelet } from '../../../src/embedded/kubelet.ts';
import { runActors } from '../../../src/embedded/runner.ts';
import { createStore, type EmbeddedStore } from '../../../src/embedded/store.ts';
import type { StoreRequest, StoreResponse } from '../../../src/embedded/types.ts';
import type { KubeApi, KubeObject, Resource } from '../../../src/kube/api.ts';
import { APP_DEFINITIONS_V1BETA11 } from '../../../src/platform/theia-cloud/resources.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/simulator/virtual-clock.ts';
import {
  appDefinition,
  installBaseObjects,
  RECORDED_SETTINGS,
} from '../../../src/simulator/world/theia-install.ts';
import {
  createTheiaOperator,
  type TheiaOperator,
  type TheiaOperatorOptions,
} from '../../../src/simulator/world/theia-operator.ts';
import { createUsers, type Users } from '../../../src/simulator/world/users.ts';

export const NAMESPACE = 'theia-demo';
export const POOL = 'java-17-course';
const FIXTURES = new URL('../../fixtures/theia-cloud/', import.meta.url);
const START = Date.parse('2026-01-01T00:00:00Z');

type Fields = Readonly<Record<string, unknown>>;

/** A cluster with a Theia Cloud installation in it, driven by a clock that moves when it is told to. */
export interface World {
  readonly clock: VirtualClock;
  readonly store: EmbeddedStore;
  readonly kubelet: Kubelet;
  /** As an administrator. */
  readonly api: KubeApi;
  readonly users: Users;
  readonly operator: TheiaOperator;
  readonly log: readonly string[];
  /** A second operator process in the same namespace. */
  anotherOperator(options?: Partial<TheiaOperatorOptions>): TheiaOperator;
  startOperator(): Promise<void>;
  createPool(minInstances: number, fields?: Fields, name?: string): Promise<void>;
  changePool(spec: Fields, name?: string): Promise<void>;
  annotatePool(annotations: Readonly<Record<string, string>>): Promise<void>;
  /** Everything that is there of a kind. */
  all(resource: Resource): Promise<readonly KubeObject[]>;
  /** What the operator sent from now on, until the returned function is called. */
  record(): () => readonly Sent[];
}

/** One request of the operator and what became of it. */
export interface Sent {
  readonly verb: string;
  readonly resource: string;
  readonly name: string | null;
  readonly code: number;
  readonly query?: string;
  readonly patch?: readonly Readonly<Record<string, unknown>>[];
}

export interface WorldOptions extends Partial<TheiaOperatorOptions> {
  /** How long the garbage collector takes to look at a change. */
  readonly gcLagMs?: number;
  /** Answers one of the operator's requests in the server's place. */
  readonly intercept?: (request: StoreRequest) => StoreResponse | undefined;
}

const OPERATOR = 'system:serviceaccount:theia-demo:operator';

export async function theiaCloud({ gcLagMs = 20, intercept, ...options }: WorldOptions = {}): Promise<World> {
  const clock = createVirtualClock(START);
  const now = () => clock.now();
  const random = seededRandom(7);
  const store = createStore({ now, random });
  installCrds(store, new URL('crds/', FIXTURES).pathname);
  createNamespaces(store, [NAMESPACE]);
  const kubelet = createKubelet(store, { now, random });
  const controller = createDeploymentController(store, { now });
  const protection = createClaimProtection(store, { now });
  const collector = createGarbageCollector(store, { now, lagMs: gcLagMs });
  runActors([collector, controller, kubelet, protection], clock, store);

  const api = directApi(store, { user: 'kubectl', now });
  const sent: Sent[] = [];
  const log: string[] = [];
  const watched = recording(store, sent, intercept);
  const settings = options.settings ?? RECORDED_SETTINGS;
  await installBaseObjects(api, { namespace: NAMESPACE, settings });
  const makeOperator = (more: Partial<TheiaOperatorOptions> = {}) =>
    createTheiaOperator({
      api: directApi(watched, { user: OPERATOR, now }),
      clock,
      random,
      namespace: NAMESPACE,
      settings,
      log: (line) => log.push(line),
      ...options,
      ...more,
    });
  const operator = makeOperator();

  const world: World = {
    clock,
    store,
    kubelet,
    api,
    users: createUsers({ api, namespace: NAMESPACE }),
    operator,
    log,
    anotherOperator: makeOperator,
    startOperator: async () => {
      let isUp = false;
      const up = operator.start().then(() => {
        isUp = true;
      });
      while (!isUp && (await clock.step(Number.POSITIVE_INFINITY)));
      await up;
      await clock.advance(2_000);
    },
    createPool: async (minInstances, fields = {}, name = POOL) => {
      await api.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, appDefinition(name, { minInstances, ...fields }));
      await clock.advance(8_000);
    },
    changePool: async (spec, name = POOL) => {
      const patch = { type: 'merge', patch: { spec } } as const;
      await api.patch(APP_DEFINITIONS_V1BETA11, { namespace: NAMESPACE, name }, patch);
    },
    annotatePool: async (annotations) => {
      const patch = { type: 'merge', patch: { metadata: { annotations } } } as const;
      await api.patch(APP_DEFINITIONS_V1BETA11, { namespace: NAMESPACE, name: POOL }, patch);
    },
    all: async (resource) => {
      const outcome = await api.list(resource, { namespace: NAMESPACE });
      return outcome.kind === 'ok' ? outcome.value.items : [];
    },
    record: () => {
      const from = sent.length;
      return () => sent.slice(from);
    },
  };
  return world;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete']);
export const isWrite = ({ verb }: Sent): boolean => WRITES.has(verb);

function recording(store: EmbeddedStore, sent: Sent[], intercept: WorldOptions['intercept']): EmbeddedStore {
  return {
    ...store,
    execute: (request) => {
      const response = intercept?.(request) ?? store.execute(request);
      // The Lease goes on all the time and is in no recording.
      if (request.resource.plural !== 'leases') sent.push(sentOf(request, response));
      return response;
    },
  };
}

function sentOf(request: StoreRequest, response: StoreResponse): Sent {
  const { verb, resource, subresource, name, body, options } = request;
  const created = verb === 'create' ? (body as KubeObject).metadata.name : undefined;
  return {
    verb,
    resource: subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`,
    name: name ?? created ?? null,
    code: response.code,
    ...(options?.labelSelector === undefined
      ? {}
      : { query: `labelSelector=${encodeURIComponent(options.labelSelector)}` }),
    ...(verb === 'patch' ? { patch: body as NonNullable<Sent['patch']> } : {}),
  };
}

/** What the real operator sent in one recorded case, garbage collector and trigger left out. */
export function recorded(file: string): readonly Sent[] {
  const entries: readonly (Sent & { readonly who: string })[] = JSON.parse(
    readFileSync(new URL(`sequences/${file}.json`, FIXTURES), 'utf8'),
  );
  return entries.filter(({ who }) => who === 'operator');
}

/** Requests with everything taken out that differs from one cluster or minute to the next. */
export function comparable(requests: readonly Sent[]): readonly string[] {
  return requests.map(({ verb, resource, name, code, query, patch }) => {
    const operations = (patch ?? []).map((operation) =>
      operation['path'] === '/metadata/resourceVersion'
        ? 'resourceVersion'
        : JSON.stringify(operation, sortKeys),
    );
    const line = [verb, resource, name ?? '*', code, query ?? '', ...operations].join(' ');
    return line
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/-[0-9a-f]{12}-[a-z0-9]{6,10}-[a-z0-9]{5}(?= )/g, '-POD')
      .replaceAll(/-[0-9a-f]{12}/g, '-UID')
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, 'TIME')
      .replaceAll(/:1\d{12}\b/g, ':MS');
  });
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
