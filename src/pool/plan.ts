import { isBlocked, isServing, room } from './budget.ts';
import { license, reviewLedger } from './ledger.ts';
import { type StatusInput, statusOf } from './status.ts';
import {
  type Action,
  type ActionKind,
  type Desired,
  type Held,
  type Instance,
  type LedgerEntry,
  type Observed,
  type Plan,
  type Policy,
  type Problem,
  type ReplaceReason,
  type Revision,
  type Waiting,
  WHOLE_POOL,
} from './types.ts';
import { attempt, isHeld, nextDue, reviewWaiting, tried } from './waiting.ts';

/** How soon to look again when the next pick of the platform was about to be handed out. */
const QUIET_RETRY_MS = 2_000;
/** How long a withdrawal is left to the pass that made it: its grace period, and time to act on what it then sees. */
const TAKE_OVER_MS = 4_000;

const ORDER: readonly ActionKind[] = [
  'discard',
  'touch',
  'withdraw',
  'remove',
  'empty',
  'return',
  'build',
  'nudge',
  'relabel',
];

/** Everything one plan is made from, and what it gathers on the way. */
interface Draft {
  readonly desired: Desired & { readonly revision: Revision };
  readonly observed: Observed;
  readonly policy: Policy;
  readonly now: number;
  readonly leaving: boolean;
  readonly waiting: Map<string, Waiting>;
  readonly ledger: Map<string, LedgerEntry>;
  /** Slots withdrawn by this plan. */
  readonly chosen: Set<string>;
  budget: number;
  places: number;
  /** A refused create holds all creates of the pool: the next slot would be refused for the same reason. */
  readonly refused: boolean;
  /** What the platform may hand out, in its order; the first that is not chosen is its next pick. */
  readonly claimable: Instance[];
  /** What the platform would hand out next, where this plan writes on it. */
  readonly picks: Set<string>;
  /** Unclaimed instances that stand or are about to, terminating ones included (P10). */
  unclaimed: number;
}

/**
 * What to do now about one pool. Pure, synchronous and total; deterministic: the highest rank goes first.
 * The status in the plan holds the ledger that licenses its actions: write it before acting (P8).
 */
export function planPool(desired: Desired, observed: Observed, policy: Policy, now: number): Plan {
  const problem = problemOf(desired, observed);
  const waiting = observed.unreadable
    ? observed.memory.waiting
    : reviewWaiting(desired, observed, policy, now);
  const leaving = isLeaving(observed, policy);
  const settling = waiting.some((entry) => entry.cause === 'settling');
  const refused = new Set(waiting.filter((entry) => isRefusal(entry, now)).map(({ slot }) => slot));
  const discards = observed.leftovers
    .filter((name) => !refused.has(name))
    .map((name): Action => ({ kind: 'discard', name }));

  const input = { desired, observed, policy, now, waiting, ledger: observed.memory.ledger, problem, leaving };
  if (problem !== undefined || desired.revision === undefined || settling) {
    const held = settling ? [{ slot: WHOLE_POOL, reason: 'settling' }] : [];
    return finish({ actions: discards, held, leaving }, statusOf(input), now);
  }

  const { draft, touches } = begin({ ...input, desired: { ...desired, revision: desired.revision } });
  const moves = inOrder(draft).map((instance) => moveOf(draft, instance));
  const held = moves.filter((move) => move !== undefined && 'reason' in move && !('kind' in move)) as Held[];
  const actions = moves.filter((move) => move !== undefined && 'kind' in move) as Action[];

  const ledger = [...draft.ledger.values()].sort((a, b) => (a.slot < b.slot ? -1 : 1));
  const waits = [...draft.waiting.values()];
  const standing = statusOf({ ...input, observed: foreseen(draft), waiting: waits, ledger });
  const careful = standing.changed ? actionsOnPick(draft, [...touches, ...actions]) : new Set<Action>();
  const inTurn = [...discards, ...touches, ...actions].sort((a, b) => turn(draft, a) - turn(draft, b));
  const announced = inTurn
    .filter((action) => careful.has(action))
    .map((action) => ({ slot: slotOf(action), reason: 'announced' }));
  const acts = inTurn.filter((action) => !careful.has(action));
  return finish({ actions: acts, held: [...held, ...announced], leaving }, standing, now);
}

/**
 * Writes on what the platform hands out next, for another round: after the status write the reading of the claims would be
 * too old for them.
 */
function actionsOnPick({ observed, picks }: Draft, actions: readonly Action[]): ReadonlySet<Action> {
  if (!observed.operator.alive) return new Set();
  return new Set(actions.filter((action) => action.kind === 'touch' || picks.has(slotOf(action))));
}

function slotOf(action: Action): string {
  return action.kind === 'discard' ? WHOLE_POOL : action.slot;
}

/** The world once this plan's withdrawals are done: the status that licenses them tells of them too, in one write. */
function foreseen({ observed, chosen, desired }: Draft): Observed {
  const withdrawn = { building: desired.revision, pass: observed.pass.token };
  return {
    ...observed,
    instances: observed.instances.map((i) => (chosen.has(i.slot) ? { ...i, withdrawn } : i)),
  };
}

/** The next pick first: the claims were read a moment ago, and every request in between makes that older. */
function turn(draft: Draft, action: Action): number {
  return draft.picks.has(slotOf(action)) ? -1 : ORDER.indexOf(action.kind);
}

/** Nothing is left to do, to write or to wait for. */
export function isEmpty(plan: Plan): boolean {
  return plan.actions.length === 0 && !plan.changed;
}

/** In `observe` only what is begun is finished (P21); then nothing is written any more. */
function isLeaving(observed: Observed, policy: Policy): boolean {
  if (policy.mode !== 'observe') return false;
  const begun = observed.instances.some((i) => i.withdrawn !== undefined && i.claimedBy === undefined);
  const said = observed.memory.conditions.some((c) => c.type === 'Leaving' && c.status === 'True');
  return begun || said || observed.memory.ledger.length > 0;
}

/** An instance that is stale right after its creation would be replaced for ever: hold the pool and name the paths. */
function problemOf(desired: Desired, observed: Observed): Problem | undefined {
  if (desired.problem !== undefined) return desired.problem;
  const unstable = observed.instances.find((i) => i.unstable && i.claimedBy === undefined);
  if (unstable === undefined) return undefined;
  const message = `slot ${unstable.slot} differs right after its creation: ${unstable.drift.join(', ')}`;
  return { reason: 'UnstableRendering', message };
}

function begin(input: Omit<StatusInput, 'desired'> & Pick<Draft, 'desired'>): {
  draft: Draft;
  touches: Action[];
} {
  const { observed, policy, now, leaving } = input;
  const waiting = new Map(input.waiting.map((entry) => [`${entry.slot}/${entry.cause}`, entry]));
  const mayGo = (instance: Instance) =>
    faultOf(instance, waiting, now) !== undefined &&
    !policy.paused &&
    !leaving &&
    instance.foreign === undefined;

  const bySlot = new Map(observed.instances.map((instance) => [instance.slot, instance]));
  const unclaimed = observed.instances.filter((i) => i.claimedBy === undefined);
  const wanted = unclaimed.filter((i) => i.target);
  const rests = (instance: Instance) => isBlocked(instance) && faultOf(instance, waiting, now) === undefined;
  const { ledger } = observed.memory;
  // More was announced than may go by now (a claim, a crash): all that still serve are given up and asked for anew.
  const tight = room(policy, wanted, reviewLedger(ledger, bySlot, mayGo).keep, rests).budget < 0;
  const review = reviewLedger(ledger, bySlot, (i) => mayGo(i) && !(tight && isServing(i)));
  const { budget, places } = room(policy, wanted, review.keep, rests);
  const draft: Draft = {
    desired: input.desired,
    observed,
    policy,
    now,
    leaving,
    waiting,
    ledger: new Map(review.keep.map((entry) => [entry.slot, entry])),
    chosen: new Set(),
    picks: new Set(),
    refused: input.waiting.some((w) => w.slot === WHOLE_POOL && isHeld(w, now)),
    claimable: observed.instances.filter((i) => i.claimable).sort((a, b) => a.rank - b.rank),
    budget,
    places,
    unclaimed: unclaimed.filter((i) => i.exists).length,
  };
  const bySlotName = (a: LedgerEntry, b: LedgerEntry) => (a.slot < b.slot ? -1 : 1);
  const touches = [...review.touch]
    .sort(bySlotName)
    .filter(({ slot }) => observed.quiet && !isRefused(draft, slot));
  return { draft, touches: touches.map(({ slot, pass }) => ({ kind: 'touch', slot, pass })) };
}

/** Begun before broken before ready, then the highest rank: the platform's next pick comes last. Empty slots fill upwards. */
function inOrder(draft: Draft): readonly Instance[] {
  const urgency = (i: Instance): number => {
    if (!i.exists) return 3;
    if (i.withdrawn !== undefined || draft.ledger.has(i.slot)) return 0;
    return isServing(i) ? 2 : 1;
  };
  const byRank = (a: Instance, b: Instance) => (a.exists ? b.rank - a.rank : a.rank - b.rank);
  return [...draft.observed.instances].sort((a, b) => urgency(a) - urgency(b) || byRank(a, b));
}

/** Why this instance must make way for another; `undefined` when it may stay. */
function faultOf(
  instance: Instance,
  waiting: ReadonlyMap<string, Waiting>,
  now: number,
): ReplaceReason | undefined {
  if (!instance.target) return 'surplus';
  if (instance.dirt !== undefined) {
    const entry = waiting.get(`${instance.slot}/dirty`);
    return entry === undefined || !isHeld(entry, now) ? 'dirty' : undefined;
  }
  if (instance.drift.length > 0) return 'stale';
  if (instance.refresh) return 'refresh';
  const cause = instance.trouble?.cause;
  if (instance.phase !== 'ready' && (cause === 'crash' || cause === 'deadline')) {
    const entry = waiting.get(`${instance.slot}/${cause}`);
    return entry !== undefined && !isHeld(entry, now) ? 'broken' : undefined;
  }
  return undefined;
}

/** What comes of one slot in this plan: something to do, a reason to hold it back, or nothing. */
type Move = Action | Held | undefined;

function moveOf(draft: Draft, instance: Instance): Move {
  if (instance.claimedBy !== undefined) return undefined;
  if (instance.foreign !== undefined) return hold(instance, `foreign object ${instance.foreign}`);
  if (isRefused(draft, instance.slot)) return hold(instance, 'refused');
  if (!instance.exists) return fillEmpty(draft, instance);

  const fault = faultOf(instance, draft.waiting, draft.now);
  const standing = instance.anchor !== undefined && instance.withdrawn === undefined;
  if (standing)
    return fault === undefined ? keepStanding(draft, instance) : replaceStanding(draft, instance, fault);
  return fault === undefined ? finishBegun(draft, instance) : clearBegun(draft, instance, fault);
}

function isRefused({ waiting, now }: Draft, slot: string): boolean {
  const entries = [waiting.get(`${slot}/forbidden`), waiting.get(`${slot}/invalid`)];
  return entries.some((entry) => entry !== undefined && isHeld(entry, now));
}

/** Refused for its own sake, and not yet due to be tried again. */
function isRefusal(entry: Waiting, now: number): boolean {
  return (entry.cause === 'forbidden' || entry.cause === 'invalid') && isHeld(entry, now);
}

function fillEmpty(draft: Draft, instance: Instance): Move {
  if (!instance.target || draft.leaving) return undefined;
  const missing = draft.waiting.get(`${instance.slot}/missing`);
  if (missing !== undefined && isHeld(missing, draft.now)) return hold(instance, 'missing');
  if (draft.unclaimed >= draft.desired.replicas) return hold(instance, 'too many instances');
  draft.unclaimed += 1;
  return build(draft, instance);
}

/** Nothing is wrong with it: a part that went missing is made again in place, an old label is renewed. */
function keepStanding(draft: Draft, instance: Instance): Move {
  if (instance.dirt !== undefined) return hold(instance, 'dirty');
  if (draft.leaving || instance.terminating) return undefined;
  if (instance.absent) return build(draft, instance);
  if (instance.trouble?.cause === 'quota') return nudge(draft, instance);
  return instance.relabel ? relabel(draft, instance) : undefined;
}

/** Any write on the next pick may cost the claim that is under way, a new label too. */
function relabel(draft: Draft, instance: Instance): Move {
  if (isNextPick(draft, instance)) {
    if (!draft.observed.quiet) return { ...hold(instance, 'quiet'), until: draft.now + QUIET_RETRY_MS };
    draft.picks.add(instance.slot);
  }
  return { kind: 'relabel', slot: instance.slot };
}

function build(draft: Draft, instance: Instance): Move {
  if (draft.refused) return hold(instance, 'refused');
  return { kind: 'build', slot: instance.slot, revision: draft.desired.revision };
}

/** The workload's own controller backs off for minutes; a change of the quota is a reason to try now. */
function nudge(draft: Draft, instance: Instance): Move {
  const name = `${instance.slot}/quota`;
  const entry = draft.waiting.get(name);
  if (entry === undefined) return undefined;
  const revision = attempt('quota', draft.desired, draft.observed);
  if (isHeld(entry, draft.now) && entry.revision === revision) return hold(instance, 'quota');
  draft.waiting.set(name, { ...tried(entry, draft.now), revision });
  return { kind: 'nudge', slot: instance.slot };
}

/** A standing instance goes only when the ledger has room for it, and is withdrawn before anything else. */
function replaceStanding(draft: Draft, instance: Instance, fault: ReplaceReason): Move {
  if (draft.leaving) return undefined;
  if (draft.policy.paused) return hold(instance, 'paused');
  if (fault !== 'surplus' && draft.refused) return hold(instance, 'refused');
  if (!hasRoom(draft, instance, fault)) return hold(instance, 'budget');
  if (fault !== 'surplus' && isServing(instance) && !mayLeave(draft, instance))
    return hold(instance, 'budget');
  if (isNextPick(draft, instance)) {
    if (!draft.observed.quiet) return { ...hold(instance, 'quiet'), until: draft.now + QUIET_RETRY_MS };
    draft.picks.add(instance.slot);
  }
  return withdraw(draft, instance, fault);
}

/** An entry of another pass is in the budget already; claims may have shrunk the budget since it was written. */
function mayLeave(draft: Draft, instance: Instance): boolean {
  return draft.ledger.has(instance.slot) ? draft.budget >= 0 : draft.budget >= 1;
}

/** Surplus slots are wanted by nobody, and what the ledger holds already has its place. */
function hasRoom(draft: Draft, instance: Instance, fault: ReplaceReason): boolean {
  return fault === 'surplus' || draft.ledger.has(instance.slot) || draft.places >= 1;
}

/** The platform picks by rank and does not compare: a write on its pick may cost the claim that is under way. */
function isNextPick(draft: Draft, { slot }: Instance): boolean {
  while (draft.chosen.has(draft.claimable[0]?.slot ?? '')) draft.claimable.shift();
  return draft.claimable[0]?.slot === slot;
}

/** What must go from a slot that is not handed out goes behind a fence of this very pass. */
function clearBegun(draft: Draft, instance: Instance, fault: ReplaceReason): Move {
  const { slot } = instance;
  if (fault === 'surplus' && instance.anchor === undefined) return removeRest(draft, instance);
  const mine = draft.ledger.get(slot)?.pass === token(draft) && instance.withdrawn?.pass === token(draft);
  // Only now the try counts: a withdrawal alone cures nothing, and its back-off would hold the cure back.
  if (mine && fault === 'broken') retry(draft, instance);
  if (mine) return fault === 'surplus' ? { kind: 'remove', slot } : { kind: 'empty', slot, reason: fault };
  if (!hasRoom(draft, instance, fault)) return hold(instance, 'budget');
  return takeOver(draft, instance, fault);
}

/** Its anchor went first, so nobody can be handed it any more: what is left needs no fence. */
function removeRest(draft: Draft, instance: Instance): Move {
  if (instance.terminating) return undefined;
  const prior = draft.ledger.get(instance.slot);
  draft.ledger.set(instance.slot, license(instance, prior, token(draft), draft.desired.revision, draft.now));
  return { kind: 'remove', slot: instance.slot };
}

/** Two passes that take a slot over from each other would never get beyond the grace period: the younger claim goes on. */
function takeOver(draft: Draft, instance: Instance, fault: ReplaceReason): Move {
  const entry = draft.ledger.get(instance.slot);
  const theirs =
    entry !== undefined && entry.pass !== token(draft) && instance.withdrawn?.pass === entry.pass;
  if (theirs && draft.now < entry.since + TAKE_OVER_MS)
    return { ...hold(instance, 'another pass'), until: entry.since + TAKE_OVER_MS };
  return withdraw(draft, instance, fault);
}

/** Builds what is missing and hands the slot back, last. */
function finishBegun(draft: Draft, instance: Instance): Move {
  const { slot } = instance;
  if (instance.terminating) return undefined;
  // The user's release is the operator's to finish first; until then the pod is not to be handed out again.
  if (instance.dirt !== undefined) return hold(instance, 'dirty');
  const building = instance.withdrawn?.building;
  // Another pass may still be on its way to destroy what it meant to replace: take the slot over first.
  if (building !== undefined && building !== draft.desired.revision)
    return takeOver(draft, instance, 'stale');
  if (instance.absent || instance.anchor === undefined) return build(draft, instance);
  if (instance.phase === 'ready') return { kind: 'return', slot };
  if (draft.leaving && instance.trouble !== undefined) return { kind: 'return', slot };
  return instance.trouble?.cause === 'quota' ? nudge(draft, instance) : undefined;
}

function withdraw(draft: Draft, instance: Instance, reason: ReplaceReason): Move {
  const { slot } = instance;
  if (!draft.ledger.has(slot) && reason !== 'surplus') {
    draft.places -= 1;
    if (isServing(instance)) draft.budget -= 1;
  }
  const entry = license(instance, draft.ledger.get(slot), token(draft), draft.desired.revision, draft.now);
  draft.ledger.set(slot, entry);
  draft.chosen.add(slot);
  return { kind: 'withdraw', slot, reason, building: draft.desired.revision };
}

function retry(draft: Draft, instance: Instance): void {
  const name = `${instance.slot}/${instance.trouble?.cause}`;
  const entry = draft.waiting.get(name);
  if (entry !== undefined) draft.waiting.set(name, tried(entry, draft.now));
}

function token(draft: Draft): string {
  return draft.observed.pass.token;
}

function hold(instance: Instance, reason: string): Held {
  return { slot: instance.slot, reason };
}

function finish(
  moves: { leaving: boolean; actions: readonly Action[]; held: readonly Held[] },
  { status, changed }: { status: Plan['status']; changed: boolean },
  now: number,
): Plan {
  const times = [...moves.held.map(({ until }) => until), nextDue(status.waiting, now)].filter(
    (at) => at !== undefined,
  );
  return {
    actions: moves.actions,
    status,
    changed,
    leaving: moves.leaving,
    held: moves.held,
    ...(times.length === 0 ? {} : { nextCheckAt: Math.min(...times) }),
  };
}
