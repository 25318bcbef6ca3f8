import type { Clock, Random } from '../clock.ts';
import { unreachable } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import type { Failure, KubeApi, KubeObject, List, ListOptions, Resource, WatchEvent } from './api.ts';
import { watchFailure } from './errors.ts';
import { apiVersionOf } from './objects.ts';

/**
 * What happened to one object. `sync`: it is there, at the start or after the watch had lost its place. `kept` is what
 * `keep` makes of it; `before` is what was remembered of it so far, absent when it was not known. A `deleted` found by
 * listing shows an object of which nothing but its identity is left; what is known of it is `kept` then.
 */
export interface Change<T> {
  readonly type: 'changed' | 'deleted' | 'sync';
  readonly object: KubeObject;
  readonly kept: T;
  readonly before?: T;
}

export interface ReflectorOptions<T> {
  readonly api: KubeApi;
  readonly resource: Resource;
  readonly list: ListOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Told of each round that failed, before it is waited for; and with nothing, once the kind is heard of again. */
  readonly onTrouble?: (trouble: Trouble | undefined) => void;
  /** What to remember of an object; everything else of it is forgotten. */
  readonly keep: (object: KubeObject) => T;
  readonly onChange: (change: Change<T>) => void;
}

/** A list or a watch that came to nothing. `failure` is absent where the server only did not keep its word. */
export interface Trouble {
  readonly failure?: Failure;
  /** Rounds that failed one after the other, this one included. */
  readonly failures: number;
  readonly waitMs: number;
}

/** How often a reflector has listed, and opened a watch, since its start. */
interface Effort {
  readonly lists: number;
  readonly watches: number;
}

/** One kind in one namespace, followed. */
export interface Reflector {
  /** Lists and watches until `signal` aborts, whatever happens on the way. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** When the server last said something about the kind, epoch ms; `undefined` before it ever did. */
  lastSeenAt(): number | undefined;
  /** Whether the server refused the first list because the kind is not served to us (404, 403). Asking goes on. */
  isAbsent(): boolean;
  effort(): Effort;
  /** Resolves with the first list, with `isAbsent`, or with the end of the run. */
  readonly answered: Promise<void>;
}

interface Known<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly kept: T;
}

/** How one watch ended. `expired`: the server has forgotten our place (410). `brief`: at once, without a word. */
type WatchEnd =
  | { readonly kind: 'ended' | 'brief' | 'silent' | 'expired' }
  | { readonly kind: 'failed'; readonly failure: Failure };

const WATCH_SECONDS_MIN = 240;
const WATCH_SECONDS_SPREAD = 60;
const SILENCE_MAX_MS = 75_000;
// Two silent watches in a row prove nothing: a list does, and liveness asks for a sign within four minutes. It also
// finds what a watch from a resourceVersion of the future never tells (a server restored from a backup).
const SILENT_WATCHES_MAX = 2;
// A server that ends every watch at once must not be asked in a loop.
const WATCH_BRIEF_MS = 5_000;
const WATCH_FAILURES_MAX = 3;
const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MAX_MS = 30_000;
// No two requests come closer than this, whatever the dice of the back-off say: each may be doubled once, by a new token or
// a new connection. Only the watch after a list that went well follows at once.
const PACE_MS = 1_000;

/** A reflector for one kind. Nothing happens until `run`. */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector {
  return new KindReflector(options);
}

class KindReflector<T> implements Reflector {
  readonly #options: ReflectorOptions<T>;
  readonly #known = new Map<string, Known<T>>();
  #place: string | undefined;
  readonly #answered = Promise.withResolvers<void>();
  #state: 'starting' | 'listed' | 'absent' = 'starting';
  #lastSeenAt: number | undefined;
  #failures = 0;
  #isTroubled = false;
  #silences = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #lists = 0;
  #watches = 0;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  lastSeenAt(): number | undefined {
    return this.#lastSeenAt;
  }

  isAbsent(): boolean {
    return this.#state === 'absent';
  }

  effort(): Effort {
    return { lists: this.#lists, watches: this.#watches };
  }

  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isListDue = this.#place === undefined || this.#silences >= SILENT_WATCHES_MAX;
      const failure = isListDue ? await this.#relist(signal) : undefined;
      if (failure !== undefined) await this.#backOff(failure, signal);
      else if (!signal.aborted) await this.#afterWatch(await this.#watch(signal), signal);
    }
    this.#answered.resolve();
  }

  /** Keeps its distance from the request before. */
  async #pace(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const waitMs = this.#askedAt + PACE_MS - clock.now();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    this.#askedAt = clock.now();
  }

  async #relist(signal: AbortSignal): Promise<Failure | undefined> {
    const { api, resource, list, clock } = this.#options;
    await this.#pace(signal);
    if (signal.aborted) return undefined;
    this.#lists += 1;
    const outcome = await api.list(resource, list);
    if (outcome.kind !== 'ok') {
      const isAbsent = outcome.kind === 'notFound' || outcome.kind === 'forbidden';
      // Also a refusal is a sign of life: it says that nothing of the kind can be missed.
      if (isAbsent) this.#lastSeenAt = clock.now();
      if (isAbsent && this.#state === 'starting') this.#state = 'absent';
      if (isAbsent) this.#answered.resolve();
      return outcome;
    }
    this.#lastSeenAt = clock.now();
    this.#silences = 0;
    if (this.#failures === 0) this.#askedAt = Number.NEGATIVE_INFINITY;
    // With a place we only make sure that silence means peace: objects that are as they were are no news then.
    this.#compare(outcome.value, this.#place !== undefined);
    this.#place = outcome.value.resourceVersion;
    this.#state = 'listed';
    this.#answered.resolve();
    return undefined;
  }

  #compare(list: List, quietly: boolean): void {
    const present = new Set(list.items.map(nameOf));
    for (const known of [...this.#known.values()]) {
      const object = bareObject(this.#options.resource, known);
      if (!present.has(nameOf(object))) this.#forget(object);
    }
    for (const object of list.items) {
      const isSame = this.#isKnown(object);
      if (!(isSame && quietly)) this.#learn(object, isSame || this.#state !== 'listed' ? 'sync' : 'changed');
    }
  }

  async #watch(signal: AbortSignal): Promise<WatchEnd> {
    const { api, resource, list, clock, random } = this.#options;
    await this.#pace(signal);
    if (signal.aborted) return { kind: 'ended' };
    this.#watches += 1;
    const timeoutSeconds = WATCH_SECONDS_MIN + Math.floor(random() * (WATCH_SECONDS_SPREAD + 1));
    const startedAt = clock.now();
    const silence = new AbortController();
    const listen = () => clock.after(SILENCE_MAX_MS, () => silence.abort());
    let cancel = listen();
    let isBrief = true;
    try {
      const options = { ...list, resourceVersion: this.#place ?? '', timeoutSeconds };
      for await (const event of api.watch(resource, options, AbortSignal.any([signal, silence.signal]))) {
        cancel();
        cancel = listen();
        this.#lastSeenAt = clock.now();
        if (event.type === 'ERROR') return errorEnd(event.code, event.message);
        isBrief = false;
        this.#recover();
        this.#follow(event);
      }
    } catch (error) {
      return failureEnd(error);
    } finally {
      cancel();
    }
    if (silence.signal.aborted) return { kind: 'silent' };
    return { kind: isBrief && clock.now() - startedAt < WATCH_BRIEF_MS ? 'brief' : 'ended' };
  }

  async #afterWatch(end: WatchEnd, signal: AbortSignal): Promise<void> {
    this.#silences = end.kind === 'silent' ? this.#silences + 1 : 0;
    switch (end.kind) {
      case 'ended':
      case 'silent':
        return this.#recover();
      case 'expired':
        this.#place = undefined;
        // The first list follows at once; a place that is lost again without a word in between, ever more rarely.
        if (this.#failures > 0) await this.#backOff(undefined, signal);
        else this.#failures = 1;
        return;
      case 'brief':
        return await this.#backOff(undefined, signal);
      case 'failed':
        // It may be our place that the server cannot stomach: then only a list helps.
        if (this.#failures >= WATCH_FAILURES_MAX) this.#place = undefined;
        return await this.#backOff(end.failure, signal);
      default:
        return unreachable(end);
    }
  }

  #follow(event: Exclude<WatchEvent, { type: 'ERROR' }>): void {
    if (event.type === 'BOOKMARK') {
      this.#place = event.resourceVersion;
      return;
    }
    const { object } = event;
    if (event.type === 'DELETED') this.#forget(object);
    // A watch that is opened again may repeat what it said last.
    else if (!this.#isKnown(object)) this.#learn(object, 'changed');
    this.#place = object.metadata.resourceVersion ?? this.#place;
  }

  #isKnown(object: KubeObject): boolean {
    const known = this.#known.get(nameOf(object));
    const { uid, resourceVersion } = object.metadata;
    return known !== undefined && known.uid === uid && known.resourceVersion === resourceVersion;
  }

  #learn(object: KubeObject, type: 'changed' | 'sync'): void {
    const { name, namespace, uid = '', resourceVersion = '' } = object.metadata;
    const previous = this.#known.get(nameOf(object));
    // Another uid under the name: the one we knew was deleted while nobody looked.
    if (previous !== undefined && previous.uid !== uid)
      this.#forget(bareObject(this.#options.resource, previous));
    this.#guard(object, () => {
      const kept = this.#options.keep(object);
      this.#known.set(nameOf(object), { uid, resourceVersion, namespace, name, kept });
      const before = previous?.uid === uid ? { before: previous.kept } : {};
      this.#options.onChange({ type, object, kept, ...before });
    });
  }

  #forget(object: KubeObject): void {
    const known = this.#known.get(nameOf(object));
    this.#known.delete(nameOf(object));
    this.#guard(object, () => {
      const kept = known === undefined ? this.#options.keep(object) : known.kept;
      this.#options.onChange({ type: 'deleted', object, kept, ...(known && { before: known.kept }) });
    });
  }

  /** One object that its reader cannot bear must not keep the others from being seen. */
  #guard(object: KubeObject, tell: () => void): void {
    try {
      tell();
    } catch (error) {
      const cause = error instanceof Error ? error.message : 'unknown';
      this.#options.log.error('reflector.unreadable', {
        kind: this.#options.resource.kind,
        object: nameOf(object),
        cause,
      });
    }
  }

  #recover(): void {
    this.#failures = 0;
    if (this.#isTroubled) this.#options.onTrouble?.(undefined);
    this.#isTroubled = false;
  }

  async #backOff(failure: Failure | undefined, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { clock, random, onTrouble } = this.#options;
    this.#failures += 1;
    const longest = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(this.#failures - 1, 10));
    const retryAfterMs = failure?.kind === 'throttled' ? failure.retryAfterMs : 0;
    const waitMs = Math.round(retryAfterMs + random() * longest);
    this.#isTroubled = true;
    // Whatever was asked a second time came just now.
    this.#askedAt = clock.now();
    onTrouble?.({ failures: this.#failures, waitMs, ...(failure === undefined ? {} : { failure }) });
    await clock.sleep(waitMs, signal);
  }
}

function errorEnd(code: number, message: string): WatchEnd {
  return code === 410 ? { kind: 'expired' } : { kind: 'failed', failure: { kind: 'unknown', message } };
}

function failureEnd(error: unknown): WatchEnd {
  const message = error instanceof Error ? error.message : 'unknown';
  const failure: Failure = watchFailure(error) ?? { kind: 'unknown', message };
  return failure.kind === 'expired' ? { kind: 'expired' } : { kind: 'failed', failure };
}

function nameOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

/** What is left of an object that went while nobody looked. */
function bareObject<T>(resource: Resource, known: Known<T>): KubeObject {
  const { name, namespace, uid, resourceVersion } = known;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
  };
}
