import type { Commit, Store } from '../embedded/types.ts';
import type { KubeObject, OwnerReference } from '../kube/api.ts';
import { RELEASE_ANNOTATION } from '../platform/warm-pool.ts';
import { maxUnavailable } from '../pool/budget.ts';

/** A promise that was broken by a write of Everwarm's. */
export interface Violation {
  /** S1: of an instance in use something was taken or changed that its user works with. S5: more are withdrawn than may be. */
  readonly name: 'S1' | 'S5';
  readonly message: string;
}

export interface WatchdogOptions {
  readonly store: Pick<Store, 'onCommit'>;
  /** The name under which Everwarm writes. */
  readonly user: string;
  readonly now: () => number;
  readonly onViolation: (violation: Violation) => void;
}

/** Counts broken promises, commit by commit, from nothing but what the store holds. */
export interface Watchdog {
  count(): number;
  stop(): void;
}

/** Watches from now on; what stands already is not known to it. */
export function watchPromises(options: WatchdogOptions): Watchdog {
  const ledger = new Promises(options);
  const stop = options.store.onCommit((commit) => ledger.note(commit));
  return { count: () => ledger.violations, stop };
}

/** What an instance in use may get: a missing object, metadata, and its user's entry in the allow-list. */
function isGentle({ type, object, previous }: Commit): boolean {
  if (type !== 'MODIFIED' || previous === undefined) return type === 'ADDED';
  const essence = ({ metadata: _, data, ...rest }: KubeObject) => {
    const { 'authenticated-emails-list': _list, ...others } = (data ?? {}) as Record<string, unknown>;
    return JSON.stringify([rest, others]);
  };
  return essence(object) === essence(previous);
}

/** One slot of one pool, by the objects under its names. */
interface Slot {
  /** The last twelve characters of the definition's uid: every name of the pool ends in it. */
  readonly pool: string;
  readonly number: number;
  /** Owners of those of its objects on which a claim can stand. */
  readonly owners: Map<string, readonly OwnerReference[]>;
  /** Since when it is claimed, epoch ms. */
  claimedAt: number;
  /** It stood, and Everwarm withdrew it. One that is made withdrawn was nobody's before. */
  isAway: boolean;
}

const INSTANCE = /^instance-([1-9][0-9]*)-.*?([0-9a-f]{12})(?:-int)?$/;
const PARTS: ReadonlySet<string> = new Set(['Service', 'Deployment', 'ConfigMap']);
/** A withdrawal was licensed a moment before it is sent: claims that came in between shrink nothing. */
const CLAIM_LAG_MS = 10_000;
const DEFAULT_MAX = '25%';

class Promises {
  violations = 0;
  readonly #options: WatchdogOptions;
  readonly #slots = new Map<string, Slot>();
  readonly #claims = new Set<string>();
  readonly #sizes = new Map<string, number>();
  readonly #policies = new Map<string, number | string>();
  /** By pool: the definition's generation, and the one for which a person asked to keep everything away. */
  readonly #definitions = new Map<string, string>();
  readonly #releases = new Map<string, string>();

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  note(commit: Commit): void {
    const { type, object } = commit;
    const { uid = '', ownerReferences = [] } = object.metadata;
    switch (object.kind) {
      case 'Session':
        if (type === 'DELETED') this.#claims.delete(uid);
        else this.#claims.add(uid);
        return;
      case 'AppDefinition':
        this.#sizes.set(shortUid(uid), sizeIn(object));
        this.#definitions.set(shortUid(uid), String(object.metadata.generation));
        return;
      case 'WarmPool': {
        const source = ownerReferences.find(({ kind }) => kind === 'AppDefinition');
        if (source === undefined) return;
        this.#policies.set(shortUid(source.uid), maxIn(object));
        this.#releases.set(shortUid(source.uid), releaseIn(object));
        return;
      }
      default:
        this.#noteInstance(commit);
    }
  }

  #noteInstance(commit: Commit): void {
    const { type, object, request } = commit;
    const slot = PARTS.has(object.kind) ? this.#slotOf(object.metadata.name) : undefined;
    if (slot === undefined) return;
    const isOurs = request.user === this.#options.user;
    const before = { claimed: this.#isClaimed(slot), withdrawn: isWithdrawn(slot) };
    if (isOurs && before.claimed && !isGentle(commit)) {
      this.#violated('S1', `${request.verb} of ${object.kind}/${object.metadata.name} while a user holds it`);
    }
    const name = `${object.kind}/${object.metadata.name}`;
    if (type === 'DELETED' || object.kind === 'ConfigMap') slot.owners.delete(name);
    else slot.owners.set(name, object.metadata.ownerReferences ?? []);
    if (!before.claimed && this.#isClaimed(slot)) slot.claimedAt = this.#options.now();
    if (!isWithdrawn(slot)) slot.isAway = false;
    else if (isOurs && type === 'MODIFIED' && !before.withdrawn && !before.claimed) {
      slot.isAway = true;
      this.#checkBudget(slot.pool);
    }
  }

  #checkBudget(pool: string): void {
    if (this.#releases.get(pool) === this.#definitions.get(pool)) return;
    const size = this.#sizes.get(pool) ?? 0;
    const targets = [...this.#slots.values()].filter((slot) => slot.pool === pool && slot.number <= size);
    const claimed = targets.filter((slot) => this.#isClaimed(slot));
    const settled = claimed.filter(({ claimedAt }) => this.#options.now() - claimedAt > CLAIM_LAG_MS);
    const away = targets.filter((slot) => slot.isAway && !claimed.includes(slot));
    const policy = {
      mode: 'guard',
      paused: false,
      maxUnavailable: this.#policies.get(pool) ?? DEFAULT_MAX,
    } as const;
    const max = maxUnavailable(policy, size - settled.length);
    if (away.length <= max) return;
    const numbers = away.map((slot) => slot.number).join(', ');
    this.#violated('S5', `slots ${numbers} are withdrawn at once, where ${max} may be`);
  }

  #slotOf(name: string): Slot | undefined {
    const match = INSTANCE.exec(name);
    if (match === null) return undefined;
    const [, number = '', pool = ''] = match;
    const key = `${pool}/${number}`;
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot: Slot = { pool, number: Number(number), owners: new Map(), claimedAt: 0, isAway: false };
    this.#slots.set(key, slot);
    return slot;
  }

  #isClaimed({ owners }: Slot): boolean {
    return [...owners.values()].some((list) => list.some(({ uid }) => this.#claims.has(uid)));
  }

  #violated(name: Violation['name'], message: string): void {
    this.violations += 1;
    this.#options.onViolation({ name, message });
  }
}

function isWithdrawn({ owners }: Slot): boolean {
  return [...owners.values()].some((list) => list.some(({ kind }) => kind === 'WarmPool'));
}

function shortUid(uid: string): string {
  return uid.slice(-12);
}

/** The generation for which a release is being prepared. */
function releaseIn({ metadata }: KubeObject): string {
  return metadata.annotations?.[RELEASE_ANNOTATION]?.split('/')[0] ?? '';
}

function sizeIn(definition: KubeObject): number {
  const spec = definition['spec'] as { minInstances?: number } | undefined;
  return spec?.minInstances ?? 0;
}

function maxIn(warmPool: KubeObject): number | string {
  const spec = warmPool['spec'] as { rollout?: { maxUnavailable?: number | string } } | undefined;
  return spec?.rollout?.maxUnavailable ?? DEFAULT_MAX;
}
