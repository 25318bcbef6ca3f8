import { planPool } from '../../src/pool/plan.ts';
import {
  type Action,
  type Desired,
  type Instance,
  type LedgerEntry,
  type Memory,
  type Observed,
  type Plan,
  type Policy,
  type PoolStatus,
  type Problem,
  type Refusal,
  type Slot,
  type Trouble,
  type WaitCause,
  type Waiting,
  WHOLE_POOL,
} from '../../src/pool/types.ts';

export const NOW = Date.parse('2026-01-05T12:00:00Z');
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** What the pool wants, the pass that looks, and one that looked before and died. */
export const WANTED = 'v2';
export const THIS_PASS = 'this-pass';
export const OTHER_PASS = 'other-pass';

export const STALE = { drift: ['deployment: spec.template.spec.containers[0].image'] } as const;

/** Ready, current and about to be handed out. */
export function instance(slot: Slot, differs: Partial<Instance> = {}): Instance {
  return {
    slot,
    rank: Number(slot),
    target: true,
    exists: true,
    anchor: { uid: `anchor-${slot}`, resourceVersion: '1' },
    workload: { uid: `workload-${slot}`, resourceVersion: '1' },
    phase: 'ready',
    absent: false,
    terminating: false,
    drift: [],
    unstable: false,
    refresh: false,
    relabel: false,
    held: false,
    needs: [],
    claimable: differs.claimedBy === undefined && differs.withdrawn === undefined,
    ...differs,
  };
}

export function instances(count: number, differs: Partial<Instance> = {}): readonly Instance[] {
  return Array.from({ length: count }, (_, at) => instance(String(at + 1), differs));
}

/** Nothing stands in this slot. */
export function missing(slot: Slot): Instance {
  const { anchor: _anchor, workload: _workload, ...rest } = instance(slot);
  return { ...rest, exists: false, phase: 'missing', absent: true, claimable: false };
}

export function claimed(slot: Slot, differs: Partial<Instance> = {}): Instance {
  return instance(slot, { claimedBy: `session-${slot}`, ...differs });
}

export function surplus(slot: Slot, differs: Partial<Instance> = {}): Instance {
  return instance(slot, { target: false, ...differs });
}

/** Not ready, for a cause that its objects tell. */
export function troubled(slot: Slot, cause: Trouble, differs: Partial<Instance> = {}): Instance {
  return instance(slot, { phase: 'pending', trouble: { cause, message: `${cause}!` }, ...differs });
}

/** Taken out of the platform's hands by `pass`, and whatever else differs. */
export function withdrawn(slot: Slot, differs: Partial<Instance> = {}, pass = THIS_PASS): Instance {
  return instance(slot, {
    withdrawn: { building: WANTED, pass },
    anchor: { uid: `anchor-${slot}`, resourceVersion: '2', pass },
    ...differs,
  });
}

/** Withdrawn, and what runs it is gone. */
export function emptied(slot: Slot, pass = THIS_PASS): Instance {
  const { workload: _workload, ...rest } = withdrawn(slot, { phase: 'pending', absent: true }, pass);
  return rest;
}

/** Parts of a slot whose anchor is gone, or was not made yet. */
export function anchorless(slot: Slot, differs: Partial<Instance> = {}): Instance {
  const { anchor: _anchor, ...rest } = instance(slot, { claimable: false, ...differs });
  return rest;
}

export function entry(slot: Slot, differs: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    slot,
    anchor: `anchor-${slot}`,
    workload: `workload-${slot}`,
    revision: WANTED,
    pass: THIS_PASS,
    since: NOW - MINUTE,
    ...differs,
  };
}

export function waiting(slot: Slot, cause: WaitCause, differs: Partial<Waiting> = {}): Waiting {
  const revision = cause === 'missing' || cause === 'dirty' ? '' : WANTED;
  return { slot, cause, revision, since: NOW, tries: 0, ...differs };
}

export function refusal(cause: Refusal['cause'], slot: Slot = WHOLE_POOL): Refusal {
  return { slot, cause, message: `${cause}!` };
}

export interface World {
  readonly desired: Desired;
  readonly observed: Observed;
  readonly policy: Policy;
  readonly now: number;
}

export interface Circumstances {
  readonly replicas?: number;
  readonly revision?: string | 'unknown';
  readonly sourceCounter?: number;
  readonly problem?: Problem;
  readonly concern?: Problem;
  readonly adopted?: boolean;
  readonly mode?: Policy['mode'];
  readonly paused?: boolean;
  readonly maxUnavailable?: number | string;
  /** What the last status said. */
  readonly memory?: Partial<Memory>;
  readonly ledger?: readonly LedgerEntry[];
  readonly waiting?: readonly Waiting[];
  /** The platform's operator: dead unless said otherwise; `alive` means since long ago. */
  readonly operator?: 'alive' | { readonly startedAt: number };
  readonly quiet?: boolean;
  readonly leftovers?: readonly string[];
  readonly quotas?: string;
  readonly unreadable?: boolean;
  readonly pass?: string;
  readonly refusals?: readonly Refusal[];
  readonly now?: number;
}

const AT_REST = {
  revision: WANTED,
  sourceCounter: 1,
  mode: 'guard',
  paused: false,
  maxUnavailable: '25%',
  ledger: [],
  waiting: [],
  quiet: true,
  leftovers: [],
  quotas: '',
  pass: THIS_PASS,
  refusals: [],
  now: NOW,
} as const;

/** A pool with these instances, in `guard`, at rest so far; say what is different. */
export function pool(slots: readonly Instance[], differs: Circumstances = {}): World {
  const its = { ...AT_REST, ...differs };
  const { operator, revision, sourceCounter, ledger } = its;
  const memory = { observedGeneration: sourceCounter, ledger, waiting: its.waiting, conditions: [] };
  return {
    desired: {
      replicas: its.replicas ?? slots.filter(({ target }) => target).length,
      ...(revision === 'unknown' ? {} : { revision }),
      sourceCounter,
      ...(its.problem === undefined ? {} : { problem: its.problem }),
      ...(its.concern === undefined ? {} : { concern: its.concern }),
      ...(its.adopted === undefined ? {} : { adopted: its.adopted }),
    },
    observed: {
      instances: slots,
      memory: { ...memory, ...its.memory },
      operator: {
        alive: operator !== undefined,
        startedAt: typeof operator === 'object' ? operator.startedAt : NOW - HOUR,
      },
      quiet: its.quiet,
      leftovers: its.leftovers,
      quotas: its.quotas,
      ...(its.unreadable === undefined ? {} : { unreadable: its.unreadable }),
      pass: { token: its.pass, refusals: its.refusals },
    },
    policy: { mode: its.mode, paused: its.paused, maxUnavailable: its.maxUnavailable },
    now: its.now,
  };
}

export function planOf({ desired, observed, policy, now }: World): Plan {
  return planPool(desired, observed, policy, now);
}

/** The same world after `status` was written and nothing else happened; what was refused is told once. */
export function recorded(world: World, status: PoolStatus): World {
  const pass = { ...world.observed.pass, refusals: [] };
  return { ...world, observed: { ...world.observed, memory: status, pass } };
}

/** A plan in the words of a person: `withdraw 3: stale`, `build 2`, … */
export function told({ actions }: Pick<Plan, 'actions'>): readonly string[] {
  return actions.map(tell);
}

export function tell(action: Action): string {
  const what = `${action.kind} ${action.kind === 'discard' ? action.name : action.slot}`;
  if (action.kind === 'touch') return `${what}: ${action.pass}`;
  if (action.kind === 'pin' || action.kind === 'unpin') return `${what} ${action.step}`;
  if (action.kind === 'heal') return `${what}: ${action.object} lacks ${action.lacks.join(', ')}`;
  return action.kind === 'withdraw' || action.kind === 'empty' ? `${what}: ${action.reason}` : what;
}

/** Why each slot is held back. */
export function heldBack({ held }: Pick<Plan, 'held'>): Readonly<Record<Slot, string>> {
  return Object.fromEntries(held.map(({ slot, reason }) => [slot, reason]));
}

/** The status of a condition and its reason, in one word each. */
export function condition({ conditions }: Pick<PoolStatus, 'conditions'>, type: string): string {
  const found = conditions.find((c) => c.type === type);
  return found === undefined ? 'not said' : `${found.status} ${found.reason}`;
}
