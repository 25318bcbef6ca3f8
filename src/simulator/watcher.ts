import { EVENTS } from '../controller/write-events.ts';
import type { EmbeddedStore } from '../embedded/store.ts';
import type { Commit } from '../embedded/types.ts';
import type { KubeApi, KubeObject, Outcome, Place, Resource } from '../kube/api.ts';
import { SESSIONS } from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import {
  allowedOf,
  effortBound,
  isServing,
  type Moment,
  puts,
  type Truth,
  tornLook,
  unguarded,
  type Violation,
  violationsOf,
  type Write,
} from '../pool/invariants.ts';
import type { Counts } from '../pool/types.ts';
import { changesOf, movesInstances, partOf, remember, standing, type Track } from './_track.ts';
import { createTruthReader, type TruthReader } from './truth.ts';

/** Judges every read and write of Everwarm against the world as it truly is. */
export interface Watcher {
  readonly truth: TruthReader;
  /** The broken rules, each name once a pass. */
  readonly violations: readonly Violation[];
  /** Write requests of Everwarm that reached the server so far, refused ones included. */
  writes(): number;
  /** The user under which a pass must act, and the way its calls must go. One for each pass. */
  beginPass(pool: string): Pass;
}

interface Pass {
  readonly user: string;
  /** `api` whose calls are judged in the moment in which they reach the server. */
  judge(api: KubeApi): KubeApi;
}

const USER = 'everwarm/';
/** Kinds of happenings times objects, each created or counted up. */
const TOLD_MAX = 64;
const LOOKED_AT = ['services', 'deployments', 'configmaps', 'pods'];

/** Watches from now on; what stands already is known. */
export function createWatcher(store: EmbeddedStore, now: () => number): Watcher {
  const watch = new Watch(store, now);
  return {
    truth: watch.truth,
    violations: watch.violations,
    writes: () => watch.writes,
    beginPass: (pool) => watch.beginPass(pool),
  };
}

class Watch {
  readonly truth: TruthReader;
  readonly violations: Violation[] = [];
  writes = 0;
  readonly #now: () => number;
  readonly #store: EmbeddedStore;
  readonly #passes = new Map<string, Track>();
  /** By pool: slots that we took away while they served. */
  readonly #away = new Map<string, Set<string>>();
  /** By slot of a pool: our latest destruction there, by revision and pass. */
  readonly #destroyed = new Map<string, { readonly revision: number; readonly user: string }>();
  /** uid of the definition that a pool's status was last written for. */
  readonly #speaksOf = new Map<string, string>();
  /** Revisions at which somebody else made or released an instance. */
  readonly #newcomers = new Map<string, number[]>();

  constructor(store: EmbeddedStore, now: () => number) {
    this.#now = now;
    this.#store = store;
    this.truth = createTruthReader();
    for (const commit of standing(store)) this.truth.apply(commit);
    store.onCommit((commit) => this.#judgeCommit(commit));
  }

  beginPass(pool: string): Pass {
    const user = `${USER}${pool}/${this.#passes.size + 1}`;
    const track: Track = {
      pool,
      reads: [],
      began: 0,
      seen: new Map(),
      slots: 0,
      sight: undefined,
      allowed: 0,
      writes: 0,
      told: 0,
      barred: false,
      fenced: new Set(),
      read: new Map(),
    };
    this.#passes.set(user, track);
    return { user, judge: (api) => this.#judged(api, track) };
  }

  #report(pass: Track | undefined, found: Violation): void {
    this.violations.push({ ...found, message: `${pass?.pool ?? ''}: ${found.message}` });
  }

  #judged(api: KubeApi, track: Track): KubeApi {
    const noteRead = (resource: Resource, outcome: Outcome<KubeObject>) => {
      if (outcome.kind === 'ok') remember(track, resource, outcome.value);
      return outcome;
    };
    return {
      ...api,
      get: async (resource, place) => {
        if (isEvent(resource)) return api.get(resource, place);
        if (resource.plural === WARM_POOLS.plural && track.reads.length > 0) this.#endLook(track);
        if (track.reads.length === 0) track.began = this.#store.revision();
        if (resource.plural !== SESSIONS.plural) track.reads.push(resource.plural);
        this.#keep(track, resource);
        return noteRead(resource, await api.get(resource, place));
      },
      list: async (resource, options) => {
        track.reads.push(resource.plural);
        this.#keep(track, resource);
        // What is seen is the world at this very moment, whenever the answer arrives.
        if (resource.plural === SESSIONS.plural) this.#see(track);
        const outcome = await api.list(resource, options);
        track.barred ||= outcome.kind === 'forbidden';
        if (outcome.kind === 'ok') for (const item of outcome.value.items) remember(track, resource, item);
        return outcome;
      },
      create: (resource, namespace, body) => {
        const { name } = (body as KubeObject).metadata;
        if (isEvent(resource)) return this.#telling(track, api.create(resource, namespace, body));
        this.#send(track, this.#writeOf('create', resource, { name }, {}, track));
        return api.create(resource, namespace, body);
      },
      patch: (resource, place, patch) => {
        if (isEvent(resource)) return this.#telling(track, api.patch(resource, place, patch));
        const [first] = patch.type === 'json' ? patch.patch : [];
        const tested = first?.op === 'test' && first.path === '/metadata/resourceVersion';
        const guard = tested ? { resourceVersion: String(first.value) } : {};
        this.#send(track, this.#writeOf('patch', resource, place, guard, track));
        return api.patch(resource, place, patch);
      },
      delete: (resource, place, options) => {
        const guard = options.preconditions ?? {};
        this.#send(track, this.#writeOf('delete', resource, place, guard, track));
        return api.delete(resource, place, options);
      },
    };
  }

  /** Events change nothing that a pass decides on. They are counted, for at rest there are none, and they have an end. */
  #telling<T>(track: Track, call: Promise<T>): Promise<T> {
    this.writes += 1;
    track.told += 1;
    if (track.told === TOLD_MAX + 1)
      this.#report(track, { name: 'S11', message: `one pass wrote more than ${TOLD_MAX} Events` });
    return call;
  }

  #send(track: Track, write: Write): void {
    if (track.reads.length > 0) this.#endLook(track);
    this.writes += 1;
    track.writes += 1;
    const most = effortBound(track.slots);
    if (track.writes === most + 1)
      this.#report(track, { name: 'S11', message: `one pass sent more than ${most} writes` });
    const found = unguarded(write);
    if (found !== undefined) this.#report(track, found);
  }

  /** The next read or write shows that a look is over. One that a refusal broke off says nothing. */
  #endLook(track: Track): void {
    const found = track.reads.includes(SESSIONS.plural)
      ? tornLook(track.reads, SESSIONS.plural, LOOKED_AT)
      : undefined;
    if (found !== undefined) this.#report(track, found);
    track.reads = [];
  }

  #keep({ seen }: Track, { plural }: Resource): void {
    seen.set(plural, this.truth.snapshot(plural));
  }

  #see(track: Track): void {
    const truth = this.truth.truthOf(track.pool, track.seen);
    track.slots = Math.max(track.slots, truth.slots.size);
    track.allowed = Math.max(track.allowed, allowedOf(truth));
    track.fenced.clear();
    track.sight = {
      truth,
      allowed: track.allowed,
      unsettled: this.truth.hasUnsettled(track.pool, this.#now(), track.seen),
      calm: track.began === this.#store.revision(),
      overtaken: new Set(),
      fenced: track.fenced,
      revision: this.#store.revision(),
    };
  }

  #writeOf(
    verb: Write['verb'],
    resource: Resource,
    { name, subresource }: Place,
    guard: Write['guard'],
    track: Track,
  ): Write {
    const part = partOf(resource, name, subresource);
    const slot =
      part === 'route'
        ? this.#slotOfRoute(track.pool, name)
        : (this.truth.slotOf(name)?.slot ?? numberIn(name));
    const read = track.read.get(`${resource.plural}/${name}`);
    return {
      verb,
      object: `${resource.kind}/${name}`,
      part: slot === undefined && part !== 'memory' && part !== 'policy' ? 'other' : part,
      guard,
      ...(slot === undefined ? {} : { slot }),
      ...(read === undefined ? {} : { read }),
    };
  }

  /** A user's route is part of the instance that the user holds. */
  #slotOfRoute(pool: string, name: string): string | undefined {
    const slots = [...this.truth.truth(pool).slots.values()];
    return slots.find(({ claimants }) => claimants.some((uid) => name === `${uid}-route`))?.slot;
  }

  #judgeCommit(commit: Commit): void {
    if (isEvent(commit.resource)) return;
    const track = this.#passes.get(commit.request.user);
    const pools = track !== undefined ? [track.pool] : movesInstances(commit) ? this.#concerned(commit) : [];
    const before = pools.map((pool) => this.truth.truth(pool));
    this.truth.apply(commit);
    // It may be ready for no longer than until somebody edits it.
    if (track === undefined && commit.resource.kind === 'Deployment') this.#noteReady();
    for (const [at, pool] of pools.entries()) {
      const after = this.truth.truth(pool);
      const was = before[at] ?? after;
      if (track === undefined) this.#noteOthers(pool, was, after);
      else this.#judgeOurs(commit, track, was, after);
      this.#noteServing(pool, after);
    }
  }

  #concerned({ object }: Commit): readonly string[] {
    const pool = this.truth.slotOf(object.metadata.name)?.pool;
    return pool === undefined ? this.truth.pools() : [pool];
  }

  #noteOthers(pool: string, before: Truth, after: Truth): void {
    const more = unclaimed(after) - unclaimed(before);
    if (more <= 0) return;
    const list = this.#newcomers.get(pool) ?? [];
    for (let at = 0; at < more; at += 1) list.push(this.#store.revision());
    this.#newcomers.set(pool, list);
  }

  #noteReady(): void {
    for (const [pool, { size }] of this.#away) if (size > 0) this.#noteServing(pool, this.truth.truth(pool));
  }

  #noteServing(pool: string, after: Truth): void {
    const away = this.#away.get(pool);
    for (const name of away ?? []) {
      const slot = after.slots.get(name);
      if (slot === undefined || !slot.target || slot.claimedBy !== undefined || isServing(slot))
        away?.delete(name);
    }
  }

  #judgeOurs(commit: Commit, track: Track, before: Truth, after: Truth): void {
    const { request, resource, object } = commit;
    const write = this.#committed(commit, track);
    const { sight } = track;
    if (sight === undefined) {
      // A pool's own WarmPool is made after a look at nothing but its source.
      if (write.part !== 'policy' && !(track.barred && write.part === 'memory'))
        this.#report(track, { name: 'P2', message: `${write.object} unseen` });
      return;
    }
    if (puts(write, before, after)) this.#noteFence(write, track, sight.truth, before);
    const moment: Moment = {
      write,
      sight: { ...sight, overtaken: this.#overtaken(track.pool, request.user, sight.revision) },
      before,
      after,
      ...this.#aboutObject(commit, track),
      away: this.#awayFrom(track.pool),
      newcomers: (this.#newcomers.get(track.pool) ?? []).filter((at) => at > sight.revision).length,
      ...this.#statusNews(write, track, commit),
    };
    for (const found of violationsOf(moment)) this.#report(track, found);
    this.#noteDestruction(write, track.pool, request.user);
    if (write.verb !== 'delete') remember(track, resource, object);
  }

  #committed({ request, resource, object, previous }: Commit, track: Track): Write {
    const verb = request.verb === 'create' || request.verb === 'delete' ? request.verb : 'patch';
    const place: Place = {
      name: object.metadata.name,
      ...(request.subresource === 'status' ? { subresource: 'status' } : {}),
    };
    const guard = request.options?.preconditions ?? {};
    const write = this.#writeOf(verb, resource, place, guard, track);
    // A sidecar's Service and Deployment are told from the instance's own by their label alone.
    const isSidecar = object.metadata.labels?.['theia-cloud.io/sidecar'] !== undefined;
    return { ...write, ...(isSidecar ? { part: 'config' } : {}), changes: changesOf(object, previous) };
  }

  #aboutObject({ type, object, previous }: Commit, track: Track): Pick<Moment, 'stood' | 'claims'> {
    return {
      ...(previous === undefined ? {} : { stood: this.#stood(track, previous) }),
      claims: type === 'DELETED' ? [] : this.truth.claimsOn(object),
    };
  }

  #awayFrom(pool: string): Set<string> {
    const known = this.#away.get(pool);
    if (known !== undefined) return known;
    const fresh = new Set<string>();
    this.#away.set(pool, fresh);
    return fresh;
  }

  #noteFence({ slot: name = '' }: Write, { pool, fenced }: Track, seen: Truth, before: Truth): void {
    fenced.add(name);
    const slot = before.slots.get(name);
    // A slot that the pass took for surplus was withdrawn by the definition, not by choice.
    const wanted = slot?.target === true && seen.slots.get(name)?.target === true;
    if (wanted && isServing(slot)) this.#awayFrom(pool).add(name);
  }

  #statusNews(
    write: Write,
    { pool, sight }: Track,
    { object, previous }: Commit,
  ): Pick<Moment, 'counts' | 'blind' | 'licensed' | 'observed'> {
    if (write.part !== 'memory') return {};
    const now = (object['status'] ?? {}) as Status;
    const then = (previous?.['status'] ?? {}) as Status;
    const [source = ''] = sight?.truth.definition.split('/') ?? [];
    // What stood there may speak of a definition of the same name that is gone.
    const inherited = this.#speaksOf.get(pool) !== source;
    this.#speaksOf.set(pool, source);
    const observed = { before: then.observedGeneration ?? 0, after: now.observedGeneration ?? 0 };
    return {
      ...(now.counts === undefined ? {} : { counts: now.counts }),
      // Where what is wanted cannot be computed nothing is stale (P17).
      blind: now.conditions?.some(({ reason }) => reason === 'RevisionUnknown') === true,
      licensed: new Set((now.ledger ?? []).map(({ slot }) => slot)),
      ...(inherited ? {} : { observed }),
    };
  }

  #noteDestruction({ verb, part, slot }: Write, pool: string, user: string): void {
    if (slot === undefined || part === 'anchor' || verb === 'patch') return;
    this.#destroyed.set(`${pool}/${slot}`, { revision: this.#store.revision(), user });
  }

  #overtaken(pool: string, user: string, since: number): ReadonlySet<string> {
    const slots = new Set<string>();
    for (const [key, destruction] of this.#destroyed) {
      const [of, slot = ''] = key.split('/');
      if (of === pool && destruction.user !== user && destruction.revision > since) slots.add(slot);
    }
    return slots;
  }

  /** The pool as the pass knew it, or as it is now: a definition may have been made anew meanwhile. */
  #stood({ pool, seen, sight }: Track, object: KubeObject): NonNullable<Moment['stood']> {
    const owners = object.metadata.ownerReferences ?? [];
    const lords = ['appdefinitions', 'warmpools'].flatMap((plural) => [
      this.truth.object({ plural }, pool)?.metadata.uid,
      seen.get(plural)?.get(pool)?.metadata.uid,
    ]);
    const { slot = '' } = this.truth.slotOf(object.metadata.name) ?? {};
    const users = [this.truth.truth(pool), sight?.truth].flatMap(
      (truth) => truth?.slots.get(slot)?.claimants ?? [],
    );
    const owned =
      object.kind === 'WarmPool' ||
      owners.some(({ uid }) => lords.includes(uid) || users.includes(uid)) ||
      (owners.length === 0 && isLeaked(object));
    return { uid: object.metadata.uid ?? '', owned, claims: this.truth.claimsOn(object) };
  }
}

/** Nobody's, under a name of the pool's, and labelled as only its makers label. */
function isLeaked({ metadata }: KubeObject): boolean {
  const labels = metadata.labels ?? {};
  return 'theia-cloud.io/appdefinition-generation' in labels || 'theia-cloud.io/sidecar' in labels;
}

function isEvent({ group, plural }: Resource): boolean {
  return group === EVENTS.group && plural === EVENTS.plural;
}

function numberIn(name: string): string | undefined {
  return /^instance-([0-9]+)-/.exec(name)?.[1];
}

function unclaimed({ slots }: Truth): number {
  return [...slots.values()].filter((slot) => slot.exists && slot.claimedBy === undefined).length;
}

interface Status {
  readonly counts?: Counts;
  readonly conditions?: readonly { readonly reason: string }[];
  readonly ledger?: readonly { readonly slot: string }[];
  readonly observedGeneration?: number;
}
