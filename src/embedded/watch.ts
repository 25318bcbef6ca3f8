import type { Clock, Random } from '../clock.ts';
import type { KubeObject } from '../kube/api.ts';
import type { Target } from './core.ts';
import { inVersion } from './form.ts';
import type { Change } from './history.ts';
import { deepFreeze } from './json.ts';
import { apiVersionOf, kindKey } from './kind.ts';
import { selectorOf } from './read.ts';
import { fieldForbidden, unsupported } from './schema/field-error.ts';
import type { Selector } from './selectors.ts';
import { bareError, invalid, invalidOptions, StatusError, unknownResource } from './status.ts';
import type { EmbeddedStore } from './store.ts';
import type { Commit, RequestOptions, StoreRequest } from './types.ts';

/** One line of a watch stream. `object` is a Status for ERROR and a bare object for BOOKMARK. */
export interface StreamEvent {
  readonly type: Commit['type'] | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
}

export interface WatchParameters {
  readonly resource: StoreRequest['resource'];
  readonly namespace?: string;
  readonly options?: RequestOptions;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly user: string;
}

/** Where the events of one watch go. */
export interface Sink {
  event(event: StreamEvent): void;
  /** The server ends the stream. */
  end(): void;
}

/** Lets a watch end by itself and send bookmarks; without it the watch lives until it is stopped. */
export interface WatchTime {
  readonly clock: Clock;
  readonly random: Random;
}

const BOOKMARK_MS = 60_000;
/** One bookmark shortly before the end lets the next watch begin there. */
const LAST_BOOKMARK_MS = 2_000;
const TIMEOUT_MIN_MS = 1_800_000;

/**
 * Opens a watch: what is asked for from the past comes at once, then every commit as it happens. Returns the way to stop
 * it. Throws a StatusError for a request that cannot be a watch.
 */
export function openWatch(
  store: EmbeddedStore,
  parameters: WatchParameters,
  sink: Sink,
  time?: WatchTime,
): () => void {
  const { resource, namespace, options, user } = parameters;
  const request: StoreRequest = {
    verb: 'list',
    resource,
    user,
    ...(namespace === undefined ? {} : { namespace }),
    ...(options === undefined ? {} : { options }),
  };
  const target = store.target(request);
  if (target === undefined) throw unknownResource();
  checkParameters(parameters);
  return new Stream(store, target, parameters, sink).start(time);
}

function checkParameters({ options, sendInitialEvents }: WatchParameters): void {
  const { resourceVersion = '', resourceVersionMatch: match } = options ?? {};
  if (!/^\d*$/.test(resourceVersion)) {
    const shown = JSON.stringify(resourceVersion);
    throw bareError(
      `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`,
    );
  }
  const refuse = (field: string, detail: string) =>
    invalidOptions('ListOptions', fieldForbidden(field, detail));
  if (sendInitialEvents === undefined && match !== undefined) {
    throw refuse(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    );
  }
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    const error = fieldForbidden(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
    const known = match === undefined ? [] : [unsupported('resourceVersionMatch', match, ['NotOlderThan'])];
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [error, ...known]);
  }
}

class Stream {
  readonly #store: EmbeddedStore;
  readonly #target: Target;
  readonly #parameters: WatchParameters;
  readonly #sink: Sink;
  readonly #selector: Selector | undefined;
  readonly #stops: (() => void)[] = [];
  /** Up to here everything was sent. */
  #revision: number;
  #open = true;

  constructor(store: EmbeddedStore, target: Target, parameters: WatchParameters, sink: Sink) {
    this.#store = store;
    this.#target = target;
    this.#parameters = parameters;
    this.#sink = sink;
    this.#selector = selectorOf(target);
    this.#revision = store.revision();
  }

  start(time: WatchTime | undefined): () => void {
    if (this.#replay()) {
      this.#stops.push(this.#store.onCommit((commit) => this.#send(commit)));
      if (time !== undefined) this.#limit(time);
    }
    return () => this.#stop();
  }

  #stop(): void {
    this.#open = false;
    for (const stop of this.#stops.splice(0)) stop();
  }

  #end(): void {
    if (!this.#open) return;
    this.#stop();
    this.#sink.end();
  }

  /** What lies before now; `false` when the stream has ended with it. */
  #replay(): boolean {
    const { options, sendInitialEvents, allowWatchBookmarks } = this.#parameters;
    const given = options?.resourceVersion ?? '';
    const fresh = given === '' || given === '0';
    if (sendInitialEvents === true || (sendInitialEvents === undefined && fresh)) {
      this.#sendPresent();
      if (allowWatchBookmarks !== true) return true;
      if (sendInitialEvents === true) this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
      else if (given === '0') this.#bookmark();
      return true;
    }
    if (fresh) return true;
    const revision = Number(given);
    const { resource } = this.#target;
    const missed = this.#store.history.since(resource, revision);
    if (missed === undefined) {
      const oldest = this.#store.history.oldest(resource);
      this.#fail(new StatusError(410, 'Expired', `too old resource version: ${revision} (${oldest})`));
      return false;
    }
    this.#revision = revision;
    for (const commit of missed) this.#send(commit);
    return true;
  }

  #sendPresent(): void {
    const { request } = this.#target;
    const {
      limit: _,
      continue: __,
      resourceVersion: ___,
      resourceVersionMatch: ____,
      ...options
    } = request.options ?? {};
    const answer = this.#store.execute({ ...request, verb: 'list', options });
    const items = answer.body['items'];
    if (!Array.isArray(items)) return;
    for (const object of items as readonly KubeObject[]) this.#sink.event({ type: 'ADDED', object });
  }

  #send(commit: Change): void {
    if (!this.#open || commit.resourceVersion <= this.#revision) return;
    if (kindKey(commit.resource) !== kindKey(this.#target.resource)) return;
    const { namespace } = this.#target.request;
    if (namespace !== undefined && commit.object.metadata.namespace !== namespace) return;
    this.#revision = commit.resourceVersion;
    const event = this.#select(commit);
    if (event !== undefined) this.#sink.event({ ...event, object: inVersion(this.#target, event.object) });
  }

  /** An object that leaves the selection is DELETED to this watcher, one that enters it is ADDED. */
  #select(commit: Change): StreamEvent | undefined {
    const { type, object, previous } = commit;
    const selects = this.#selector;
    if (selects === undefined) return { type, object };
    const is = selects(object);
    if (type !== 'MODIFIED' || previous === undefined) return is ? { type, object } : undefined;
    const was = selects(previous);
    if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
    if (!was) return undefined;
    const metadata = { ...previous.metadata, resourceVersion: String(commit.resourceVersion) };
    return { type: 'DELETED', object: deepFreeze({ ...previous, metadata }) };
  }

  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { kind, resource } = this.#target;
    this.#revision = Math.max(this.#revision, this.#store.revision());
    const metadata = {
      resourceVersion: String(this.#revision),
      ...(annotations === undefined ? {} : { annotations }),
    };
    const object = { kind: kind.resource.kind, apiVersion: apiVersionOf(resource), metadata };
    this.#sink.event({ type: 'BOOKMARK', object: deepFreeze(object) as unknown as KubeObject });
  }

  #fail(error: StatusError): void {
    this.#sink.event({ type: 'ERROR', object: error.body });
    this.#end();
  }

  #limit({ clock, random }: WatchTime): void {
    const { timeoutSeconds = 0, allowWatchBookmarks } = this.#parameters;
    if (timeoutSeconds < 0) {
      this.#fail(new StatusError(500, 'InternalError', 'context deadline exceeded'));
      return;
    }
    const ms = timeoutSeconds === 0 ? TIMEOUT_MIN_MS * (1 + random()) : timeoutSeconds * 1000;
    this.#stops.push(clock.after(ms, () => this.#end()));
    if (allowWatchBookmarks !== true) return;
    const started = this.#store.revision();
    // A stream around which nothing has happened needs no bookmark.
    const mark = () => {
      if (this.#store.revision() > started) this.#bookmark();
    };
    if (ms > LAST_BOOKMARK_MS) this.#stops.push(clock.after(ms - LAST_BOOKMARK_MS, mark));
    let cancel = clock.after(BOOKMARK_MS, function again() {
      mark();
      cancel = clock.after(BOOKMARK_MS, again);
    });
    this.#stops.push(() => cancel());
  }
}
