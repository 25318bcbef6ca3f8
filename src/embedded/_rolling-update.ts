import type { Deployment, ReplicaSet } from './_workloads.ts';
import { record } from './json.ts';

/** How many pods one ReplicaSet shall have from now on. */
export interface Scale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

/** How far a Deployment may go above and below its replicas while it rolls; never zero both. */
export function rollingLimits({ spec }: Deployment): {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
} {
  if (spec.strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const rolling = record(spec.strategy?.rollingUpdate);
  const maxSurge = resolve(rolling['maxSurge'] ?? '25%', spec.replicas, Math.ceil);
  const maxUnavailable = resolve(rolling['maxUnavailable'] ?? '25%', spec.replicas, Math.floor);
  const stuck = maxSurge === 0 && maxUnavailable === 0;
  return { maxSurge, maxUnavailable: Math.min(spec.replicas, stuck ? 1 : maxUnavailable) };
}

function resolve(value: unknown, of: number, round: (n: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = Number.parseInt(String(value), 10);
  return Number.isNaN(percent) ? 0 : round((percent * of) / 100);
}

/** The next ReplicaSet to scale, if any: the current one up first, then old ones down as far as availability allows. */
export function nextScale(
  deployment: Deployment,
  fresh: ReplicaSet,
  old: readonly ReplicaSet[],
): Scale | undefined {
  const wanted = freshReplicas(deployment, fresh, old);
  if (wanted !== fresh.spec.replicas) return { set: fresh, replicas: wanted };
  if (deployment.spec.strategy?.type === 'Recreate') return old.filter(hasPods).map(emptied)[0];
  return shrinkOld(deployment, fresh, old);
}

const hasPods = (set: ReplicaSet): boolean => set.spec.replicas > 0;
const emptied = (set: ReplicaSet): Scale => ({ set, replicas: 0 });

/** As many pods as the surge leaves room for, counting what the old ReplicaSets still hold. */
export function freshReplicas(
  deployment: Deployment,
  fresh: Pick<ReplicaSet, 'spec'> | undefined,
  old: readonly ReplicaSet[],
): number {
  const wanted = deployment.spec.replicas;
  const has = fresh?.spec.replicas ?? 0;
  if (has >= wanted || deployment.spec.strategy?.type === 'Recreate') return wanted;
  const room = wanted + rollingLimits(deployment).maxSurge - has - total(old);
  return has + Math.max(0, Math.min(room, wanted - has));
}

function shrinkOld(deployment: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): Scale | undefined {
  const minAvailable = deployment.spec.replicas - rollingLimits(deployment).maxUnavailable;
  const freshUnavailable = fresh.spec.replicas - available(fresh);
  const spare = total(old) + fresh.spec.replicas - minAvailable - freshUnavailable;
  if (spare <= 0) return undefined;
  const withPods = old.filter(hasPods);
  // Pods that serve nobody go first, whatever their age.
  const broken = withPods.find((set) => available(set) < set.spec.replicas);
  if (broken !== undefined) {
    const gone = Math.min(spare, broken.spec.replicas - available(broken));
    return { set: broken, replicas: broken.spec.replicas - gone };
  }
  const serving = withPods.reduce((sum, set) => sum + available(set), available(fresh)) - minAvailable;
  const oldest = withPods[0];
  if (serving <= 0 || oldest === undefined) return undefined;
  return { set: oldest, replicas: Math.max(0, oldest.spec.replicas - serving) };
}

const available = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0;
const total = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + set.spec.replicas, 0);
