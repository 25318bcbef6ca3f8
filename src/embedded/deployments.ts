import { deploymentStatus, progressDeadline, setCondition } from './_deployment-status.ts';
import { replicaSetControl } from './_replica-sets.ts';
import { freshReplicas, nextScale, rollingLimits } from './_rolling-update.ts';
import { createWorkList } from './_work-list.ts';
import { cacheKind, type KindCache } from './_workload-cache.ts';
import {
  authoredTemplate,
  controllerOf,
  controllerReference,
  DEPLOYMENTS,
  type Deployment,
  type DeploymentStatus,
  HASH_LABEL,
  isActive,
  keyOf,
  PODS,
  type Pod,
  REPLICA_SETS,
  type ReplicaSet,
  templateHash,
} from './_workloads.ts';
import { deepEqual } from './json.ts';
import type { Actor, Store } from './types.ts';

const USER = 'system:serviceaccount:kube-system:deployment-controller';
const REVISION = 'deployment.kubernetes.io/revision';
/** Annotations of a Deployment that are not its ReplicaSets' business. */
const NOT_COPIED = new Set(['kubectl.kubernetes.io/last-applied-configuration', REVISION]);
/** A deadline is looked at a moment after it has passed. */
const DEADLINE_SLACK_MS = 1_000;

export interface DeploymentControllerOptions {
  readonly now: () => number;
  /** From a change to the first reaction (default 5 ms). */
  readonly lagMs?: number;
}

/**
 * The Deployment and ReplicaSet controllers of kube-controller-manager: ReplicaSet and pods for each Deployment, rolling
 * updates, scaling, and the status with its conditions as the real ones write it. What it lacks: proportional scaling
 * while several ReplicaSets have pods, adoption of orphans, rollback commands.
 */
export function createDeploymentController(store: Store, options: DeploymentControllerOptions): Actor {
  const { now } = options;
  const work = createWorkList();
  const look = (key: string): void => work.add(key, now() + (options.lagMs ?? 5));

  const deployments = cacheKind<Deployment>(store, DEPLOYMENTS, (object) => look(`d:${keyOf(object)}`));
  const replicaSets = cacheKind<ReplicaSet>(store, REPLICA_SETS, (object) => {
    look(`r:${keyOf(object)}`);
    const owner = controllerOf(object);
    if (owner?.kind === 'Deployment') look(`d:${object.metadata.namespace}/${owner.name}`);
  });
  const pods = cacheKind<Pod>(store, PODS, (object, commit) => {
    const owner = controllerOf(object);
    if (owner?.kind !== 'ReplicaSet') return;
    const set = `${object.metadata.namespace}/${owner.name}`;
    look(`r:${set}`);
    // A Deployment that recreates waits for the very end of its old pods.
    const above = commit?.type === 'DELETED' ? controllerOf(replicaSets.get(set) ?? object) : undefined;
    if (above?.kind === 'Deployment') look(`d:${object.metadata.namespace}/${above.name}`);
  });
  const sets = replicaSetControl(store, now, replicaSets, pods);
  const desk: Desk = { store, now, replicaSets, pods };

  return {
    name: 'deployment-controller',
    dueAt: () => work.dueAt(),
    run: () => {
      const key = work.take(now());
      if (key === undefined) return;
      const [kind, place] = [key.slice(0, 1), key.slice(2)];
      const again = kind === 'r' ? sets.sync(place) : syncDeployment(desk, deployments.get(place));
      if (again !== undefined) work.add(key, again);
    },
  };
}

interface Desk {
  readonly store: Store;
  readonly now: () => number;
  readonly replicaSets: KindCache<ReplicaSet>;
  readonly pods: KindCache<Pod>;
}

/** One step for one Deployment; its own commit brings the next. Returns when to look again although nothing changed. */
function syncDeployment(desk: Desk, deployment: Deployment | undefined): number | undefined {
  if (deployment === undefined) return undefined;
  const sets = [...desk.replicaSets.ownedBy(deployment.metadata.uid)].sort(byAge);
  const template = authoredTemplate(deployment.spec.template);
  const fresh = sets.find((set) => deepEqual(authoredTemplate(set.spec.template), template));
  const old = sets.filter((set) => set !== fresh);
  const acted =
    deployment.metadata.deletionTimestamp === undefined &&
    deployment.spec.paused !== true &&
    (fresh === undefined
      ? beginRevision(desk, deployment, old)
      : continueRevision(desk, deployment, fresh, old));
  if (acted) return undefined;

  const status = deploymentStatus(deployment, fresh, sets, desk.now());
  if (!deepEqual(status, deployment.status)) writeStatus(desk, deployment, status);
  const deadline = progressDeadline({ ...deployment, status });
  return deadline === undefined ? undefined : Math.max(desk.now(), deadline) + DEADLINE_SLACK_MS;
}

const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1;

/** Makes the ReplicaSet of a new template, or makes room for it; `false` when there is nothing to do but wait. */
function beginRevision(desk: Desk, deployment: Deployment, old: readonly ReplicaSet[]): boolean {
  if (deployment.spec.strategy?.type === 'Recreate' && old.length > 0) {
    const standing = old.find((set) => set.spec.replicas > 0);
    if (standing !== undefined) return writeScale(desk, deployment, standing, 0);
    const stopping = old.some((set) => desk.pods.ownedBy(set.metadata.uid).some((pod) => !isFinished(pod)));
    if (stopping) return false;
  }
  const body = replicaSetFor(deployment, old);
  const namespace = deployment.metadata.namespace ?? '';
  const { code } = desk.store.execute({
    verb: 'create',
    resource: REPLICA_SETS,
    namespace,
    body,
    user: USER,
  });
  if (code === 409) {
    // The name is taken by a ReplicaSet that is not this Deployment's: the next try hashes to another name.
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    writeStatus(desk, deployment, { ...deployment.status, collisionCount });
    return true;
  }
  if (code !== 201) return false;
  announce(desk, deployment, body.metadata.annotations[REVISION], {
    reason: 'NewReplicaSetCreated',
    message: `Created new replica set "${body.metadata.name}"`,
  });
  return true;
}

const isFinished = (pod: Pod): boolean => !isActive(pod) && pod.metadata.deletionTimestamp === undefined;

/** The next write towards a template whose ReplicaSet exists; `false` when there is none. */
function continueRevision(
  desk: Desk,
  deployment: Deployment,
  fresh: ReplicaSet,
  old: readonly ReplicaSet[],
): boolean {
  const notes = copiedNotes(deployment);
  if (Object.entries(notes).some(([key, value]) => fresh.metadata.annotations?.[key] !== value)) {
    return writeSet(desk, { ...fresh, metadata: annotated(fresh.metadata, notes) });
  }
  const revision = String(nextRevision(old));
  if (Number(fresh.metadata.annotations?.[REVISION] ?? 0) < Number(revision)) {
    return writeSet(desk, { ...fresh, metadata: annotated(fresh.metadata, { [REVISION]: revision }) });
  }
  const noted = fresh.metadata.annotations?.[REVISION] ?? revision;
  if (deployment.metadata.annotations?.[REVISION] !== noted) {
    const news = { reason: 'FoundNewReplicaSet', message: `Found new replica set "${fresh.metadata.name}"` };
    if (announce(desk, deployment, noted, news)) return true;
  }
  const scale = nextScale(deployment, fresh, old);
  if (scale !== undefined) return writeScale(desk, deployment, scale.set, scale.replicas);
  return forgetOldest(desk, deployment, old);
}

/** Deletes one empty ReplicaSet more than the history is to keep, once the roll-out is complete. */
function forgetOldest(desk: Desk, deployment: Deployment, old: readonly ReplicaSet[]): boolean {
  const empty = old.filter((set) => set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0);
  const oldest = empty[0];
  if (oldest === undefined || empty.length <= (deployment.spec.revisionHistoryLimit ?? 10)) return false;
  const { namespace = '', name } = oldest.metadata;
  desk.store.execute({ verb: 'delete', resource: REPLICA_SETS, namespace, name, user: USER });
  return true;
}

const nextRevision = (old: readonly ReplicaSet[]): number =>
  1 + Math.max(0, ...old.map((set) => Number(set.metadata.annotations?.[REVISION] ?? 0)));

/** The annotations of a Deployment that its ReplicaSet carries too. */
const copiedNotes = ({ metadata }: Deployment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key)));

function replicaSetFor(deployment: Deployment, old: readonly ReplicaSet[]) {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template, deployment.status?.collisionCount ?? 0);
  const labels = { ...spec.template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      labels,
      annotations: {
        ...copiedNotes(deployment),
        ...scaleNotes(deployment),
        [REVISION]: String(nextRevision(old)),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: freshReplicas(deployment, undefined, old),
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

/** What a ReplicaSet notes about the Deployment that scaled it. */
function scaleNotes(deployment: Deployment): Readonly<Record<string, string>> {
  const { replicas } = deployment.spec;
  return {
    'deployment.kubernetes.io/desired-replicas': String(replicas),
    'deployment.kubernetes.io/max-replicas': String(replicas + rollingLimits(deployment).maxSurge),
  };
}

function writeScale(desk: Desk, deployment: Deployment, set: ReplicaSet, replicas: number): true {
  const metadata = annotated(set.metadata, scaleNotes(deployment));
  return writeSet(desk, { ...set, metadata, spec: { ...set.spec, replicas } });
}

function writeSet(desk: Desk, set: ReplicaSet): true {
  const { namespace = '', name } = set.metadata;
  desk.store.execute({ verb: 'update', resource: REPLICA_SETS, namespace, name, body: set, user: USER });
  return true;
}

/** Says in one write which revision the Deployment is at and that it is under way; `false` when that was no news. */
function announce(
  desk: Desk,
  deployment: Deployment,
  revision: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): boolean {
  const known = deployment.status?.conditions ?? [];
  const finding = { type: 'Progressing', status: 'True', reason, message } as const;
  // A ReplicaSet that was found again is news only to a Deployment that says nothing about its progress yet.
  const silent = reason === 'FoundNewReplicaSet' && known.some(({ type }) => type === 'Progressing');
  const conditions = silent ? known : setCondition(known, finding, desk.now());
  const metadata = annotated(deployment.metadata, { [REVISION]: revision });
  return writeStatus(desk, { ...deployment, metadata }, { ...deployment.status, conditions });
}

/** Writes the status and, as the real API allows here, the annotations; `false` when nothing changed. */
function writeStatus(desk: Desk, deployment: Deployment, status: DeploymentStatus): boolean {
  const { namespace = '', name, resourceVersion } = deployment.metadata;
  const place = { resource: DEPLOYMENTS, namespace, name, subresource: 'status' };
  const body = { ...deployment, status };
  const answer = desk.store.execute({ verb: 'update', ...place, body, user: USER });
  return answer.code === 200 && answer.body.metadata.resourceVersion !== resourceVersion;
}

const annotated = <M extends Deployment['metadata']>(
  metadata: M,
  notes: Readonly<Record<string, string>>,
): M => ({
  ...metadata,
  annotations: { ...metadata.annotations, ...notes },
});
