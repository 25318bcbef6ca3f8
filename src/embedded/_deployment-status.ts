import { positive } from './_replica-sets.ts';
import { rollingLimits } from './_rolling-update.ts';
import {
  type Condition,
  type Deployment,
  type DeploymentStatus,
  type ReplicaSet,
  timestamp,
} from './_workloads.ts';

/** The status a Deployment should have now. Conditions that change move to the end, as the real controller has it. */
export function deploymentStatus(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  sets: readonly ReplicaSet[],
  now: number,
): DeploymentStatus {
  const counts = countPods(deployment, fresh, sets);
  let conditions = setCondition(deployment.status?.conditions ?? [], availability(deployment, counts), now);
  const progress = progressing(deployment, counts, fresh, now);
  if (progress !== undefined) conditions = setCondition(conditions, progress, now);
  const failure = (fresh === undefined ? sets : [fresh]).flatMap(failureOf)[0];
  conditions =
    failure === undefined
      ? conditions.filter(isNot('ReplicaFailure'))
      : setCondition(conditions, failure, now);
  return { ...counts, conditions };
}

/** Puts a condition in, keeping the old one when neither status nor reason changed. */
export function setCondition(
  conditions: readonly Condition[],
  { type, status, reason, message }: Finding,
  now: number,
): readonly Condition[] {
  const known = conditions.find((condition) => condition.type === type);
  if (known?.status === status && known.reason === reason) return conditions;
  const at = timestamp(now);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? at) : at;
  return [
    ...conditions.filter(isNot(type)),
    { lastTransitionTime, lastUpdateTime: at, message, reason, status, type },
  ];
}

/** When a Deployment that does not get on will be called stuck, epoch ms; `undefined` when it is done or called so. */
export function progressDeadline(deployment: Deployment): number | undefined {
  const progress = deployment.status?.conditions?.find((condition) => condition.type === 'Progressing');
  if (progress === undefined || progress.reason === 'NewReplicaSetAvailable' || progress.status === 'False') {
    return undefined;
  }
  const seconds = deployment.spec.progressDeadlineSeconds ?? 600;
  return Date.parse(progress.lastUpdateTime ?? '') + seconds * 1_000;
}

/** What a condition says, before it has its times. */
export interface Finding {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const isNot =
  (type: string) =>
  (condition: Condition): boolean =>
    condition.type !== type;

type Counts = Omit<DeploymentStatus, 'conditions'>;

function countPods(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  sets: readonly ReplicaSet[],
): Counts {
  const sum = (of: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((total, set) => total + (of(set) ?? 0), 0);
  const available = sum((set) => set.status?.availableReplicas);
  return {
    ...positive('collisionCount', deployment.status?.collisionCount ?? 0),
    observedGeneration: deployment.metadata.generation ?? 0,
    ...positive(
      'replicas',
      sum((set) => set.status?.replicas),
    ),
    ...positive('updatedReplicas', fresh?.status?.replicas ?? 0),
    ...positive(
      'readyReplicas',
      sum((set) => set.status?.readyReplicas),
    ),
    ...positive('availableReplicas', available),
    ...positive('unavailableReplicas', Math.max(0, sum((set) => set.spec.replicas) - available)),
  };
}

function availability(deployment: Deployment, counts: Counts): Finding {
  const enough = deployment.spec.replicas - rollingLimits(deployment).maxUnavailable;
  return (counts.availableReplicas ?? 0) >= enough
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

function progressing(
  deployment: Deployment,
  counts: Counts,
  fresh: ReplicaSet | undefined,
  now: number,
): Finding | undefined {
  const known = deployment.status?.conditions?.find((condition) => condition.type === 'Progressing');
  const updated = counts.updatedReplicas ?? 0;
  const replicas = counts.replicas ?? 0;
  if (known?.reason === 'NewReplicaSetAvailable' && replicas === updated) return undefined;
  const name = `ReplicaSet "${fresh?.metadata.name ?? ''}"`;
  const wanted = deployment.spec.replicas;
  if (updated === wanted && replicas === wanted && (counts.availableReplicas ?? 0) === wanted) {
    return progress('True', 'NewReplicaSetAvailable', `${name} has successfully progressed.`);
  }
  if (gotOn(deployment.status ?? {}, counts)) {
    return progress('True', 'ReplicaSetUpdated', `${name} is progressing.`);
  }
  const deadline = progressDeadline(deployment);
  return deadline !== undefined && deadline < now
    ? progress('False', 'ProgressDeadlineExceeded', `${name} has timed out progressing.`)
    : undefined;
}

const progress = (status: Finding['status'], reason: string, message: string): Finding => ({
  type: 'Progressing',
  status,
  reason,
  message,
});

/** Anything better than last time: more updated, ready or available pods, or fewer old ones. */
function gotOn(before: Counts, after: Counts): boolean {
  const old = (counts: Counts): number => (counts.replicas ?? 0) - (counts.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function failureOf(set: ReplicaSet): readonly Finding[] {
  const failure = set.status?.conditions?.find((condition) => condition.type === 'ReplicaFailure');
  if (failure === undefined) return [];
  const { status, reason = '', message = '' } = failure;
  return [{ type: 'ReplicaFailure', status, reason, message }];
}
