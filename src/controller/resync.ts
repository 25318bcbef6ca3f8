import type { KubeApi } from '../kube/api.ts';
import type { Platform } from '../platform/platform.ts';
import type { PoolKey } from '../pool/key.ts';
import { isEmpty, planPool } from '../pool/plan.ts';
import type { Plan, PoolStatus } from '../pool/types.ts';

export interface ResyncDeps {
  readonly api: KubeApi;
  readonly platform: Platform;
  readonly cluster: string;
  readonly namespace: string;
  readonly enqueue: (key: PoolKey) => void;
  /** Told of each pool that was seen: how long its unclaimed instances have not all been current, 0 when they are. */
  readonly onSeen?: (key: PoolKey, staleSeconds: number, status: PoolStatus) => void;
}

/**
 * Looks at every pool of one namespace, whether or not anything was said: lists each kind once for all of them and enqueues
 * only those whose plan is not empty or whose check is due. Returns how many pools it saw.
 */
export async function resync(deps: ResyncDeps): Promise<number> {
  const { api, platform, cluster, namespace, enqueue, onSeen } = deps;
  const observations = await platform.observe(api, { cluster, namespace }, { quota: false });
  for (const { key, desired, observed, policy, now } of observations) {
    const plan = planPool(desired, { ...observed, pass: { token: '', refusals: [] } }, policy, now);
    const due = observed.memory.nextCheckAt !== undefined && observed.memory.nextCheckAt <= now;
    const writes = policy.mode === 'guard' || plan.leaving;
    if (writes && (due || !isEmpty(plan))) enqueue(key);
    onSeen?.(key, staleSeconds(plan, now), plan.status);
  }
  return observations.length;
}

function staleSeconds({ status }: Plan, now: number): number {
  const current = status.conditions.find(({ type }) => type === 'Current');
  if (current?.status !== 'False') return 0;
  return Math.max(0, Math.floor((now - Date.parse(current.lastTransitionTime)) / 1_000));
}
