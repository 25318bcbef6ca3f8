import type { Random } from '../clock.ts';
import type { KubeObject } from '../kube/api.ts';
import { Collection } from './collection.ts';
import type { Core, Target } from './core.ts';
import { create } from './create.ts';
import { isDefinition } from './definitions.ts';
import { History } from './history.ts';
import { deepFreeze } from './json.ts';
import { type Kind, kindKey } from './kind.ts';
import { isCounted, refreshQuotas } from './quota.ts';
import { get, list } from './read.ts';
import { Registry } from './registry.ts';
import { remove, removeCollection } from './remove.ts';
import { formatTime } from './schema/time.ts';
import { methodNotAllowed, StatusError, unknownResource } from './status.ts';
import { accessReview, subresource } from './subresources.ts';
import type { Commit, Store, StoreRequest, StoreResponse } from './types.ts';
import { patch, update } from './update.ts';

export interface StoreOptions {
  /** Epoch ms. */
  readonly now: () => number;
  readonly random: Random;
  /** May answer a request in the store's place: scripted faults, extra admission. */
  readonly intercept?: (request: StoreRequest) => StoreResponse | undefined;
  /** How many changes of one kind a watch may lie back; 1,000 when not given. */
  readonly historyMax?: number;
}

/** The store and what the rest of the embedded API server reads of it. */
export interface EmbeddedStore extends Store {
  /** Epoch ms, as the store stamps objects. */
  now(): number;
  /** The kinds served now, with their schemas and columns. */
  kinds(): readonly Kind[];
  /** What a request's URL means; `undefined` for what is not served. */
  target(request: StoreRequest): Target | undefined;
  /** The latest changes of each kind. */
  readonly history: History;
}

/** The namespaces that every cluster has. */
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** An empty cluster: the built-in kinds and the four namespaces that every cluster has. */
export function createStore(options: StoreOptions): EmbeddedStore {
  const state = new State(options);
  for (const name of NAMESPACES) {
    const resource = { group: '', version: 'v1', plural: 'namespaces' };
    state.answer({ verb: 'create', resource, body: { metadata: { name } }, user: 'system:apiserver' });
  }
  return {
    execute: (request) => options.intercept?.(request) ?? state.answer(request),
    onCommit: (listener) => state.onCommit(listener),
    revision: () => state.revision(),
    resources: () => state.registry.resources(),
    kinds: () => state.registry.all(),
    target: (request) => state.target(request),
    now: options.now,
    history: state.history,
  };
}

class State implements Core {
  readonly registry = new Registry();
  readonly snapshots = new Map<string, readonly KubeObject[]>();
  readonly history: History;
  readonly #options: StoreOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #untold: Commit[] = [];
  #telling = false;
  #revision = 0;
  #clusterIps = 0;
  #second = { at: Number.NaN, text: '' };

  constructor(options: StoreOptions) {
    this.#options = options;
    this.history = new History(options.historyMax ?? 1000);
  }

  answer(request: StoreRequest): StoreResponse {
    try {
      const review = accessReview(request);
      if (review !== undefined) return review;
      const target = this.target(request);
      if (target === undefined) throw unknownResource();
      const before = this.#revision;
      const response = dispatch(this, target);
      if (this.#revision !== before && isCounted(target.kind)) refreshQuotas(this, request.namespace);
      return response;
    } catch (error) {
      if (error instanceof StatusError) return { code: error.code, body: error.body };
      throw error;
    }
  }

  target(request: StoreRequest): Target | undefined {
    const { group, version: name, plural } = request.resource;
    const kind = this.registry.get(group, plural);
    const version = kind?.versions.find((candidate) => candidate.name === name);
    if (kind === undefined || version === undefined) return undefined;
    const resource = name === kind.resource.version ? kind.resource : { ...kind.resource, version: name };
    return { kind, version, resource, request };
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  revision(): number {
    return this.#revision;
  }

  now(): number {
    return this.#options.now();
  }

  timestamp(): string {
    const at = Math.floor(this.now() / 1000);
    if (this.#second.at !== at) this.#second = { at, text: formatTime(at * 1000) };
    return this.#second.text;
  }

  nextUid(): string {
    const part = () => Math.floor(this.#options.random() * 0x1_0000_0000);
    const hex = [part(), part(), part(), part()].map((word) => word.toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  nextSuffix(): string {
    const letters = 'bcdfghjklmnpqrstvwxz2456789';
    return Array.from({ length: 5 }, () => letters[Math.floor(this.#options.random() * letters.length)]).join(
      '',
    );
  }

  nextClusterIp(): string {
    this.#clusterIps += 1;
    const number = this.#clusterIps;
    return `10.${96 + ((number >> 16) & 15)}.${(number >> 8) & 255}.${number & 255}`;
  }

  find(kind: Kind, namespace: string, name: string): KubeObject | undefined {
    return this.#collections.get(kindKey(kind.resource))?.get(namespace, name);
  }

  objects(kind: Kind, namespace?: string): KubeObject[] {
    return this.#collections.get(kindKey(kind.resource))?.list(namespace) ?? [];
  }

  commit(type: Commit['type'], target: Target, object: KubeObject, previous?: KubeObject): KubeObject {
    const { kind, request } = target;
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const stored = deepFreeze({ ...object, metadata });
    this.#store(type, kind, stored);
    if (isDefinition(target)) this.#define(type, stored);
    const commit: Commit = Object.freeze({
      resourceVersion: this.#revision,
      type,
      resource: kind.resource,
      object: stored,
      ...(previous === undefined ? {} : { previous }),
      request,
    });
    this.history.record(commit);
    this.#untold.push(commit);
    this.#tell();
    return stored;
  }

  /** A listener may write: what comes of that is told after the change it was told of, to all in one order. */
  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let commit = this.#untold.shift(); commit !== undefined; commit = this.#untold.shift()) {
        for (const listener of this.#listeners) listener(commit);
      }
    } finally {
      this.#telling = false;
    }
  }

  #store(type: Commit['type'], { resource }: Kind, object: KubeObject): void {
    const key = kindKey(resource);
    let collection = this.#collections.get(key);
    if (collection === undefined) {
      collection = new Collection();
      this.#collections.set(key, collection);
    }
    const { namespace = '', name } = object.metadata;
    if (type === 'DELETED') collection.delete(namespace, name);
    else collection.set(namespace, name, object);
  }

  #define(type: Commit['type'], definition: KubeObject): void {
    if (type === 'DELETED') this.registry.undefine(definition);
    else this.history.begin(this.registry.define(definition), this.#revision);
  }
}

function dispatch(core: Core, target: Target): StoreResponse {
  const { request } = target;
  if (request.subresource !== undefined && request.subresource !== '') {
    const answered = subresource(core, target);
    if (answered !== undefined) return answered;
  }
  switch (request.verb) {
    case 'get':
      return get(core, target);
    case 'list':
      return list(core, target);
    case 'create':
      if (request.name !== undefined) throw methodNotAllowed();
      return create(core, target);
    case 'update':
      return update(core, target);
    case 'patch':
      return patch(core, target);
    case 'delete':
      return remove(core, target);
    case 'deletecollection':
      return removeCollection(core, target);
    default:
      throw methodNotAllowed();
  }
}
