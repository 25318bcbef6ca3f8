import type { Instance, LedgerEntry, Policy } from './types.ts';

/** Troubles that a replacement cannot cure and that say nothing against the new revision. */
const NO_ROOM: ReadonlySet<string> = new Set(['quota', 'unschedulable']);

/** How many of `count` slots may be away at once: a number, or a percentage rounded down; at least 1. */
export function maxUnavailable(policy: Policy, count: number): number {
  const given = policy.maxUnavailable;
  const wanted = typeof given === 'number' ? given : Math.floor((count * Number.parseInt(given, 10)) / 100);
  return Math.max(1, Number.isFinite(wanted) ? Math.floor(wanted) : 1);
}

/** Would be handed out now, and rightly so: ready, clean and not withdrawn. */
export function isServing(instance: Instance): boolean {
  return (
    instance.anchor !== undefined &&
    instance.withdrawn === undefined &&
    instance.phase === 'ready' &&
    instance.dirt === undefined
  );
}

/** Not ready for a cause outside that replacing it cannot cure. A stale one is never blocked: replacing is its cure. */
export function isBlocked(instance: Instance): boolean {
  return instance.trouble !== undefined && instance.drift.length === 0 && instance.phase !== 'ready';
}

export interface Room {
  /** Ready, unclaimed instances that may still be withdrawn. */
  readonly budget: number;
  /** Slots that may still begin to be rebuilt, broken ones included. */
  readonly places: number;
  /** How many are away now. */
  readonly short: number;
}

/**
 * What P8 leaves. `unclaimed` are the unclaimed slots within the wanted number, empty ones included;
 * `ledger` the entries that stay. One that `rests` is in back-off: it frees its place.
 */
export function room(
  policy: Policy,
  unclaimed: readonly Instance[],
  ledger: readonly LedgerEntry[],
  rests: (instance: Instance) => boolean,
): Room {
  const max = maxUnavailable(policy, unclaimed.length);
  const bySlot = new Map(unclaimed.map((instance) => [instance.slot, instance]));
  const unready = unclaimed.filter((instance) => !isServing(instance));
  const announced = ledger.filter(({ slot }) => isServingIn(bySlot, slot));
  const rebuilding = ledger.filter(({ slot }) => {
    const instance = bySlot.get(slot);
    return instance !== undefined && !rests(instance);
  });

  const onlyNoRoom = unready.every((i) => isBlocked(i) && NO_ROOM.has(i.trouble?.cause ?? ''));
  const taken = ledger.filter(({ slot, short }) => {
    const instance = bySlot.get(slot);
    return short !== undefined && instance !== undefined && rests(instance);
  });
  // A full cluster would hold its own cure back for ever: the slots that wait for room need somebody to move. But when those
  // who moved found no room either, more than may be away are lost, and nobody else goes.
  const stuck = onlyNoRoom && taken.every(({ short = 0 }) => unready.length <= Math.max(max, short));
  const away = stuck ? Math.max(1, max - unready.length) : max - unready.length;
  return { budget: away - announced.length, places: max - rebuilding.length, short: unready.length };
}

function isServingIn(bySlot: ReadonlyMap<string, Instance>, slot: string): boolean {
  const instance = bySlot.get(slot);
  return instance !== undefined && isServing(instance);
}
