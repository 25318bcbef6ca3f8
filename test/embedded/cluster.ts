import { seededRandom } from '../../src/clock.ts';
import { createDeploymentController } from '../../src/embedded/deployments.ts';
import { createKubelet, type Kubelet, type KubeletOptions } from '../../src/embedded/kubelet.ts';
import { nextDue } from '../../src/embedded/runner.ts';
import { createStore, type EmbeddedStore } from '../../src/embedded/store.ts';
import type { Actor, Commit, StoreResponse } from '../../src/embedded/types.ts';
import type { KubeObject, Resource } from '../../src/kube/api.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
export const REPLICA_SETS: Resource = { ...DEPLOYMENTS, kind: 'ReplicaSet', plural: 'replicasets' };
export const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
export const QUOTAS: Resource = { ...PODS, kind: 'ResourceQuota', plural: 'resourcequotas' };

/** A small cluster whose time moves only in `runFor`. */
export interface Cluster {
  readonly store: EmbeddedStore;
  readonly kubelet: Kubelet;
  readonly commits: readonly Commit[];
  now(): number;
  runFor(ms: number): void;
  create(resource: Resource, body: unknown): StoreResponse;
  merge(resource: Resource, name: string, body: unknown): StoreResponse;
  remove(resource: Resource, name: string): StoreResponse;
  find(resource: Resource, name: string): Seen | undefined;
  all(resource: Resource): readonly Seen[];
}

/** An object as a test looks at it. */
export interface Seen extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly unavailableReplicas?: number;
    readonly updatedReplicas?: number;
    readonly conditions?: readonly SeenCondition[];
    readonly containerStatuses?: readonly SeenContainer[];
  };
}
export interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}
interface SeenContainer {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: {
    readonly waiting?: { readonly reason: string; readonly message?: string };
    readonly running?: object;
  };
}

export function cluster(
  kubeletOptions: Partial<KubeletOptions> = {},
  more: (store: EmbeddedStore, now: () => number) => readonly Actor[] = () => [],
): Cluster {
  let time = START;
  const now = () => time;
  const random = seededRandom(1);
  const store = createStore({ now, random });
  const kubelet = createKubelet(store, { now, random, ...kubeletOptions });
  const actors = [createDeploymentController(store, { now }), kubelet, ...more(store, now)];
  const commits: Commit[] = [];
  store.onCommit((commit) => commits.push(commit));

  const place = { namespace: 'default', user: 'tester' };
  const read = (response: StoreResponse): Seen | undefined =>
    response.code === 200 ? (response.body as Seen) : undefined;
  return {
    store,
    kubelet,
    commits,
    now,
    runFor: (ms) => {
      const end = time + ms;
      for (;;) {
        const actor = nextDue(actors);
        const at = actor?.dueAt();
        if (actor === undefined || at === undefined || at > end) break;
        time = Math.max(time, at);
        actor.run();
      }
      time = end;
    },
    create: (resource, body) => store.execute({ verb: 'create', resource, body, ...place }),
    merge: (resource, name, body) =>
      store.execute({ verb: 'patch', patchType: 'merge', resource, name, body, ...place }),
    remove: (resource, name) => store.execute({ verb: 'delete', resource, name, ...place }),
    find: (resource, name) => read(store.execute({ verb: 'get', resource, name, ...place })),
    all: (resource) => {
      const { body } = store.execute({ verb: 'list', resource, ...place });
      return (body as unknown as { items: readonly Seen[] }).items;
    },
  };
}

/** A Deployment of one container, as a person would write it. */
export function deployment(name: string, spec: object = {}, annotations: Record<string, string> = {}) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: template(name, 'ide:1', annotations),
      ...spec,
    },
  };
}

export function template(app: string, image: string, annotations: Record<string, string> = {}) {
  return { metadata: { labels: { app }, annotations }, spec: { containers: [{ name: 'ide', image }] } };
}

/** The condition of one type, without its times. */
export function condition(object: Seen | undefined, type: string): SeenCondition | undefined {
  const found = object?.status?.conditions?.find((candidate) => candidate.type === type);
  if (found === undefined) return undefined;
  const { status, reason, message } = found;
  return {
    type,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
