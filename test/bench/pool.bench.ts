import { planPool } from '../../src/pool/plan.ts';
import type { Desired, Instance, Observed, Policy } from '../../src/pool/types.ts';
import { type Measure, medianMs } from './measure.ts';

const POLICY: Policy = { mode: 'guard', paused: false, maxUnavailable: '25%' };
const DESIRED: Omit<Desired, 'replicas'> = { revision: 'v1-b', sourceCounter: 2 };

/** A release has just come: every other instance is stale, one in seven is claimed. */
function observed(count: number): Observed {
  const instances = Array.from({ length: count }, (_, at): Instance => {
    const id = String(at + 1);
    return {
      slot: id,
      rank: at + 1,
      target: true,
      exists: true,
      anchor: { uid: `anchor-${id}`, resourceVersion: id },
      workload: { uid: `workload-${id}`, resourceVersion: id },
      phase: 'ready',
      absent: false,
      terminating: false,
      drift: at % 2 === 0 ? ['deployment: spec.template.spec.containers[ide].image'] : [],
      unstable: false,
      refresh: false,
      relabel: false,
      held: false,
      needs: [],
      claimable: true,
      ...(at % 7 === 0 ? { claimedBy: `user-${id}` } : {}),
    };
  });
  return {
    instances,
    memory: { ledger: [], waiting: [], conditions: [] },
    operator: { alive: false, startedAt: 0 },
    quiet: true,
    leftovers: [],
    quotas: '',
    pass: { token: 'pass', refusals: [] },
  };
}

function planMs(count: number): Promise<number> {
  const world = observed(count);
  return medianMs(() => planPool({ ...DESIRED, replicas: count }, world, POLICY, 0));
}

export const measures: readonly Measure[] = [
  { name: 'plan.1000', unit: 'ms', goal: { atMost: 2 }, run: () => planMs(1_000) },
  { name: 'plan.10000', unit: 'ms', goal: { atMost: 25 }, run: () => planMs(10_000) },
];
