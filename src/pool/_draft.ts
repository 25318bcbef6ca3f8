import { isBlocked, isServing, maxUnavailable, room } from './budget.ts';
import { reviewLedger } from './ledger.ts';
import { releaseIn } from './release.ts';
import type { StatusInput } from './status.ts';
import {
  type Action,
  type Desired,
  type Instance,
  type LedgerEntry,
  type Observed,
  type Policy,
  type Release,
  type ReplaceReason,
  type Revision,
  type Waiting,
  WHOLE_POOL,
} from './types.ts';
import { isGivenUp, isHeld } from './waiting.ts';

/** How long the next batch waits for the last one: a grace period a slot would make a roll-out of fast instances slow. */
const BATCH_MS = 10_000;

/** Everything one plan is made from, and what it gathers on the way. */
export interface Draft {
  readonly desired: Desired & { readonly revision: Revision };
  readonly observed: Observed;
  readonly policy: Policy;
  readonly now: number;
  readonly leaving: boolean;
  /** A release that is being prepared: nothing new is replaced, everything is kept. */
  readonly release: Release | undefined;
  readonly waiting: Map<string, Waiting>;
  readonly ledger: Map<string, LedgerEntry>;
  /** Slots withdrawn by this plan. */
  readonly chosen: Set<string>;
  readonly short: number;
  budget: number;
  places: number;
  /** A refused create holds all creates of the pool: the next slot would be refused for the same reason. */
  readonly refused: boolean;
  /** Until when the batch that is being rebuilt keeps the next one waiting. */
  readonly batchUntil: number;
  /** What the platform may hand out, in its order; the first that is not chosen is its next pick. */
  readonly claimable: Instance[];
  /** So many may have been handed back a moment ago. */
  readonly reach: number;
  /** How many are put out of reach by this plan. */
  pins: number;
  /** What this plan writes on to move the platform's operator. */
  readonly prompted: Set<string>;
  /** What the platform would hand out next, where this plan writes on it. */
  readonly picks: Set<string>;
  /** Unclaimed instances that stand or are about to, terminating ones included (P10). */
  unclaimed: number;
}

/** A fresh draft, and the anchors to touch before their entries may leave the ledger. */
export function begin(input: Omit<StatusInput, 'desired'> & Pick<Draft, 'desired'>): {
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
  // What somebody else's object blocks, or nothing helps, will never be ready: it must not hold the others back.
  const isLost = (i: Instance) =>
    i.foreign !== undefined || isBeyondHelp(i, waiting.get(`${i.slot}/ailing`), now);
  const wanted = unclaimed.filter((i) => i.target && !isLost(i));
  const rests = (instance: Instance) => isBlocked(instance) && faultOf(instance, waiting, now) === undefined;
  const { ledger } = observed.memory;
  // What was refused is not on its way: until it is tried again the others need not wait for it.
  const underWay = (entries: readonly LedgerEntry[]) =>
    entries.filter(({ slot }) => !isRefused({ waiting, now }, slot));
  // More was announced than may go by now (a claim, a crash): all that still serve are given up and asked for anew.
  const tight = room(policy, wanted, underWay(reviewLedger(ledger, bySlot, mayGo).keep), rests).budget < 0;
  const review = reviewLedger(ledger, bySlot, (i) => mayGo(i) && !(tight && isServing(i)));
  const { budget, places, short } = room(policy, wanted, underWay(review.keep), rests);
  const rebuilding = review.keep.filter(({ slot }) => {
    const instance = bySlot.get(slot);
    return instance !== undefined && !isServing(instance) && !rests(instance);
  });
  const draft: Draft = {
    desired: input.desired,
    observed,
    policy,
    now,
    leaving,
    release: leaving ? undefined : releaseIn(policy, input.desired, now),
    waiting,
    ledger: new Map(review.keep.map((entry) => [entry.slot, entry])),
    chosen: new Set(),
    picks: new Set(),
    prompted: new Set(),
    pins: 0,
    refused: input.waiting.some((w) => w.slot === WHOLE_POOL && isHeld(w, now)),
    batchUntil: Math.max(0, ...rebuilding.map(({ since }) => since + BATCH_MS)),
    reach: maxUnavailable(policy, wanted.length),
    claimable: observed.instances.filter((i) => i.claimable).sort((a, b) => a.rank - b.rank),
    short,
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

/** It is not ready, and nothing that can be done here will change that. */
function isBeyondHelp(instance: Instance, entry: Waiting | undefined, now: number): boolean {
  const { ailment } = instance;
  if (ailment === undefined || isServing(instance)) return false;
  return ailment.remedies.length === 0 || isGivenUp(ailment, entry, now);
}

/** Begun before broken before ready, then the highest rank: the platform's next pick comes last. Empty slots fill upwards. */
export function inOrder(draft: Draft): readonly Instance[] {
  const urgency = (i: Instance): number => {
    if (!i.exists) return 3;
    if (i.withdrawn !== undefined || draft.ledger.has(i.slot)) return 0;
    return isServing(i) ? 2 : 1;
  };
  const byRank = (a: Instance, b: Instance) => (a.exists ? b.rank - a.rank : a.rank - b.rank);
  return [...draft.observed.instances].sort((a, b) => urgency(a) - urgency(b) || byRank(a, b));
}

/** Why this instance must make way for another; `undefined` when it may stay. */
export function faultOf(
  instance: Instance,
  waiting: ReadonlyMap<string, Waiting>,
  now: number,
): ReplaceReason | undefined {
  if (!instance.target) return 'surplus';
  if (instance.dirt !== undefined) return 'dirty';
  if (instance.drift.length > 0) return 'stale';
  if (instance.refresh) return 'refresh';
  const cause = instance.trouble?.cause;
  if (cause === 'crash' || cause === 'deadline') {
    const entry = waiting.get(`${instance.slot}/${cause}`);
    return entry !== undefined && !isHeld(entry, now) ? 'broken' : undefined;
  }
  return undefined;
}

export function isRefused({ waiting, now }: Pick<Draft, 'waiting' | 'now'>, slot: string): boolean {
  const entries = [waiting.get(`${slot}/forbidden`), waiting.get(`${slot}/invalid`)];
  return entries.some((entry) => entry !== undefined && isHeld(entry, now));
}

/**
 * It may be the one that the platform is about to hand out: what was handed back a moment ago stands before it in the order, and
 * the platform, which does not look twice, may not know of that yet.
 */
export function isNearPick(draft: Draft, { slot }: Instance): boolean {
  const at = draft.claimable.findIndex((one) => one.slot === slot);
  return at >= 0 && at <= draft.reach;
}

/** The platform picks by rank and does not compare: a write on its pick may cost the claim that is under way. */
export function isNextPick(draft: Draft, { slot }: Instance): boolean {
  while (draft.chosen.has(draft.claimable[0]?.slot ?? '')) draft.claimable.shift();
  return draft.claimable[0]?.slot === slot;
}
