import { isBlocked, isServing, maxUnavailable } from './budget.ts';
import { isOutOfReach, releaseIn } from './release.ts';
import {
  type Condition,
  type Counts,
  type Desired,
  type Instance,
  type LedgerEntry,
  type Observed,
  type Policy,
  type PoolStatus,
  type Problem,
  type Waiting,
  WHOLE_POOL,
} from './types.ts';
import { isGivenUp, nextDue } from './waiting.ts';

export interface StatusInput {
  readonly desired: Desired;
  readonly observed: Observed;
  readonly policy: Policy;
  readonly now: number;
  readonly waiting: readonly Waiting[];
  readonly ledger: readonly LedgerEntry[];
  readonly problem: Problem | undefined;
  readonly leaving: boolean;
}

const FAILED: ReadonlySet<string> = new Set(['crash', 'deadline', 'imagePull']);

/** The status that should stand, and whether it differs from the one that does (P14: only then it is written). */
export function statusOf(input: StatusInput): { status: PoolStatus; changed: boolean } {
  const { desired, observed, now } = input;
  const counts =
    observed.unreadable && observed.memory.counts
      ? observed.memory.counts
      : countsOf(desired, observed.instances);
  const nextCheckAt = nextDue(input.waiting, now);
  const revision = desired.revision ?? observed.memory.revision;
  const status: PoolStatus = {
    observedGeneration: desired.sourceCounter,
    ...(revision === undefined ? {} : { revision }),
    ...(observed.memory.adopted === true || desired.adopted === true ? { adopted: true } : {}),
    counts,
    ledger: input.ledger,
    waiting: input.waiting,
    ...(nextCheckAt === undefined ? {} : { nextCheckAt }),
    conditions: conditionsOf(input, counts),
  };
  return { status, changed: !sameStatus(status, observed.memory) };
}

/** Counts of what was observed. Claimed instances are counted apart: they are never touched. */
export function countsOf(desired: Desired, instances: readonly Instance[]): Counts {
  const known = desired.revision !== undefined;
  const claimed = instances.filter((i) => i.claimedBy !== undefined);
  const unclaimed = instances.filter((i) => i.target && i.claimedBy === undefined && i.exists);
  // What is withdrawn is on its way and counts as neither: the counts rest while a batch is being rebuilt.
  const stands = (i: Instance) => i.anchor !== undefined && i.withdrawn === undefined;
  const isStale = (i: Instance) => known && (i.drift.length > 0 || i.refresh);
  const isCurrent = (i: Instance) => known && !isStale(i) && !i.absent && !i.terminating && stands(i);
  const isFailed = (i: Instance) =>
    i.phase !== 'ready' && (i.ailment !== undefined || FAILED.has(i.trouble?.cause ?? ''));
  return {
    desired: desired.replicas,
    ready: count(unclaimed, isServing),
    current: count(unclaimed, isCurrent),
    stale: count(unclaimed, (i) => isStale(i) && stands(i)),
    claimed: count(instances, (i) => i.claimedBy !== undefined || i.usedBy !== undefined),
    claimedStale: count(claimed, isStale),
    claimedSurplus: count(claimed, (i) => !i.target),
    failed: count(unclaimed, isFailed),
    blocked: count(unclaimed, isBlocked),
  };
}

function count<T>(list: readonly T[], claim: (item: T) => boolean): number {
  return list.filter(claim).length;
}

function conditionsOf(input: StatusInput, counts: Counts): readonly Condition[] {
  const drafts = [
    ready(input, counts),
    current(input, counts),
    progressing(input, counts),
    degraded(input, counts),
  ];
  const leaving = leavingCondition(input);
  const all = leaving === undefined ? drafts : [...drafts, leaving];
  return all.map((draft) => withTransition(draft, input));
}

/** RFC 3339, whole seconds: what Kubernetes stores. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

/** The time moves only when the status does. */
function withTransition(draft: ConditionDraft, { observed, now }: StatusInput): Condition {
  const prior = observed.memory.conditions.find((c) => c.type === draft.type);
  const lastTransitionTime = prior?.status === draft.status ? prior.lastTransitionTime : timestamp(now);
  return { ...draft, lastTransitionTime };
}

function ready({ observed, policy }: StatusInput, counts: Counts): ConditionDraft {
  const unclaimed = observed.instances.filter(
    (i) => i.target && i.claimedBy === undefined && i.foreign === undefined,
  ).length;
  const floor = unclaimed === 0 ? 0 : unclaimed - maxUnavailable(policy, unclaimed);
  const enough = counts.ready >= floor;
  const message = `${counts.ready} of ${unclaimed} unclaimed instances are ready`;
  return {
    type: 'Ready',
    status: enough ? 'True' : 'False',
    reason: enough ? 'EnoughReady' : 'TooFewReady',
    message,
  };
}

function current({ desired }: StatusInput, counts: Counts): ConditionDraft {
  if (desired.revision === undefined) {
    return {
      type: 'Current',
      status: 'False',
      reason: 'RevisionUnknown',
      message: 'what is wanted cannot be computed',
    };
  }
  const kept =
    counts.claimedStale === 0 ? '' : `; claimed and stale, kept until released: ${counts.claimedStale}`;
  return counts.stale === 0
    ? {
        type: 'Current',
        status: 'True',
        reason: 'AllCurrent',
        message: `no unclaimed instance is stale${kept}`,
      }
    : {
        type: 'Current',
        status: 'False',
        reason: 'Stale',
        message: `${several(counts.stale, 'unclaimed instance')} stale${kept}`,
      };
}

function progressing(
  { desired, observed, ledger, waiting, policy, problem, now, leaving }: StatusInput,
  counts: Counts,
): ConditionDraft {
  const is = (status: 'True' | 'False', reason: string, message: string): ConditionDraft => ({
    type: 'Progressing',
    status,
    reason,
    message,
  });
  if (waiting.some((w) => w.slot === WHOLE_POOL && w.cause === 'settling')) {
    return is('True', 'Settling', 'the platform operator has the first word for 15 seconds');
  }
  const release = releaseIn(policy, desired, now);
  if (release !== undefined && !leaving) {
    const kept = unclaimedOf(observed).filter(isOutOfReach).length;
    return is(
      'True',
      'Releasing',
      `${kept} of ${unclaimedOf(observed).length} unclaimed instances are kept for it`,
    );
  }
  const building = observed.instances.filter(
    (i) => i.target && i.claimedBy === undefined && !isServing(i) && !isBlocked(i) && i.foreign === undefined,
  );
  const busy = ledger.length > 0 || (problem === undefined && building.length > 0);
  if (busy) return is('True', 'Building', `being built or replaced: slots ${slotsOf(building, ledger)}`);
  if (policy.paused && counts.stale > 0) {
    return is('False', 'Paused', 'nothing new is withdrawn until the pool is resumed');
  }
  return is('False', 'AtRest', 'nothing is being built');
}

function unclaimedOf({ instances }: Observed): readonly Instance[] {
  return instances.filter((i) => i.target && i.claimedBy === undefined);
}

function several(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}

function slotsOf(building: readonly Instance[], ledger: readonly LedgerEntry[]): string {
  const slots = new Set([...building.map(({ slot }) => slot), ...ledger.map(({ slot }) => slot)]);
  return [...slots].sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1)).join(', ');
}

/** Something needs a person, or the world outside: in the order of how much it stops. */
function degraded({ desired, observed, waiting, problem, now }: StatusInput, counts: Counts): ConditionDraft {
  const { concern } = desired;
  const degraded = (reason: string, message: string): ConditionDraft => ({
    type: 'Degraded',
    status: 'True',
    reason,
    message,
  });
  if (problem !== undefined) return degraded(problem.reason, problem.message);
  const lost = observed.instances.flatMap((instance) => givenUp(instance, waiting, now));
  if (concern !== undefined || lost.length > 0) {
    const said = concern === undefined ? lost : [concern.message, ...lost];
    return degraded(concern?.reason ?? 'GivenUp', said.join('; '));
  }
  const claims = observed.instances.flatMap(({ claimTrouble }) => claimTrouble ?? []);
  const split = claims.find(({ reason }) => reason === 'SplitClaim');
  if (split !== undefined) return degraded(split.reason, claims.map(({ message }) => message).join('; '));
  const foreign = observed.instances.filter((i) => i.foreign !== undefined).map((i) => i.foreign);
  if (foreign.length > 0) return degraded('ForeignObject', `not ours, not touched: ${foreign.join(', ')}`);
  const refused = waiting.filter((w) => w.slot === WHOLE_POOL && w.cause !== 'settling');
  if (refused.length > 0) {
    return degraded(
      'Refused',
      `creates are refused: ${refused.map((w) => `${w.cause} (try ${w.tries + 1})`).join(', ')}`,
    );
  }
  const forbidden = waiting.filter((w) => w.cause === 'forbidden' || w.cause === 'invalid');
  if (forbidden.length > 0) {
    return degraded('Refused', forbidden.map((w) => `slot ${w.slot}: ${w.cause}`).join(', '));
  }
  const [claim] = claims;
  if (claim !== undefined) return degraded(claim.reason, claims.map(({ message }) => message).join('; '));
  if (counts.blocked > 0) return degraded('Blocked', troubles(observed.instances));
  return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: 'nothing needs a person' };
}

/** What no remedy helped, and what was tried. */
function givenUp({ slot, ailment }: Instance, waiting: readonly Waiting[], now: number): readonly string[] {
  const entry = waiting.find((w) => w.slot === slot && w.cause === 'ailing');
  if (ailment === undefined || entry === undefined || !isGivenUp(ailment, entry, now)) return [];
  const names = [...new Set(ailment.remedies.map(({ name }) => name))].join(', ');
  return [`${slot}: ${ailment.message} (tried ${entry.tries} times: ${names})`];
}

function troubles(instances: readonly Instance[]): string {
  const byCause = new Map<string, string[]>();
  for (const { slot, trouble, ...rest } of instances) {
    if (trouble === undefined || rest.claimedBy !== undefined || !rest.target) continue;
    // A volume is looked for by its name; what else is wrong shows on the pods of the slot.
    const which = trouble.cause === 'storage' ? `${slot} (${trouble.message})` : slot;
    byCause.set(trouble.cause, [...(byCause.get(trouble.cause) ?? []), which]);
  }
  return [...byCause].map(([cause, slots]) => `${cause}: slots ${slots.join(', ')}`).join('; ');
}

/** Said only in `observe`: whoever reads that it was left knows that nobody guards it since. */
function leavingCondition({ observed, leaving, ledger, policy }: StatusInput): ConditionDraft | undefined {
  const said = observed.memory.conditions.find((c) => c.type === 'Leaving');
  if (!leaving)
    return said === undefined || policy.mode === 'guard'
      ? undefined
      : { type: 'Leaving', status: 'False', reason: said.reason, message: said.message };
  const left = observed.instances.filter(isOurs);
  return left.length === 0 && ledger.length === 0
    ? { type: 'Leaving', status: 'False', reason: 'Left', message: 'nothing is withdrawn any more' }
    : { type: 'Leaving', status: 'True', reason: 'Finishing', message: `slots ${slotsOf(left, ledger)}` };
}

/** Our reference stands on it, and must be taken off before we leave. */
export function isOurs({ held, withdrawn, claimedBy }: Instance): boolean {
  return held || (withdrawn !== undefined && claimedBy === undefined);
}

/** Equal in everything a reader could see. */
function sameStatus(next: PoolStatus, memory: Observed['memory']): boolean {
  const pick = (status: Observed['memory']) => [
    status.observedGeneration,
    status.revision,
    status.adopted,
    status.counts === undefined ? undefined : Object.entries(status.counts).sort(),
    status.ledger.map((e) => [e.slot, e.anchor, e.workload, e.revision, e.pass, e.since, e.short]),
    status.waiting.map(({ slot, cause, revision, since, tries }) => [slot, cause, revision, since, tries]),
    status.nextCheckAt,
    status.conditions.map((c) => [c.type, c.status, c.reason, c.message, c.lastTransitionTime]),
  ];
  return JSON.stringify(pick(next)) === JSON.stringify(pick(memory));
}
