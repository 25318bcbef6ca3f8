import type { KindCache } from './_workload-cache.ts';
import {
  type Condition,
  controllerReference,
  isActive,
  PODS,
  type Pod,
  REPLICA_SETS,
  type ReplicaSet,
  readySince,
  refusalOf,
  timestamp,
} from './_workloads.ts';
import { deepEqual } from './json.ts';
import type { Store, StoreResponse } from './types.ts';

const USER = 'system:serviceaccount:kube-system:replicaset-controller';
/** A refused create is tried again after this time, doubled each time up to the limit; a new annotation brings it forward. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 240_000;

/** Keeps the pods of ReplicaSets: as many as wanted, and a status that says so. */
export interface ReplicaSetControl {
  /** One step for one ReplicaSet (at most one write); returns when to look again although nothing changed. */
  sync(key: string): number | undefined;
}

export function replicaSetControl(
  store: Store,
  now: () => number,
  replicaSets: KindCache<ReplicaSet>,
  pods: KindCache<Pod>,
): ReplicaSetControl {
  const desk: Desk = { store, now, pods, refused: new Map() };
  return {
    sync: (key) => {
      const set = replicaSets.get(key);
      if (set !== undefined) return syncReplicaSet(desk, key, set);
      desk.refused.delete(key);
      return undefined;
    },
  };
}

interface Desk {
  readonly store: Store;
  readonly now: () => number;
  readonly pods: KindCache<Pod>;
  /** ReplicaSets whose last pod was refused. */
  readonly refused: Map<string, Refusal>;
}

function syncReplicaSet(
  { store, now, pods, refused }: Desk,
  key: string,
  set: ReplicaSet,
): number | undefined {
  const active = pods.ownedBy(set.metadata.uid).filter(isActive);
  const missing = set.metadata.deletionTimestamp === undefined ? set.spec.replicas - active.length : 0;
  if (missing <= 0) refused.delete(key);
  if (missing < 0) {
    deletePod(store, set, [...active].sort(byWorth)[0]);
    return undefined;
  }
  if (missing > 0 && isDue(refused.get(key), set, now())) {
    const created = createPod(store, set);
    if (created.code === 201) {
      refused.delete(key);
      return undefined;
    }
    refused.set(key, refusal(refused.get(key), set, refusalOf(created.body), now()));
  }
  return writeStatus(store, set, active, refused.get(key), now());
}

/** The real controller looks at a ReplicaSet whenever somebody writes on it, whatever its back-off says. */
const isDue = (last: Refusal | undefined, set: ReplicaSet, now: number): boolean =>
  last === undefined || last.retryAt <= now || !deepEqual(last.annotations, set.metadata.annotations);

interface Refusal {
  readonly annotations: ReplicaSet['metadata']['annotations'];
  readonly message: string;
  readonly tries: number;
  readonly retryAt: number;
}

const refusal = (before: Refusal | undefined, set: ReplicaSet, message: string, now: number): Refusal => {
  const tries = (before?.tries ?? 0) + 1;
  const { annotations } = set.metadata;
  return {
    annotations,
    message,
    tries,
    retryAt: now + Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (tries - 1)),
  };
};

function createPod(store: Store, set: ReplicaSet): StoreResponse {
  const { metadata, spec } = set.spec.template;
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      generateName: `${set.metadata.name}-`,
      ownerReferences: [controllerReference(set)],
    },
    spec,
  };
  return store.execute({ verb: 'create', resource: PODS, ...placeOf(set), body, user: USER });
}

function deletePod(store: Store, set: ReplicaSet, pod: Pod | undefined): void {
  if (pod === undefined) return;
  store.execute({ verb: 'delete', resource: PODS, ...placeOf(set), name: pod.metadata.name, user: USER });
}

/** The pod that is missed least comes first: not bound, then not ready, then ready for the shortest time. */
function byWorth(a: Pod, b: Pod): number {
  const worth = (pod: Pod): number =>
    pod.spec.nodeName === undefined ? 0 : readySince(pod) === undefined ? 1 : 2;
  return (
    worth(a) - worth(b) ||
    (readySince(b) ?? 0) - (readySince(a) ?? 0) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

/** Writes the status if it changed; returns when the next pod becomes available or the next try is due. */
function writeStatus(
  store: Store,
  set: ReplicaSet,
  active: readonly Pod[],
  failure: Refusal | undefined,
  now: number,
): number | undefined {
  const availableAt = active.flatMap((pod) => {
    const since = readySince(pod);
    return since === undefined ? [] : [since + (set.spec.minReadySeconds ?? 0) * 1_000];
  });
  const status = {
    replicas: active.length,
    ...positive('fullyLabeledReplicas', active.length),
    ...positive('readyReplicas', availableAt.length),
    ...positive('availableReplicas', availableAt.filter((at) => at <= now).length),
    observedGeneration: set.metadata.generation,
    ...conditions(set, failure, now),
  };
  if (!deepEqual(status, set.status)) {
    const body = { ...set, status };
    const at = { ...placeOf(set), name: set.metadata.name, subresource: 'status' };
    store.execute({ verb: 'update', resource: REPLICA_SETS, ...at, body, user: USER });
  }
  const later = availableAt.filter((at) => at > now);
  if (failure !== undefined) later.push(failure.retryAt);
  return later.length === 0 ? undefined : Math.min(...later);
}

function conditions(
  set: ReplicaSet,
  failure: Refusal | undefined,
  now: number,
): { conditions?: readonly Condition[] } {
  const known = set.status?.conditions?.find((condition) => condition.type === 'ReplicaFailure');
  if (failure === undefined) return {};
  // While the reason stays the same the first message stays too: a new pod name in it is no news.
  if (known?.reason === 'FailedCreate') return { conditions: [known] };
  const { message } = failure;
  const lastTransitionTime = timestamp(now);
  return {
    conditions: [
      { lastTransitionTime, message, reason: 'FailedCreate', status: 'True', type: 'ReplicaFailure' },
    ],
  };
}

/** Counters that are zero are not written. */
export const positive = <K extends string>(field: K, count: number): { readonly [key in K]?: number } =>
  count > 0 ? ({ [field]: count } as { readonly [key in K]?: number }) : {};

const placeOf = (set: ReplicaSet): { namespace: string } => ({ namespace: set.metadata.namespace ?? '' });
