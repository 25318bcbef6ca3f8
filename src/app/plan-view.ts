import { formatKey } from '../pool/key.ts';
import { timestamp } from '../pool/status.ts';
import { isDone, shownPlan } from './dry-plan.ts';
import type { PoolLook } from './look.ts';
import { countsNow } from './pool-view.ts';
import { heldIn, type RiskLevel, riskLevelOf, riskOf, waitIn, whatOf, whyOf } from './words.ts';

/** One action of a dry run, in its turn. */
interface PlannedAction {
  readonly slot: string;
  readonly action: string;
  /** The one object that is written on, where a user holds the instance. */
  readonly object?: string;
  readonly what: string;
  readonly why: string;
  readonly risk: string;
  readonly riskLevel: RiskLevel;
}

/** What one pass would do now, and what it would leave. Of a pool that is only observed: what guard would do. */
export interface PlanView {
  readonly pool: string;
  readonly mode: 'observe' | 'guard';
  /** Whether the next pass carries it out, or only tells. */
  readonly carriedOut: boolean;
  readonly actions: readonly PlannedAction[];
  readonly held: readonly { readonly slot: string; readonly reason: string; readonly why: string }[];
  /** What the platform itself has to tell, treated or not. */
  readonly found?: readonly { readonly slot: string; readonly reason: string; readonly why: string }[];
  readonly waiting: readonly {
    readonly slot: string;
    readonly cause: string;
    readonly what: string;
    readonly since: string;
    readonly tries: number;
  }[];
  /** The pool's status would be written, though nothing else is done. */
  readonly writesStatus: boolean;
  /** Why nothing is planned at all, if so. */
  readonly problem?: string;
  readonly nextCheckAt?: string;
}

/** The dry run of one pool: the same plan that a pass would make. */
export function planView(look: PoolLook): PlanView {
  const { observation } = look;
  const { key, policy, desired, observed, findings } = observation;
  const plan = shownPlan(look);
  const carriedOut = isDone(look);
  const bySlot = new Map(observed.instances.map((instance) => [instance.slot, instance]));
  const { problem } = desired;
  const { ready } = countsNow(observation);
  return {
    pool: formatKey(key),
    mode: policy.mode,
    carriedOut,
    actions: plan.actions.map((action) => {
      const slot = 'slot' in action ? action.slot : '-';
      return {
        slot,
        action: action.kind,
        ...('object' in action ? { object: action.object } : {}),
        what: whatOf(action),
        why: whyOf(action, bySlot.get(slot)),
        risk: riskOf(action, ready),
        riskLevel: riskLevelOf(action),
      };
    }),
    held: plan.held.map(({ slot, reason }) => ({ slot, reason, why: heldIn(reason, policy) })),
    ...(findings === undefined
      ? {}
      : { found: findings.map(({ slot, reason, message }) => ({ slot, reason, why: message })) }),
    waiting: plan.status.waiting.map(({ slot, cause, since, tries }) => ({
      slot,
      cause,
      what: waitIn(cause),
      since: timestamp(since),
      tries,
    })),
    writesStatus: carriedOut && plan.changed,
    ...(problem === undefined ? {} : { problem: `${problem.reason}: ${problem.message}` }),
    ...(plan.nextCheckAt === undefined ? {} : { nextCheckAt: timestamp(plan.nextCheckAt) }),
  };
}
