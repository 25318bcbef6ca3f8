/**
 * What the planner knows of the world. It knows no platform: each platform translates its own objects into these.
 * Times are epoch milliseconds of the API server's clock.
 */

/** A deterministic place in a pool, such as `3`. `*` stands for the pool as a whole. */
export type Slot = string;
export const WHOLE_POOL: Slot = '*';

/** Versioned hash of what is rendered for an instance. */
export type Revision = string;

/** `ready` is about the instance itself: whether it may be handed out also depends on `anchor` and `withdrawn`. */
export type Phase = 'missing' | 'pending' | 'ready' | 'deleting';

/** Why an instance is not ready, as far as its objects tell. */
export type Trouble =
  | 'quota'
  | 'unschedulable'
  | 'storage'
  | 'imagePull'
  | 'admission'
  | 'crash'
  | 'deadline';

export interface Identity {
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Anchor extends Identity {
  /** The pass that last wrote our annotation on it, if any did. */
  readonly pass?: string;
}

/** One object of a claimed instance that is not as its user needs it. */
export interface Need {
  /** `Kind/name`: each is cared for by itself, so that a refusal of one holds back no other. */
  readonly object: string;
  /** What it lacks, in the platform's words. */
  readonly lacks: readonly string[];
  /** It is missing, and the platform's own operator would make it too. */
  readonly made?: true;
}

/** One thing that may move the platform's own operator to mend an instance. */
export interface Remedy {
  /** What is done, in the platform's words. */
  readonly name: string;
  /** What it is written on: one write on it a plan. */
  readonly on: string;
  /** The instance is away for a while: it needs a place in the budget. */
  readonly takes: boolean;
}

/** What is wrong with an instance that nobody but its platform's operator can build. */
export interface Ailment {
  /** What it was tried with; another one starts afresh. */
  readonly key: string;
  readonly message: string;
  /** How long it is left to the operator first; 0 where that does not mend it by itself. */
  readonly afterMs: number;
  /** From the least to the most disruptive; none where only a person can help. */
  readonly remedies: readonly Remedy[];
}

/** The one pre-warmed instance in a slot, as observed; also a slot with nothing in it. */
export interface Instance {
  readonly slot: Slot;
  /** Hand-out order: the lowest is handed out next, the highest is replaced first. */
  readonly rank: number;
  /** Within the wanted number of slots. */
  readonly target: boolean;
  /** Any object of it stands, terminating ones included. */
  readonly exists: boolean;
  /** The object on which claims and deletes are decided. */
  readonly anchor?: Anchor;
  /** What runs it (a Deployment). */
  readonly workload?: Identity;
  readonly phase: Phase;
  /** A part (the anchor aside) is not there and may be created now. */
  readonly absent: boolean;
  /** A part is terminating: wait for it. */
  readonly terminating: boolean;
  /** Paths in which the live parts differ from what would be rendered now. Empty means current. */
  readonly drift: readonly string[];
  /** It differs although it was made for this very revision and never edited since. */
  readonly unstable: boolean;
  /** What a user left behind, in words; `undefined` means clean. */
  readonly dirt?: string;
  /** A person asked for a new one although this one is current. */
  readonly refresh: boolean;
  /** Current, but a label is older than it should be. */
  readonly relabel: boolean;
  /** The claim that holds it. */
  readonly claimedBy?: string;
  /** Users are in it whom the platform itself protects, whatever is done here: told, and nothing else. */
  readonly usedBy?: string;
  /** Something about its claim that a person must look at. */
  readonly claimTrouble?: ClaimTrouble;
  /** Our reference stands on the anchor of a claimed one, so that it does not go from user to user unseen. */
  readonly held: boolean;
  /** What its user lacks; empty unless the claim is settled. At rest it is empty. */
  readonly needs: readonly Need[];
  /** Our reference stands on the anchor of an unclaimed one: what is being built there, and the pass that wrote it. */
  readonly withdrawn?: { readonly building: Revision; readonly pass: string };
  /** Our reference stands on its other parts, too: on some of them, or on every one. Absent: on none. */
  readonly pinned?: 'some' | 'all';
  /** The platform would hand it out now. */
  readonly claimable: boolean;
  /** Name of an object under one of its names that is not ours. */
  readonly foreign?: string;
  readonly trouble?: { readonly cause: Trouble; readonly message: string };
  /** It is mended by its remedies alone. */
  readonly ailment?: Ailment;
}

export interface ClaimTrouble {
  /** Several claims on one instance, a claim that failed and still holds it, or one that holds the wrong object. */
  readonly reason: 'SplitClaim' | 'FailedClaim' | 'WrongObject';
  readonly message: string;
}

/** A problem of the whole pool: until it is gone nothing is planned but care for users, and left-overs are removed. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export interface Desired {
  readonly replicas: number;
  /** `undefined` when it cannot be computed: then nothing is stale and nothing is planned (`problem` says why). */
  readonly revision?: Revision;
  /** metadata.generation of the source, Kubernetes' own counter. */
  readonly sourceCounter: number;
  readonly problem?: Problem;
  /** Something around the pool that needs a person, and holds nothing back. */
  readonly concern?: Problem;
  /** This look found that what the platform's own operator makes is what would be made here. */
  readonly adopted?: boolean;
}

export interface Policy {
  readonly mode: 'observe' | 'guard';
  readonly paused: boolean;
  /** A number, or a percentage such as `25%`. */
  readonly maxUnavailable: number | string;
  readonly release?: Release;
}

/**
 * A person is about to change the definition, at which the platform's operator would replace everything at once: until then
 * every unclaimed instance is kept out of its reach. Over when the source's counter is another one, or the time is.
 */
export interface Release {
  /** The source's counter when the person said so. */
  readonly counter: number;
  /** Epoch ms. */
  readonly until: number;
}

/** What withdraws an instance that is only kept, and not to be replaced: it stands where else the revision that is built does. */
export const KEPT: Revision = 'kept';

/** A voluntary disruption in flight. Lives in the pool's status, changed only by compare-and-swap. */
export interface LedgerEntry {
  readonly slot: Slot;
  readonly anchor?: string;
  readonly workload?: string;
  readonly revision: Revision;
  /** The pass that wrote the entry: only that pass may act on it. */
  readonly pass: string;
  /** When that pass wrote it. */
  readonly since: number;
  /** How many were away when this one, which could be handed out, was taken. */
  readonly short?: number;
}

/**
 * Why something waits. `settling`: the platform's operator has the first word. `missing`, `dirty`: the same, for one slot.
 * `ailing`: a remedy is given time to help.
 */
export type WaitCause = Trouble | 'settling' | 'missing' | 'dirty' | 'ailing' | 'forbidden' | 'invalid';

export interface Waiting {
  readonly slot: Slot;
  readonly cause: WaitCause;
  /** What it was tried with; another one starts afresh. */
  readonly revision: string;
  readonly since: number;
  readonly tries: number;
}

/** What the last pass that wrote left in the pool's status, as far as decisions need it. */
export interface Memory {
  readonly observedGeneration?: number;
  readonly revision?: Revision;
  /** What the platform's own operator makes was once found to be what would be made here. Never taken back. */
  readonly adopted?: boolean;
  readonly ledger: readonly LedgerEntry[];
  readonly waiting: readonly Waiting[];
  readonly conditions: readonly Condition[];
  readonly counts?: Counts;
  readonly nextCheckAt?: number;
}

/** An action that the API refused in this pass. */
export interface Refusal {
  readonly slot: Slot;
  readonly cause: 'quota' | 'admission' | 'forbidden' | 'invalid';
  readonly message: string;
}

export interface Observed {
  readonly instances: readonly Instance[];
  readonly memory: Memory;
  /** The platform's own operator. `startedAt`: when it took its Lease. */
  readonly operator: { readonly alive: boolean; readonly startedAt: number };
  /** Nobody is about to be handed the platform's next pick. */
  readonly quiet: boolean;
  /** Left-overs that are ours to delete, by name. */
  readonly leftovers: readonly string[];
  /** Fingerprint of the quotas in force; a change of it wakes what waits for quota. */
  readonly quotas: string;
  /** The instances could not be read: what was known of them stands. */
  readonly unreadable?: boolean;
  /** This pass: its token, and what it was refused so far. */
  readonly pass: { readonly token: string; readonly refusals: readonly Refusal[] };
}

export type ReplaceReason = 'stale' | 'dirty' | 'broken' | 'refresh' | 'surplus';

/** The atoms of a plan, in the order in which they are carried out. */
export type Action =
  | { readonly kind: 'discard'; readonly name: string }
  /** Gives a claimed instance what it lacks; takes nothing from it. */
  | {
      readonly kind: 'heal';
      readonly slot: Slot;
      readonly object: string;
      readonly lacks: readonly string[];
    }
  | { readonly kind: 'unhold'; readonly slot: Slot }
  /** Keeps an intact instance out of the operator's reach: its anchor first, in a later round its other parts. */
  | { readonly kind: 'pin'; readonly slot: Slot; readonly step: 'anchor' | 'parts' }
  /** Hands it out again as it is, current or not: the anchor last, in a round of its own. */
  | { readonly kind: 'unpin'; readonly slot: Slot; readonly step: 'anchor' | 'parts' }
  | { readonly kind: 'touch'; readonly slot: Slot; readonly pass: string }
  | {
      readonly kind: 'withdraw';
      readonly slot: Slot;
      readonly reason: ReplaceReason;
      readonly building: Revision;
    }
  | { readonly kind: 'remove'; readonly slot: Slot }
  | { readonly kind: 'empty'; readonly slot: Slot; readonly reason: ReplaceReason }
  | { readonly kind: 'build'; readonly slot: Slot; readonly revision: Revision }
  | { readonly kind: 'return'; readonly slot: Slot }
  | { readonly kind: 'nudge'; readonly slot: Slot }
  /** Moves the platform's own operator to mend an instance. */
  | { readonly kind: 'prompt'; readonly slot: Slot; readonly remedy: string; readonly takes: boolean }
  | { readonly kind: 'relabel'; readonly slot: Slot };

export type ActionKind = Action['kind'];

/** `ready` and `current` count unclaimed instances within the wanted number. */
export interface Counts {
  readonly desired: number;
  readonly ready: number;
  readonly current: number;
  readonly stale: number;
  readonly claimed: number;
  readonly claimedStale: number;
  readonly claimedSurplus: number;
  readonly failed: number;
  readonly blocked: number;
}

export interface Condition {
  readonly type: 'Ready' | 'Current' | 'Progressing' | 'Degraded' | 'Leaving';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** The pool's status as it should stand. */
export interface PoolStatus extends Memory {
  readonly counts: Counts;
}

/** A slot that needs work and was held back; `until` (epoch ms) when that may be over by itself. */
export interface Held {
  readonly slot: Slot;
  readonly reason: string;
  readonly until?: number;
}

export interface Plan {
  readonly actions: readonly Action[];
  readonly status: PoolStatus;
  /** The status differs from the one that stands. */
  readonly changed: boolean;
  /** In `observe`, and still finishing what was begun (P21). */
  readonly leaving: boolean;
  /** Slots that need work and were held back, with the reason. */
  readonly held: readonly Held[];
  /** Epoch ms at which to look again although nothing was said. */
  readonly nextCheckAt?: number;
}
