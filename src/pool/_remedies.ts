import type { Draft } from './_draft.ts';
import { isServing } from './budget.ts';
import type { Action, Ailment, Held, Instance, Remedy } from './types.ts';
import { dueAt, isGivenUp, isHeld, tried } from './waiting.ts';

/**
 * The next remedy of an instance that its platform's own operator builds: each when the one before was given its time and was
 * seen not to help. That it is tried stands in the status before it is: of two passes one tries, and a crash costs one try.
 */
export function remedyFor(draft: Draft, instance: Instance, ailment: Ailment): Action | Held | undefined {
  if (draft.leaving) return undefined;
  const { slot } = instance;
  const name = `${slot}/ailing`;
  const entry = draft.waiting.get(name);
  const remedy = entry === undefined ? undefined : remedyAt(ailment, entry.tries);
  // Only a person can help: what is wrong is the platform's to tell.
  if (entry === undefined || remedy === undefined) return undefined;
  if (isGivenUp(ailment, entry, draft.now)) return { slot, reason: 'given up' };
  const until = entry.tries === 0 ? entry.since + ailment.afterMs : (dueAt(entry) ?? 0);
  if (until > draft.now) return { slot, reason: 'ailing', until };
  const reason = heldBack(draft, instance, remedy);
  if (reason !== undefined) return { slot, reason };
  if (remedy.takes) draft.places -= 1;
  if (remedy.takes && isServing(instance)) draft.budget -= 1;
  draft.waiting.set(name, tried(entry, draft.now));
  draft.prompted.add(remedy.on);
  return { kind: 'prompt', slot, remedy: remedy.name, takes: remedy.takes };
}

function heldBack(draft: Draft, instance: Instance, { on, takes }: Remedy): string | undefined {
  if (draft.prompted.has(on)) return 'another slot';
  if (takes && draft.policy.paused) return 'paused';
  return takes && !hasRoom(draft, instance) ? 'budget' : undefined;
}

/** The last one is repeated. */
function remedyAt({ remedies }: Ailment, tries: number): Remedy | undefined {
  return remedies[Math.min(tries, remedies.length - 1)];
}

/** Whatever was taken and is not back yet has its place; one that still serves is about to go. */
function hasRoom(draft: Draft, instance: Instance): boolean {
  const away = draft.observed.instances.filter((one) => one !== instance && isAway(draft, one));
  const places = draft.places - away.length;
  const budget = draft.budget - away.filter(isServing).length;
  return places >= 1 && (!isServing(instance) || budget >= 1);
}

function isAway(draft: Draft, { slot, target, claimedBy, withdrawn, ailment, phase }: Instance): boolean {
  if (!target || claimedBy !== undefined || draft.ledger.has(slot)) return false;
  if (withdrawn !== undefined) return true;
  // This plan's own are counted where they are chosen.
  const entry = draft.observed.memory.waiting.find((one) => one.slot === slot && one.cause === 'ailing');
  if (entry === undefined || entry.tries === 0) return false;
  if (ailment === undefined) return phase !== 'ready';
  return (
    ailment.key === entry.revision &&
    isHeld(entry, draft.now) &&
    remedyAt(ailment, entry.tries - 1)?.takes === true
  );
}
