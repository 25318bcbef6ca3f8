/**
 * What must be true of every write, whoever raced whom: pure checks by name over the world as it stood before and after the
 * write, and over what the writing pass had seen. They say nothing of how a plan is made, so that a wrong plan cannot hide.
 */
import type { Counts, Slot } from './types.ts';

/** One slot as it truly stands. */
export interface Standing {
  readonly slot: Slot;
  /** Within the wanted number. */
  readonly target: boolean;
  /** Any object of it stands. */
  readonly exists: boolean;
  /** Its anchor stands and is not going. */
  readonly anchored: boolean;
  readonly withdrawn: boolean;
  /** uid of the live claim that holds it. */
  readonly claimedBy?: string;
  /** uids of all claims that may be said to hold it. */
  readonly claimants: readonly string[];
  /** One of them has got everything that the platform gives, and is not going. */
  readonly settled: boolean;
  /** Whoever holds it is let in, as far as its objects decide that. */
  readonly admits: boolean;
  /** Every part stands and none is going. */
  readonly complete: boolean;
  /** Its workload is available. */
  readonly ready: boolean;
  /** A standing part is not what would be made now. */
  readonly stale: boolean;
  /** No trace of a former user. */
  readonly clean: boolean;
  /** The platform would hand it out. */
  readonly claimable: boolean;
  /** It waits for quota or for a node. */
  readonly noRoom: boolean;
  /** Something that is nobody's stands under one of its names. */
  readonly foreign: boolean;
  /** A person asked for a new one. */
  readonly refresh: boolean;
  /** It is withdrawn to be kept as it is, not to be replaced. */
  readonly kept: boolean;
  readonly workload?: string;
}

/** One pool as it truly stands. */
export interface Truth {
  /** Its definition is there and not going, and neither is its namespace. */
  readonly alive: boolean;
  /** Changes with the definition. */
  readonly definition: string;
  readonly replicas: number;
  readonly maxUnavailable: number | string;
  readonly leaving: boolean;
  /** A person is about to change the definition, and has asked to keep everything as it is until then. */
  readonly releasing: boolean;
  readonly slots: ReadonlyMap<Slot, Standing>;
}

/** What a pass had seen of a pool when it wrote, each kind of object as it stood when its latest look read it. */
export interface Sight {
  readonly truth: Truth;
  /** How many unclaimed instances this pass may have away at once, at most over its looks. */
  readonly allowed: number;
  /** A claim was on its way to some instance. */
  readonly unsettled: boolean;
  /** Nobody wrote anything between the first and the last read of that look. */
  readonly calm: boolean;
  /** Slots in which another pass destroyed or replaced something since. */
  readonly overtaken: ReadonlySet<Slot>;
  /** Slots that this pass withdrew since that look. */
  readonly fenced: ReadonlySet<Slot>;
}

export type PartKind =
  | 'anchor'
  | 'companion'
  | 'workload'
  | 'config'
  | 'route'
  | 'memory'
  | 'policy'
  | 'other';

/** What a committed patch changed. `entry`: the one entry of data that lets a user in. */
export type Change = 'labels' | 'annotations' | 'owners' | 'entry' | 'rest';

/** One write of ours, as it was sent. */
export interface Write {
  readonly verb: 'create' | 'patch' | 'delete';
  readonly object: string;
  readonly part: PartKind;
  readonly slot?: Slot;
  readonly guard: { readonly uid?: string; readonly resourceVersion?: string };
  /** What a committed patch changed of the object. */
  readonly changes?: readonly Change[];
  readonly read?: ReadObject;
}

/** An object as the pass read it, in every version that it ever saw. */
export interface ReadObject {
  readonly uid: string;
  readonly versions: readonly string[];
}

/** One committed write of ours. */
export interface Moment {
  readonly write: Write;
  readonly sight: Sight;
  readonly before: Truth;
  readonly after: Truth;
  /** The object as it stood: nobody's, ours or the pool's; and the claims that owned it. */
  readonly stood?: { readonly uid: string; readonly owned: boolean; readonly claims: readonly string[] };
  /** Claims that own it now. */
  readonly claims: readonly string[];
  /** Slots that we took away while they served and that do not serve yet, this one included. */
  readonly away: ReadonlySet<Slot>;
  /** Unclaimed instances that others made or released since the look. */
  readonly newcomers: number;
  /** The counts that this write left in the pool's status, and the source's counter that stood there before. */
  readonly counts?: Counts;
  /** It says too that what is wanted cannot be computed: then nothing counts as stale. */
  readonly blind?: boolean;
  readonly licensed?: ReadonlySet<Slot>;
  readonly observed?: { readonly before: number; readonly after: number };
}

export interface Violation {
  /** `S1`, `P7`, … */
  readonly name: string;
  readonly message: string;
}

type Check = (moment: Moment) => string | undefined;

/**
 * S1 (P11): nothing is taken from an instance in use. Once its claim is settled it may be given metadata, its user's entry, and
 * what is missing; our own reference may go at any time. What was planned before the claim may come late, where a claim need not
 * write: a missing part, a new label.
 */
const claimedImmunity: Check = ({ write, before, after, sight }) => {
  const slot = slotIn(before, write);
  if (slot?.claimedBy === undefined) return undefined;
  const said = `${write.verb} of ${write.object} although slot ${slot.slot} is claimed`;
  if (write.verb === 'delete') return said;
  const { changes = write.verb === 'patch' ? ['rest'] : [] } = write;
  const seen = slotIn(sight.truth, write);
  if (seen?.claimedBy === undefined) {
    const mild = write.verb === 'create' || (isOnly(changes, ['labels']) && !isService(write));
    return mild ? undefined : said;
  }
  if (!isOnly(changes, ['labels', 'annotations', 'owners', 'entry'])) return `${said}: ${changes.join(', ')}`;
  if (changes.includes('entry') && slotIn(after, write)?.admits !== true)
    return `${said}: its user is not let in`;
  const letsGo = sight.truth.leaving && isOnly(changes, ['annotations', 'owners']);
  return seen.settled || letsGo ? undefined : `${said}, and not settled`;
};

/** S2: claims are the platform's to give and to take; a settled one may be written on more objects of its own instance. */
const claimsUntouched: Check = ({ write, before, sight, stood, claims }) => {
  const were = stood?.claims ?? [];
  if (write.verb === 'delete' || were.join() === claims.join()) return undefined;
  const given = claims.filter((claim) => !were.includes(claim));
  // Of a pool that went since the look nothing is known any more but what was seen.
  const theirs = (slotIn(before, write) ?? slotIn(sight.truth, write))?.claimants ?? [];
  const keeps = were.every((claim) => claims.includes(claim));
  const isCare =
    slotIn(sight.truth, write)?.settled === true && given.every((claim) => theirs.includes(claim));
  if (keeps && isCare) return undefined;
  return `${write.object} was owned by claims [${were}] and is by [${claims}]`;
};

/** S3: what is handed out is whole, ready, clean and of the revision that the pass knew. */
const returnedFresh: Check = ({ write, before, after, sight }) => {
  if (!takesOff(write, before, after)) return undefined;
  // Whoever holds it keeps it: it is only not held for us any more.
  if (slotIn(before, write)?.claimedBy !== undefined) return undefined;
  const seen = slotIn(sight.truth, write);
  const now = slotIn(before, write);
  if (seen === undefined || now === undefined) return `slot ${write.slot} is returned unseen`;
  if (sight.overtaken.has(seen.slot)) return `slot ${seen.slot} is returned while another pass works on it`;
  const flaws = [
    ...(seen.complete ? [] : ['incomplete']),
    ...(seen.stale && !(seen.kept && now.kept) ? ['stale'] : []),
    ...(seen.clean ? [] : ['dirty']),
    ...(seen.ready || sight.truth.leaving ? [] : ['unready']),
  ];
  return flaws.length === 0 ? undefined : `slot ${seen.slot} is returned ${flaws.join(' and ')}`;
};

/** S4 (P10): no instance more than wanted is made. */
const surge: Check = ({ write, before, after, sight, newcomers }) => {
  if (write.verb !== 'create' || slotIn(before, write)?.exists !== false) return undefined;
  // What it lacked is made for an instance that stood when it was looked at, and went since.
  if (slotIn(sight.truth, write)?.exists === true) return undefined;
  const count = [...after.slots.values()].filter((s) => s.exists && s.claimedBy === undefined).length;
  const bound = Math.max(after.replicas, sight.truth.replicas) + newcomers;
  return count > bound ? `${count} unclaimed instances where ${bound} are wanted` : undefined;
};

/** S5 (P8): never more away by our own doing than allowed. */
const disruption: Check = ({ write, before, after, away, sight }) => {
  if (!puts(write, before, after)) return undefined;
  // What waits for room, or cannot be ours any more, waits for somebody else.
  const gone = [...away].filter((name) => {
    const slot = after.slots.get(name);
    return slot !== undefined && !slot.noRoom && !slot.foreign;
  });
  const bound = Math.max(sight.allowed, allowedOf(before));
  return gone.length > bound ? `slots ${gone.join(', ')} are away where ${bound} may be` : undefined;
};

/** S6: what is current, ready, clean, unclaimed and wanted stays, but where a person asked for all to be kept. */
const noThrash: Check = ({ write, before, after, sight }) => {
  if (!puts(write, before, after)) return undefined;
  const fine = [slotIn(sight.truth, write), slotIn(before, write)].every(
    (slot) => slot !== undefined && isServing(slot) && slot.target && !slot.stale && !slot.refresh,
  );
  if (!fine || sight.truth.releasing || sight.truth.definition !== before.definition) return undefined;
  return `slot ${write.slot} is taken away although nothing is wrong with it`;
};

/** S7: no user data, and nothing else that is not a pool's. */
const userData: Check = ({ write }) =>
  write.part === 'other' ? `${write.verb} of ${write.object}` : undefined;

/** S8 (P13): only what the pool or we own is touched. */
const ownership: Check = ({ write, stood }) =>
  stood === undefined || stood.owned
    ? undefined
    : `${write.verb} of ${write.object}, which is not the pool's`;

/**
 * S12: the status says what was seen, and its counter of the definition never goes back. What it licenses to be taken away
 * may count as gone already, and so may a slot of which a left-over stands: it is as good as empty.
 */
const truthful: Check = ({ counts, blind, licensed, observed, sight }) => {
  if (observed !== undefined && observed.after < observed.before)
    return `observedGeneration goes back from ${observed.before} to ${observed.after}`;
  if (counts === undefined || !sight.calm || !sight.truth.alive) return undefined;
  const standing = trueCounts(sight.truth, new Set());
  const leftOver = [...sight.truth.slots.values()].filter(({ foreign }) => foreign).map(({ slot }) => slot);
  const gone = trueCounts(sight.truth, new Set([...(licensed ?? []), ...leftOver]));
  const said = (Object.keys(standing) as (keyof typeof standing)[]).filter(
    (name) => blind !== true || (name !== 'stale' && name !== 'claimedStale'),
  );
  const wrong = said.filter((name) => counts[name] > standing[name] || counts[name] < gone[name]);
  return wrong.length === 0
    ? undefined
    : `the status says ${wrong.map((name) => `${name} ${counts[name]} (it was ${standing[name]})`).join(', ')}`;
};

/** S16: a write on an object is a write on the very object that was read. */
const noResurrection: Check = ({ write, stood }) => {
  if (write.verb === 'create') return undefined;
  if (stood === undefined) return `${write.verb} made ${write.object}, which was gone`;
  return write.read?.uid === stood.uid ? undefined : `${write.verb} of another ${write.object} than was read`;
};

/** S17 (P16): nothing is made for a pool that was seen to go. */
const terminating: Check = ({ write, sight }) =>
  write.verb === 'create' && !sight.truth.alive ? `${write.object} is made for a pool that goes` : undefined;

/** P7: nothing is destroyed that could be handed out. */
const withdrawnFirst: Check = ({ write, before }) => {
  const slot = slotIn(before, write);
  if (write.verb !== 'delete' || slot === undefined) return undefined;
  return slot.claimable ? `${write.object} is deleted while slot ${slot.slot} can be handed out` : undefined;
};

/** P20: no write on what the platform is about to hand out while somebody waits for it. */
const quiet: Check = ({ write, sight }) => {
  if (!isService(write) || write.verb === 'create' || write.slot === undefined || !sight.unsettled)
    return undefined;
  return nextPick(sight) === write.slot
    ? `${write.verb} of ${write.object}, the next to be handed out, while a claim is on its way`
    : undefined;
};

const CHECKS: Readonly<Record<string, Check>> = {
  S1: claimedImmunity,
  S2: claimsUntouched,
  S3: returnedFresh,
  S4: surge,
  S5: disruption,
  S6: noThrash,
  S7: userData,
  S8: ownership,
  S12: truthful,
  S16: noResurrection,
  S17: terminating,
  P7: withdrawnFirst,
  P20: quiet,
};

/** Everything that one committed write of ours breaks. */
export function violationsOf(moment: Moment): readonly Violation[] {
  return Object.entries(CHECKS).flatMap(([name, check]) => {
    const message = check(moment);
    return message === undefined ? [] : [{ name, message }];
  });
}

/**
 * P5, asked of every request before it is sent, committed or not: a patch tests the resourceVersion that was read; a delete
 * carries the uid and, but for a companion, the resourceVersion.
 */
export function unguarded({ verb, object, part, guard, read }: Write): Violation | undefined {
  if (verb === 'create') return undefined;
  const versioned =
    guard.resourceVersion !== undefined && read?.versions.includes(guard.resourceVersion) === true;
  const named = guard.uid !== undefined && guard.uid === read?.uid;
  const safe = verb === 'patch' ? versioned : named && (part === 'companion' || versioned);
  return safe ? undefined : { name: 'P5', message: `${verb} of ${object} is not bound to what was read` };
}

/** P2: within one look, users' claims are read after everything that they may hold. */
export function tornLook(
  reads: readonly string[],
  claims: string,
  parts: readonly string[],
): Violation | undefined {
  const at = reads.indexOf(claims);
  const late = parts.filter((part) => at >= 0 && reads.lastIndexOf(part) > at);
  const never = parts.filter((part) => !reads.includes(part));
  if (late.length === 0 && never.length === 0 && at >= 0) return undefined;
  return { name: 'P2', message: `read in the order ${reads.join(', ')}` };
}

/** S11: a pass has an end. A slot may be taken over, emptied, built and returned in one pass, and that be contended. */
export function effortBound(slots: number): number {
  return PARTS * slots * 4 + STATUS_WRITES;
}

/**
 * L1, asked of a world at rest: what keeps a pool from being as its definition says. Where instances wait for room they
 * need not be ready; and where more of them do than may be away, nobody else need make way for the definition.
 */
export function unconverged(truth: Truth): readonly Violation[] {
  const slots = [...truth.slots.values()];
  const isFull = slots.filter(({ noRoom }) => noRoom).length > allowedOf(truth);
  return slots
    .filter((slot) => slot.claimedBy === undefined && !slot.foreign)
    .map((slot) => (slot.target ? flawsOf(slot, isFull) : leftOf(slot)))
    .filter((message) => message !== undefined)
    .map((message) => ({ name: 'L1', message }));
}

function leftOf({ slot, exists }: Standing): string | undefined {
  return exists ? `surplus slot ${slot} still stands` : undefined;
}

function flawsOf(slot: Standing, isFull: boolean): string | undefined {
  const flaws = Object.entries({
    incomplete: !slot.complete,
    unready: !slot.ready && !slot.noRoom,
    stale: slot.stale && !isFull,
    dirty: !slot.clean,
    withdrawn: slot.withdrawn && !slot.noRoom,
  }).filter(([, isSo]) => isSo);
  if (flaws.length === 0) return undefined;
  return `slot ${slot.slot} is ${flaws.map(([flaw]) => flaw).join(' and ')} in the end`;
}

/** How many unclaimed instances may be away at once; as `budget.ts` says it, said again. */
export function allowedOf({ maxUnavailable, slots, releasing }: Truth): number {
  const unclaimed = [...slots.values()].filter((slot) => slot.target && slot.claimedBy === undefined).length;
  if (releasing) return slots.size;
  const wanted =
    typeof maxUnavailable === 'number'
      ? maxUnavailable
      : Math.floor((unclaimed * Number.parseInt(maxUnavailable, 10)) / 100);
  return Math.max(1, wanted);
}

/** Handed out next, as the pass saw it; what it has withdrawn since does not count. */
export function nextPick({ truth, fenced }: Pick<Sight, 'truth' | 'fenced'>): Slot | undefined {
  const free = [...truth.slots.values()].filter((slot) => slot.claimable && !fenced.has(slot.slot));
  return free.sort((a, b) => Number(a.slot) - Number(b.slot))[0]?.slot;
}

/** Would be handed out now, and rightly so. */
export function isServing(slot: Standing): boolean {
  return (
    slot.anchored &&
    !slot.withdrawn &&
    slot.claimedBy === undefined &&
    slot.complete &&
    slot.ready &&
    slot.clean
  );
}

/** Our reference was put on the anchor by this write. */
export function puts(write: Write, before: Truth, after: Truth): boolean {
  if (write.part !== 'anchor' || write.verb === 'create') return false;
  if (slotIn(before, write)?.claimedBy !== undefined) return false;
  return slotIn(before, write)?.withdrawn === false && slotIn(after, write)?.withdrawn !== false;
}

const PARTS = 5;
const STATUS_WRITES = 12;

function isOnly(changes: readonly Change[], allowed: readonly Change[]): boolean {
  return changes.every((change) => allowed.includes(change));
}

function isService({ part }: Write): boolean {
  return part === 'anchor' || part === 'companion';
}

function takesOff(write: Write, before: Truth, after: Truth): boolean {
  if (write.part !== 'anchor' || write.verb !== 'patch') return false;
  return slotIn(before, write)?.withdrawn === true && slotIn(after, write)?.withdrawn === false;
}

function slotIn(truth: Truth, { slot }: Write): Standing | undefined {
  return slot === undefined ? undefined : truth.slots.get(slot);
}

function trueCounts(
  truth: Truth,
  gone: ReadonlySet<Slot>,
): Pick<Counts, 'desired' | 'ready' | 'stale' | 'claimed' | 'claimedStale' | 'claimedSurplus'> {
  const all = [...truth.slots.values()];
  const claimed = all.filter((slot) => slot.claimedBy !== undefined);
  const standing = all.filter(
    (slot) =>
      slot.target && slot.claimedBy === undefined && slot.anchored && !slot.withdrawn && !gone.has(slot.slot),
  );
  const isStale = (slot: Standing) => slot.stale || slot.refresh;
  return {
    desired: truth.replicas,
    ready: standing.filter(isServing).length,
    stale: standing.filter(isStale).length,
    claimed: claimed.length,
    claimedStale: claimed.filter(isStale).length,
    claimedSurplus: claimed.filter((slot) => !slot.target).length,
  };
}
