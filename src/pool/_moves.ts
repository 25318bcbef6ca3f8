import { QUIET_RETRY_MS } from './_care.ts';
import { type Draft, faultOf, isNearPick, isNextPick, isRefused } from './_draft.ts';
import { keep, letGo } from './_pins.ts';
import { remedyFor } from './_remedies.ts';
import { isServing } from './budget.ts';
import { license } from './ledger.ts';
import type { Action, Held, Instance, ReplaceReason } from './types.ts';
import { attempt, isHeld, tried } from './waiting.ts';

/** How long a withdrawal is left to the pass that made it: its grace period, and time to act on what it then sees. */
const TAKE_OVER_MS = 4_000;

/** What comes of one slot in this plan: something to do, a reason to hold it back, or nothing. */
export type Move = Action | Held | undefined;

/** The next step for one slot, by what stands there. */
export function moveOf(draft: Draft, instance: Instance): Move {
  if (instance.claimedBy !== undefined) return undefined;
  if (instance.foreign !== undefined) return hold(instance, `foreign object ${instance.foreign}`);
  if (isRefused(draft, instance.slot)) return hold(instance, 'refused');
  if (instance.ailment !== undefined) return remedyFor(draft, instance, instance.ailment);
  const first = operatorsTurn(draft, instance);
  if (first !== undefined) return hold(instance, first);
  if (!instance.exists) return fillEmpty(draft, instance);
  const kept = draft.release === undefined ? letGo(draft, instance) : keep(draft, instance);
  if (kept !== undefined) return kept;

  const fault = faultOf(instance, draft.waiting, draft.now);
  const standing = instance.anchor !== undefined && instance.withdrawn === undefined;
  if (standing)
    return fault === undefined ? keepStanding(draft, instance) : replaceStanding(draft, instance, fault);
  return fault === undefined ? finishBegun(draft, instance) : clearBegun(draft, instance, fault);
}

/** What the platform's own operator is given time for in this slot: to make it, or to clean it. */
function operatorsTurn({ waiting, now }: Draft, { slot }: Instance): 'missing' | 'dirty' | undefined {
  return (['missing', 'dirty'] as const).find((cause) => {
    const entry = waiting.get(`${slot}/${cause}`);
    return entry !== undefined && isHeld(entry, now);
  });
}

function fillEmpty(draft: Draft, instance: Instance): Move {
  if (!instance.target || draft.leaving) return undefined;
  if (draft.unclaimed >= draft.desired.replicas) return hold(instance, 'too many instances');
  draft.unclaimed += 1;
  return build(draft, instance);
}

/** Nothing is wrong with it: a part that went missing is made again in place, an old label is renewed. */
function keepStanding(draft: Draft, instance: Instance): Move {
  if (draft.leaving || instance.terminating) return undefined;
  if (instance.absent) return build(draft, instance);
  if (instance.trouble?.cause === 'quota') return nudge(draft, instance);
  return instance.relabel ? relabel(draft, instance) : undefined;
}

/** Any write on the next pick may cost the claim that is under way, a new label too. */
function relabel(draft: Draft, instance: Instance): Move {
  if (!draft.observed.quiet && isNearPick(draft, instance)) {
    return { ...hold(instance, 'quiet'), until: draft.now + QUIET_RETRY_MS };
  }
  if (isNextPick(draft, instance)) draft.picks.add(instance.slot);
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
  if (fault !== 'surplus' && !draft.ledger.has(instance.slot) && draft.now < draft.batchUntil) {
    return { ...hold(instance, 'batch'), until: draft.batchUntil };
  }
  if (!draft.observed.quiet && isNearPick(draft, instance)) {
    return { ...hold(instance, 'quiet'), until: draft.now + QUIET_RETRY_MS };
  }
  if (isNextPick(draft, instance)) draft.picks.add(instance.slot);
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

/** What must go from a slot that is not handed out goes behind a fence of this very pass. */
function clearBegun(draft: Draft, instance: Instance, fault: ReplaceReason): Move {
  const { slot } = instance;
  if (instance.anchor === undefined && instance.terminating) return undefined;
  const mine = draft.ledger.get(slot)?.pass === token(draft) && instance.withdrawn?.pass === token(draft);
  // Only now the try counts: a withdrawal alone cures nothing, and its back-off would hold the cure back.
  if (mine && fault === 'broken') retry(draft, instance);
  if (mine) return fault === 'surplus' ? { kind: 'remove', slot } : { kind: 'empty', slot, reason: fault };
  if (!hasRoom(draft, instance, fault)) return hold(instance, 'budget');
  return takeOver(draft, instance, fault);
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
  const { now, short } = draft;
  const prior = draft.ledger.get(slot);
  const entry = license({
    instance,
    prior,
    pass: token(draft),
    revision: draft.desired.revision,
    now,
    short,
  });
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
