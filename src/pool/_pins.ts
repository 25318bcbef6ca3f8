import { QUIET_RETRY_MS } from './_care.ts';
import { type Draft, isNextPick } from './_draft.ts';
import { isKept, isOutOfReach, releaseIn } from './release.ts';
import type { StatusInput } from './status.ts';
import type { Action, Held, Instance } from './types.ts';

/** Far longer than the operator ever took from a change to its last look at what stands; its first writes come after 0.2 s. */
const COMES_MS = 5_000;

type Move = Action | Held | undefined;

/** Puts an instance out of the operator's reach before a release; `undefined`: it takes its usual course. */
export function keep(draft: Draft, instance: Instance): Move {
  const { release } = draft;
  if (release === undefined || !instance.target || !isIntact(instance)) return undefined;
  const { slot, withdrawn } = instance;
  if (withdrawn === undefined) {
    // When all others are out of reach, and the claims are read afresh.
    if (isNextPick(draft, instance) && draft.pins > 0) return { slot, reason: 'announced' };
    draft.pins += 1;
    return onQuietPick(draft, instance, { kind: 'pin', slot, step: 'anchor' });
  }
  if (isOutOfReach(instance)) return { slot, reason: 'release', until: release.until };
  if (isKept(instance)) return { kind: 'pin', slot, step: 'parts' };
  // What is being replaced is finished first.
  const isDone = instance.phase === 'ready' && instance.drift.length === 0;
  return isDone ? { kind: 'pin', slot, step: 'anchor' } : undefined;
}

/** Hands out again, as it is, what was kept for a release that is over; `undefined`: nothing is kept there. */
export function letGo(draft: Draft, instance: Instance): Move {
  const move = letGoOf(instance);
  return move !== undefined && instance.withdrawn === undefined ? onQuietPick(draft, instance, move) : move;
}

/**
 * The same where nothing else can be planned: what is kept needs no repair to be handed out. After the change that is as soon
 * as the operator has come to it, or `later`.
 */
export function letAllGo({ desired, observed, policy, waiting, now }: StatusInput): {
  readonly actions: readonly Action[];
  readonly later: { readonly until?: number };
} {
  const actions = observed.instances
    .filter(isKept)
    .map(letGoOf)
    .filter((move) => move !== undefined);
  if (actions.length === 0 || releaseIn(policy, desired, now) !== undefined)
    return { actions: [], later: {} };
  const settling = waiting.find(({ cause }) => cause === 'settling');
  const until = (settling?.since ?? 0) + COMES_MS;
  return until <= now ? { actions, later: {} } : { actions: [], later: { until } };
}

/** The anchor last: as long as it is withheld, whatever else is half done harms nobody. */
function letGoOf(instance: Instance): Action | undefined {
  const { slot, pinned, withdrawn, phase, drift } = instance;
  if (!isIntact(instance)) return undefined;
  if (isKept(instance) && pinned === undefined)
    return phase === 'ready' ? { kind: 'unpin', slot, step: 'anchor' } : undefined;
  // What is about to be emptied loses its parts anyway.
  const stays = withdrawn === undefined || isKept(instance) || drift.length === 0;
  return pinned !== undefined && stays ? { kind: 'unpin', slot, step: 'parts' } : undefined;
}

/** All of it stands and could be handed out; whether it is current does not matter to whoever keeps it. */
function isIntact({ anchor, absent, terminating, dirt, foreign }: Instance): boolean {
  return anchor !== undefined && !absent && !terminating && dirt === undefined && foreign === undefined;
}

/** Any write on the next pick may cost the claim that is under way. */
function onQuietPick(draft: Draft, instance: Instance, action: Action): Move {
  if (!isNextPick(draft, instance)) return action;
  const { slot } = instance;
  if (!draft.observed.quiet) return { slot, reason: 'quiet', until: draft.now + QUIET_RETRY_MS };
  draft.picks.add(slot);
  return action;
}
