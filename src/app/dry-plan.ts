import type { Observation } from '../platform/platform.ts';
import { planPool } from '../pool/plan.ts';
import type { Plan, Waiting } from '../pool/types.ts';
import type { PoolLook } from './look.ts';

/** Longer than anything waits for by time alone. */
const LONG_AGO_MS = 24 * 3_600_000;

/**
 * What would be done about a pool that is only observed, if it were guarded. One look remembers nothing: what waits by time
 * (for the operator to fill a slot, to clean one) would begin to wait now, so that time is taken for over.
 */
function planAsGuard({ observation }: Pick<PoolLook, 'observation'>): Plan {
  const first = guardPlan(observation, observation.observed.memory.waiting);
  return guardPlan(observation, first.status.waiting.map(waitedOut));
}

/** The plan that people are shown: what is about to be done, or what guard would do where nothing is done. */
export function shownPlan(look: Pick<PoolLook, 'observation' | 'plan'>): Plan {
  return isDone(look) ? look.plan : planAsGuard(look);
}

/** What is planned is carried out, by whoever runs. */
export function isDone({ observation, plan }: Pick<PoolLook, 'observation' | 'plan'>): boolean {
  return observation.policy.mode === 'guard' || plan.leaving;
}

function guardPlan({ desired, observed, policy, now }: Observation, waiting: readonly Waiting[]): Plan {
  const memory = { ...observed.memory, waiting, observedGeneration: desired.sourceCounter };
  const pass = { token: '', refusals: [] };
  return planPool(desired, { ...observed, memory, pass }, { ...policy, mode: 'guard' }, now);
}

function waitedOut(entry: Waiting): Waiting {
  return { ...entry, since: entry.since - LONG_AGO_MS };
}
