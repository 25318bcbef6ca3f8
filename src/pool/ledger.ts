import { isServing } from './budget.ts';
import type { Instance, LedgerEntry, Revision } from './types.ts';

/** What becomes of the entries of the last ledger, as far as the observed instances decide it. */
export interface Review {
  readonly keep: readonly LedgerEntry[];
  /** Entries of standing instances that need no replacement any more: touch the anchor, drop them in the next pass. */
  readonly touch: readonly LedgerEntry[];
}

/**
 * An entry leaves when its instance was returned, is gone or is claimed. One that stands unwithdrawn may still be on
 * its way to be withdrawn by an older worker: only a write on its anchor makes that worker's write fail, so the entry
 * stays until that write (its pass on the anchor) is seen.
 */
export function reviewLedger(
  ledger: readonly LedgerEntry[],
  bySlot: ReadonlyMap<string, Instance>,
  needsReplacement: (instance: Instance) => boolean,
): Review {
  const keep: LedgerEntry[] = [];
  const touch: LedgerEntry[] = [];
  for (const entry of ledger) {
    const instance = bySlot.get(entry.slot);
    if (instance === undefined || !instance.exists || instance.claimedBy !== undefined) continue;
    const { anchor } = instance;
    if (anchor === undefined || instance.withdrawn !== undefined || needsReplacement(instance)) {
      keep.push(entry);
    } else if (anchor.uid === entry.anchor && anchor.pass !== entry.pass) {
      keep.push(entry);
      touch.push(entry);
    }
  }
  return { keep, touch };
}

/** A replacement that nobody tells of is looked at once more after this long: by then most are ready. */
const FOLLOW_UP_MS = 10_000;

/** When to look at the youngest replacements although nothing is said; `undefined` when all of them are older. */
export function nextLook(ledger: readonly LedgerEntry[], now: number): number | undefined {
  const dues = ledger.map(({ since }) => since + FOLLOW_UP_MS).filter((due) => due > now);
  return dues.length === 0 ? undefined : Math.min(...dues);
}

/** What an entry is written for. */
export interface Licensee {
  readonly instance: Instance;
  /** The slot's entry so far. */
  readonly prior: LedgerEntry | undefined;
  readonly pass: string;
  readonly revision: Revision;
  readonly now: number;
  /** How many are away already. */
  readonly short: number;
}

/** The entry that lets this pass, and only this pass, disrupt the instance. */
export function license({ instance, prior, pass, revision, now, short }: Licensee): LedgerEntry {
  if (prior?.pass === pass && prior.revision === revision) return prior;
  const taken = prior?.short ?? (isServing(instance) ? short : undefined);
  return {
    slot: instance.slot,
    ...(instance.anchor === undefined ? {} : { anchor: instance.anchor.uid }),
    ...(instance.workload === undefined ? {} : { workload: instance.workload.uid }),
    revision,
    pass,
    since: now,
    ...(taken === undefined ? {} : { short: taken }),
  };
}
