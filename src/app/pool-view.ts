import type { KubeObject } from '../kube/api.ts';
import { REVISION_LABEL } from '../platform/warm-pool.ts';
import { formatKey } from '../pool/key.ts';
import { countsOf, timestamp } from '../pool/status.ts';
import type { Action, Condition, Counts, Instance, Plan, Slot } from '../pool/types.ts';
import { sourceOf } from './_objects.ts';
import { isDone, shownPlan } from './dry-plan.ts';
import type { PoolLook } from './look.ts';
import { type Fault, faultsOf } from './slot-faults.ts';
import { heldIn, waitIn, whatOf } from './words.ts';

/** The numbers by which a pool is known, everywhere in the same order. `pool` is its whole key. */
export interface PoolLine {
  readonly pool: string;
  readonly desired: number;
  readonly ready: number;
  readonly current: number;
  readonly stale: number;
  readonly claimed: number;
  readonly blocked: number;
}

/** One slot as people look at it. Times are RFC 3339. */
export interface SlotView {
  readonly slot: Slot;
  /** `withdrawn`: it stands, and is not handed out. */
  readonly state:
    | 'ready'
    | 'claimed'
    | 'pending'
    | 'withdrawn'
    | 'deleting'
    | 'missing'
    | 'dirty'
    | 'foreign';
  /** Absent where that is unknown, or nothing stands there. */
  readonly current?: boolean;
  readonly revision?: string;
  readonly claimedBy?: string;
  readonly since?: string;
  readonly waitsFor?: string;
  /** The image of the IDE that it has. */
  readonly image?: string;
  /** What is not as it should be, what hurts a user first. */
  readonly faults: readonly Fault[];
}

/** One pool on one screen. */
export interface PoolView extends PoolLine {
  readonly claimedStale: number;
  readonly claimedSurplus: number;
  readonly failed: number;
  readonly mode: 'observe' | 'guard';
  readonly paused: boolean;
  /** One word: what it is doing, or what is wrong with it. */
  readonly state: string;
  /** One sentence that says why; empty when all is well. */
  readonly cause: string;
  /** Something needs a person, or the world outside. */
  readonly degraded: boolean;
  /** The image of the IDE that its instances should have. */
  readonly image?: string;
  readonly revision?: string;
  readonly nextCheckAt?: string;
  readonly slots: readonly SlotView[];
}

/** The pool's counts as it stands; the plan's own foresee what it withdraws. */
export function countsNow({ desired, observed }: PoolLook['observation']): Counts {
  return observed.unreadable && observed.memory.counts
    ? observed.memory.counts
    : countsOf(desired, observed.instances);
}

/** The numbers of a pool. */
export function poolLine({ observation }: Pick<PoolLook, 'observation'>): PoolLine {
  const { desired, ready, current, stale, claimed, blocked } = countsNow(observation);
  return { pool: formatKey(observation.key), desired, ready, current, stale, claimed, blocked };
}

/** A pool and who is on what in it. */
export function poolView(look: PoolLook): PoolView {
  const { observation, plan } = look;
  const { claimedStale, claimedSurplus, failed } = countsNow(observation);
  const { revision, nextCheckAt } = plan.status;
  const image = sourceOf(look)?.spec.image;
  return {
    ...poolLine(look),
    claimedStale,
    claimedSurplus,
    failed,
    mode: observation.policy.mode,
    paused: observation.policy.paused,
    ...stateOf(look),
    ...(image === undefined ? {} : { image }),
    ...(revision === undefined ? {} : { revision }),
    ...(nextCheckAt === undefined ? {} : { nextCheckAt: timestamp(nextCheckAt) }),
    slots: observation.observed.instances.map((instance) => slotView(look, instance)),
  };
}

/** The most telling of the conditions: what is wrong before what is under way before what is not done yet. */
function stateOf(look: PoolLook): Pick<PoolView, 'state' | 'cause' | 'degraded'> {
  const { plan } = look;
  const { policy } = look.observation;
  const find = (type: string, status: string) =>
    plan.status.conditions.find((c) => c.type === type && c.status === status);
  const degraded = find('Degraded', 'True');
  if (degraded !== undefined) return { state: degraded.reason, cause: degraded.message, degraded: true };
  const told = { degraded: false };
  const leaving = find('Leaving', 'True');
  if (leaving !== undefined)
    return { state: 'Leaving', cause: `to be finished: ${leaving.message}`, ...told };
  if (policy.mode === 'observe') return observedState(look);
  if (policy.paused)
    return { state: 'Paused', cause: 'nothing new is withdrawn until it is resumed', ...told };
  const progressing = find('Progressing', 'True');
  if (progressing !== undefined) return { state: progressing.reason, cause: underWay(progressing), ...told };
  const open = find('Current', 'False') ?? find('Ready', 'False');
  if (open !== undefined) return { state: open.reason, cause: open.message, ...told };
  return { state: 'Converged', cause: '', ...told };
}

/** What belongs to every claim; everything else is the cure of something. */
const ROUTINE: ReadonlySet<string> = new Set(['hold', 'protection', 'label', 'mark']);

function isRoutine(action: Action): boolean {
  return action.kind === 'heal' && action.lacks.every((lack) => ROUTINE.has(lack));
}

/** Nothing is done in mode observe: what counts is whether there would be anything to do. */
function observedState(look: PoolLook): Pick<PoolView, 'state' | 'cause' | 'degraded'> {
  const { actions, held } = shownPlan(look);
  const { findings = [] } = look.observation;
  const isAtRest = actions.every(isRoutine) && held.length === 0 && findings.length === 0;
  return isAtRest
    ? { state: 'Converged', cause: '', degraded: false }
    : { state: 'Drifted', cause: 'mode observe: nothing is done about it', degraded: false };
}

function underWay({ reason, message }: Condition): string {
  return reason === 'Settling' ? waitIn('settling') : message;
}

/** One slot, with the objects from which it was read. */
export function slotView(look: PoolLook, instance: Instance): SlotView {
  const { desired } = look.observation;
  const { slot, drift, exists, refresh, terminating } = instance;
  const claimedBy = instance.claimedBy ?? instance.usedBy;
  const workload = objectOf(look, instance.workload?.uid);
  const revision = workload?.metadata.labels?.[REVISION_LABEL];
  const since = sinceOf(look, instance, workload);
  const waitsFor = waitsForOf(look, instance);
  const image = imageIn(workload, sourceOf(look)?.spec.name);
  // What is going is no longer compared with what is wanted.
  const isKnown = desired.revision !== undefined && exists && !terminating;
  return {
    slot,
    state: slotState(instance),
    ...(isKnown ? { current: drift.length === 0 && !refresh } : {}),
    ...(revision === undefined ? {} : { revision }),
    ...(claimedBy === undefined ? {} : { claimedBy }),
    ...(since === undefined ? {} : { since: timestamp(since) }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(image === undefined ? {} : { image }),
    faults: faultsOf(look, instance),
  };
}

/** The image of the IDE's own container, beside which sidecars may stand. */
function imageIn(workload: KubeObject | undefined, container: string | undefined): string | undefined {
  const { spec } = (workload ?? {}) as { readonly spec?: Partial<PodOwner> };
  const containers = spec?.template?.spec?.containers ?? [];
  return (containers.find(({ name }) => name === container) ?? containers.at(-1))?.image;
}

interface PodOwner {
  readonly template: {
    readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image?: string }[] };
  };
}

function slotState(instance: Instance): SlotView['state'] {
  if (instance.claimedBy !== undefined) return 'claimed';
  if (instance.foreign !== undefined) return 'foreign';
  if (instance.withdrawn !== undefined) return 'withdrawn';
  return instance.phase === 'ready' && instance.dirt !== undefined ? 'dirty' : instance.phase;
}

/** Since when it is claimed, or waits, or is being replaced; else since when it stands. */
function sinceOf(
  look: PoolLook,
  { slot, claimedBy }: Instance,
  workload: KubeObject | undefined,
): number | undefined {
  const { observation, plan, objects } = look;
  const claim =
    claimedBy === undefined
      ? undefined
      : objects.find(({ kind, metadata }) => kind === 'Session' && metadata.name === claimedBy);
  if (claim !== undefined) return createdAt(claim);
  // The ledger that stands: the plan's own holds what it would only begin.
  const waits = [...observation.observed.memory.ledger, ...plan.status.waiting].filter(
    (entry) => entry.slot === slot,
  );
  // Where nothing is remembered every wait begins with the look.
  if (waits.length > 0 && isDone(look)) return Math.min(...waits.map(({ since }) => since));
  return workload === undefined ? undefined : createdAt(workload);
}

function waitsForOf(look: PoolLook, instance: Instance): string | undefined {
  const { observation } = look;
  const plan = shownPlan(look);
  if (instance.claimedBy !== undefined) return waitsForUser(instance);
  const { slot } = instance;
  const action = plan.actions.find((one) => 'slot' in one && one.slot === slot);
  if (action !== undefined) {
    return isDone(look) ? `next: ${whatOf(action)}` : `observe: would ${whatOf(action)}`;
  }
  const held = plan.held.find((one) => one.slot === slot);
  if (held !== undefined) return heldIn(held.reason, observation.policy);
  if (instance.trouble !== undefined) {
    return `${waitIn(instance.trouble.cause)} (${instance.trouble.message})`;
  }
  const waiting = plan.status.waiting.find((entry) => entry.slot === slot);
  return waiting === undefined ? waitsForWorld(instance, plan) : waitIn(waiting.cause);
}

function waitsForUser({ target, drift }: Instance): string | undefined {
  if (!target) return 'its user: removed when released';
  return drift.length > 0 ? 'its user: replaced when released' : undefined;
}

function waitsForWorld({ phase, terminating }: Instance, plan: Plan): string | undefined {
  if (terminating) return 'its old pod to end';
  if (phase === 'ready') return undefined;
  const isSettling = plan.status.waiting.some(({ cause }) => cause === 'settling');
  if (isSettling) return waitIn('settling');
  return phase === 'pending' ? 'its pod to get ready' : undefined;
}

function objectOf({ objects }: PoolLook, uid: string | undefined): KubeObject | undefined {
  return uid === undefined ? undefined : objects.find(({ metadata }) => metadata.uid === uid);
}

function createdAt({ metadata }: KubeObject): number | undefined {
  const at = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Whether everything that can be done for a pool is done: nothing to do, and all of it converged or blocked. */
export function isSettled({ observation, plan }: Pick<PoolLook, 'observation' | 'plan'>): boolean {
  // In `observe` nothing will be done about what is left.
  if (observation.policy.mode === 'observe') return !plan.leaving;
  return plan.actions.length === 0 && !plan.changed && (isConverged(plan) || isBlocked(plan));
}

function isConverged({ status }: Plan): boolean {
  const holds = (type: string, value: string) =>
    status.conditions.some((c) => c.type === type && c.status === value);
  return holds('Ready', 'True') && holds('Current', 'True') && holds('Progressing', 'False');
}

function isBlocked({ status }: Plan): boolean {
  return status.conditions.some((c) => c.type === 'Degraded' && c.status === 'True');
}
