import { systemClock, systemRandom } from '../../src/clock.ts';
import type { Commit, StoreRequest } from '../../src/embedded/types.ts';
import type { KubeApi, KubeObject, Outcome, Resource } from '../../src/kube/api.ts';
import { type Change, createReflector } from '../../src/kube/reflector.ts';
import { createLog } from '../../src/telemetry/log.ts';

/** The objects of some kinds as the server tells of them, and each change as a commit, as the embedded store has them. */
export interface Mirror {
  /** Resolves when every kind was listed once. */
  readonly ready: Promise<void>;
  /** What concerns one namespace (cluster-wide objects too), or everything. */
  view(namespace?: string): View;
  /** Takes an answer of the server for news, so that who wrote sees it at once: the watch tells of it a little later. */
  learn(resource: Resource, object: KubeObject, request: Teller): void;
  /** What somebody read: whoever acts on it shall find it here, too, though the watch may be late. */
  see(resource: Resource, objects: readonly KubeObject[]): void;
  /** The object is gone, as the server's answer says. */
  forget(resource: Resource, object: KubeObject, request: Teller): void;
  /**
   * What a write of `request.user` comes to is told as that user's: while it is under way nothing is told of its object.
   * The answer of a delete has no object; what the watch tells of it next is the deletion.
   */
  during<T>(
    resource: Resource,
    object: { readonly namespace: string; readonly name: string },
    request: Teller,
    send: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
  stop(): void;
}

/** Who made a change, and how. */
export type Teller = Pick<StoreRequest, 'verb' | 'user' | 'subresource' | 'patchType' | 'body' | 'options'>;

export interface View {
  /** Whether this kind is followed at all. */
  follows(resource: Pick<Resource, 'group' | 'plural'>): boolean;
  find(resource: Pick<Resource, 'group' | 'plural'>, name: string): KubeObject | undefined;
  list(resource: Pick<Resource, 'group' | 'plural'>): readonly KubeObject[];
  onCommit(listener: (commit: Commit) => void): () => void;
}

export interface MirrorOptions {
  readonly api: KubeApi;
  readonly resources: readonly Resource[];
}

/** Follows `resources` in all namespaces from now on. */
export function createMirror({ api, resources }: MirrorOptions): Mirror {
  return new KindMirror(api, resources);
}

const SOMEBODY: Teller = { verb: 'update', user: 'somebody' };

interface Place {
  readonly resource: Resource;
  readonly key: string;
}

class KindMirror implements Mirror {
  readonly ready: Promise<void>;
  readonly #stopping = new AbortController();
  /** The version in which each kind is followed. */
  readonly #kinds: ReadonlyMap<string, string>;
  readonly #objects = new Map<string, KubeObject>();
  /** uids of what is gone: an older change of it may still come. */
  readonly #gone = new Set<string>();
  readonly #listeners = new Map<string, Set<(commit: Commit) => void>>();
  /** By object: what came while a write on it is under way, and how many writes are. */
  readonly #held = new Map<string, { writes: number; readonly waiting: (() => void)[] }>();
  /** By object: whose deletion the next change of it is. */
  readonly #deleters = new Map<string, Teller>();

  constructor(api: KubeApi, resources: readonly Resource[]) {
    this.#kinds = new Map(resources.map(({ group, plural, version }) => [`${group}/${plural}`, version]));
    const reflectors = resources.map((resource) =>
      createReflector<KubeObject>({
        api,
        resource,
        list: {},
        clock: systemClock,
        random: systemRandom,
        log: createLog({ clock: systemClock, format: 'human', write: () => undefined }),
        keep: (object) => object,
        onChange: (change) => this.#hear(resource, change),
      }),
    );
    for (const reflector of reflectors) void reflector.run(this.#stopping.signal);
    this.ready = Promise.all(reflectors.map(({ answered }) => answered)).then(() => undefined);
  }

  view(namespace = ''): View {
    return {
      follows: ({ group, plural }) => this.#kinds.has(`${group}/${plural}`),
      find: (resource, name) => this.#objects.get(keyOf(resource, { namespace, name })),
      list: ({ group, plural }) => {
        const prefix = `${group}/${plural}/${namespace === '' ? '' : `${namespace}/`}`;
        return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object);
      },
      onCommit: (listener) => {
        const listeners = this.#listeners.get(namespace) ?? new Set();
        this.#listeners.set(namespace, listeners.add(listener));
        return () => listeners.delete(listener);
      },
    };
  }

  learn(resource: Resource, object: KubeObject, request: Teller): void {
    const { uid = '' } = object.metadata;
    const key = keyOf(resource, object.metadata);
    const previous = this.#objects.get(key);
    if (this.#gone.has(uid)) return;
    if (previous?.metadata.uid === uid && versionOf(previous) >= versionOf(object)) return;
    // Under one name the older of two objects can only be gone.
    if (previous !== undefined && previous.metadata.uid !== uid) {
      if (versionOf(previous) > versionOf(object)) return;
      this.forget(resource, previous, SOMEBODY);
    }
    this.#objects.set(key, object);
    const isNew = previous === undefined || previous.metadata.uid !== uid;
    this.#tell({
      type: isNew ? 'ADDED' : 'MODIFIED',
      resource,
      object,
      request,
      previous: isNew ? undefined : previous,
    });
  }

  see(resource: Resource, objects: readonly KubeObject[]): void {
    const { group, version, kind, plural } = resource;
    if (this.#kinds.get(`${group}/${plural}`) !== version) return;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    for (const listed of objects) {
      const object = { ...listed, kind, apiVersion };
      this.#hear(resource, { type: 'changed', object, kept: object });
    }
  }

  forget(resource: Resource, object: KubeObject, request: Teller): void {
    const { uid = '' } = object.metadata;
    const key = keyOf(resource, object.metadata);
    const previous = this.#objects.get(key);
    this.#gone.add(uid);
    if (previous?.metadata.uid !== uid) return;
    this.#objects.delete(key);
    this.#tell({ type: 'DELETED', resource, object: previous, previous, request });
  }

  async during<T>(
    resource: Resource,
    object: { readonly namespace: string; readonly name: string },
    request: Teller,
    send: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const key = keyOf(resource, object);
    const held = this.#held.get(key) ?? { writes: 0, waiting: [] };
    this.#held.set(key, held);
    held.writes += 1;
    try {
      const outcome = await send();
      if (outcome.kind === 'ok') this.#note(resource, key, outcome.value as KubeObject | undefined, request);
      return outcome;
    } finally {
      held.writes -= 1;
      if (held.writes === 0) this.#held.delete(key);
      // Of what was held back, anything older than the answer is news no more.
      for (const tell of held.waiting.splice(0)) tell();
    }
  }

  #note(resource: Resource, key: string, answer: KubeObject | undefined, request: Teller): void {
    if (answer === undefined) this.#deleters.set(key, request);
    else this.learn(resource, answer, request);
  }

  stop(): void {
    this.#stopping.abort();
  }

  #hear(resource: Resource, change: Change<KubeObject>): void {
    const key = keyOf(resource, change.object.metadata);
    const tell = () => this.#take({ resource, key }, change);
    const held = this.#held.get(key);
    if (held === undefined) tell();
    else held.waiting.push(tell);
  }

  #take({ resource, key }: Place, { type, object, kept }: Change<KubeObject>): void {
    const isGoing = type === 'deleted' || object.metadata.deletionTimestamp !== undefined;
    const deleter = isGoing ? this.#deleters.get(key) : undefined;
    if (deleter !== undefined) this.#deleters.delete(key);
    const request = deleter ?? SOMEBODY;
    if (type === 'deleted') this.forget(resource, kept, request);
    else this.learn(resource, object, request);
  }

  #tell(
    told: Pick<Commit, 'type' | 'resource' | 'object'> & {
      request: Teller;
      previous: KubeObject | undefined;
    },
  ): void {
    const { previous, request, resource, ...rest } = told;
    const commit: Commit = {
      ...rest,
      resource,
      resourceVersion: versionOf(told.object),
      request: { resource, ...request },
      ...(previous === undefined ? {} : { previous }),
    };
    const { namespace, name } = told.object.metadata;
    const concerned = resource.plural === 'namespaces' ? name : namespace;
    const heard = concerned === undefined ? [''] : ['', concerned];
    for (const of of heard) for (const listener of [...(this.#listeners.get(of) ?? [])]) listener(commit);
  }
}

function keyOf(
  { group, plural }: Pick<Resource, 'group' | 'plural'>,
  { namespace = '', name }: { namespace?: string; name: string },
): string {
  return `${group}/${plural}/${namespace}/${name}`;
}

function versionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}
