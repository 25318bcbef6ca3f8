import { type AuditEntry, WRITE_VERBS } from '../real-cluster/audit.ts';

/** What the server's log says about a pool, moment by moment. */
export interface Trail {
  /** Write requests of one user that were carried out. */
  readonly writes: readonly Trace[];
  /** How many slots that nobody held Everwarm had taken away at one moment, at most. */
  readonly mostAway: number;
}

interface Trace {
  readonly entry: AuditEntry;
  readonly slot: string | undefined;
  /** A user held the instance before the write, and holds it after. */
  readonly isClaimed: boolean;
}

/**
 * Reads who held what from the log of a server that kept the bodies: the external Service of a slot names its Session, and
 * our WarmPool while the slot is withheld. Moments are the server's resourceVersions.
 */
export function trailOf(entries: readonly AuditEntry[], user: string): Trail {
  const holdings = new Holdings();
  const writes: Trace[] = [];
  for (const entry of inOrderOfTime(entries)) {
    const slot = /^instance-(\d+)-/.exec(entry.name)?.[1];
    const wasClaimed = slot !== undefined && holdings.claimed.has(slot);
    if (slot !== undefined && entry.resource === 'services' && !entry.name.endsWith('-int'))
      holdings.see(slot, entry);
    if (entry.user === user)
      writes.push({ entry, slot, isClaimed: wasClaimed && holdings.claimed.has(slot) });
  }
  return { writes, mostAway: holdings.mostAway };
}

/** Who holds which slot, from one write on an external Service to the next. */
class Holdings {
  readonly claimed = new Set<string>();
  readonly #withheld = new Set<string>();
  readonly #taken = new Set<string>();
  mostAway = 0;

  see(slot: string, { verb, answer }: AuditEntry): void {
    const owners = verb === 'delete' ? [] : (answer?.metadata.ownerReferences ?? []);
    const isClaimed = owners.some(({ kind }) => kind === 'Session');
    const isWithheld = owners.some(({ kind }) => kind === 'WarmPool');
    const isFree = !isClaimed && !this.claimed.has(slot);
    // What was held for its user and is waited for until it is clean was not taken away.
    if (isFree && isWithheld && !this.#withheld.has(slot)) this.#taken.add(slot);
    if (isClaimed || !isWithheld) this.#taken.delete(slot);
    put(this.claimed, slot, isClaimed);
    put(this.#withheld, slot, isWithheld);
    this.mostAway = Math.max(this.mostAway, this.#taken.size);
  }
}

function put(set: Set<string>, slot: string, isIn: boolean): void {
  if (isIn) set.add(slot);
  else set.delete(slot);
}

/** Writes that were carried out. What leaves no object behind has no version: there the log's own order tells. */
function inOrderOfTime(entries: readonly AuditEntry[]): readonly AuditEntry[] {
  let latest = 0;
  return entries
    .filter(({ verb, code }) => WRITE_VERBS.has(verb) && code >= 200 && code < 300)
    .map((entry) => {
      const version = Number(entry.answer?.metadata?.resourceVersion ?? 0);
      latest = Math.max(latest, version);
      return { entry, moment: version === 0 ? latest : version };
    })
    .sort((a, b) => a.moment - b.moment)
    .map(({ entry }) => entry);
}
