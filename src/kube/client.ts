import type { Clock, Random } from '../clock.ts';
import type {
  DeleteOptions,
  KubeApi,
  KubeObject,
  List,
  ListOptions,
  Outcome,
  Patch,
  Resource,
  WatchEvent,
  WatchOptions,
} from './api.ts';
import type { Cluster } from './auth/cluster.ts';
import { type Call, pathOf, refuse } from './call.ts';
import { WatchError } from './errors.ts';
import { createExchange, type Exchange, type PlainRequest } from './exchange.ts';
import { isRecord, parseRecord } from './json.ts';
import { asObject } from './objects.ts';
import { unknownFailure } from './outcome.ts';
import { readWatch } from './watch.ts';

/** A KubeApi over the network. */
export interface KubeClient extends KubeApi {
  /** Drops the idle connections. Calls after it open new ones. */
  close(): void;
}

export interface KubeApiOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** For one request, a list's page included; 30 s unless said otherwise. */
  readonly deadlineMs?: number;
  /** Objects a page; 500 unless said otherwise. */
  readonly pageSize?: number;
}

const DEADLINE_MS = 30_000;
const PAGE_SIZE = 500;
const PAGES_MAX = 1_000;
const LIST_RESTARTS_MAX = 3;
const JSON_TYPE = 'application/json';
const PATCH_TYPES = { json: 'application/json-patch+json', merge: 'application/merge-patch+json' } as const;
// The name under which managedFields shows our writes. Constant: an admission policy can rely on it.
const WRITE_QUERY = '?fieldManager=everwarm';

/** The Kubernetes API of one cluster: typed outcomes, one pool of connections, nothing cached. */
export function createKubeApi(options: KubeApiOptions): KubeClient {
  const { cluster, clock, random, deadlineMs = DEADLINE_MS, pageSize = PAGE_SIZE } = options;
  const exchange = createExchange({ cluster, clock, random, deadlineMs });
  const one = (call: Call, request: Omit<PlainRequest, 'path'>, query = '') =>
    readOne(exchange, call, { ...request, path: pathOf(call) + query });
  return {
    get: (resource, place) =>
      one({ verb: 'get', resource, ...place }, { method: 'GET', accept: JSON_TYPE, repeatable: true }),
    list: (resource, list) => listAll(exchange, resource, list, pageSize),
    watch: (resource, watch, signal) => openWatch(exchange, resource, watch, signal),
    create: (resource, namespace, body) =>
      one(
        { verb: 'create', resource, namespace, name: nameIn(body) },
        { method: 'POST', accept: JSON_TYPE, repeatable: false, ...jsonBody(body, JSON_TYPE) },
        WRITE_QUERY,
      ),
    patch: (resource, place, patch: Patch) =>
      one(
        { verb: 'patch', resource, ...place },
        {
          method: 'PATCH',
          accept: JSON_TYPE,
          repeatable: false,
          ...jsonBody(patch.patch, PATCH_TYPES[patch.type]),
        },
        WRITE_QUERY,
      ),
    delete: (resource, place, deletion) =>
      deleteOne(exchange, { verb: 'delete', resource, ...place }, deletion),
    close: () => exchange.close(),
  };
}

async function readOne(exchange: Exchange, call: Call, request: PlainRequest): Promise<Outcome<KubeObject>> {
  const refused = refuse(call);
  if (refused !== undefined) return refused;
  const outcome = await exchange.send(call, request);
  if (outcome.kind !== 'ok') return outcome;
  const object = asObject(call.resource, parseRecord(outcome.value));
  // A success that cannot be read may well have happened.
  if (object === undefined) return unknownFailure(call, 'the answer is no object');
  return { kind: 'ok', value: object, serverTime: outcome.serverTime };
}

async function deleteOne(exchange: Exchange, call: Call, options: DeleteOptions): Promise<Outcome<void>> {
  const refused = refuse(call);
  if (refused !== undefined) return refused;
  const { preconditions, propagation } = options;
  const body = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
  };
  const outcome = await exchange.send(call, {
    method: 'DELETE',
    path: pathOf(call),
    accept: JSON_TYPE,
    // Without the uid a second DELETE could hit an object that was made again in between.
    repeatable: preconditions?.uid !== undefined,
    ...jsonBody(body, JSON_TYPE),
  });
  return outcome.kind === 'ok' ? { ...outcome, value: undefined } : outcome;
}

/** All pages of one snapshot. A snapshot that expired between two pages is started again, a few times. */
async function listAll(
  exchange: Exchange,
  resource: Resource,
  options: ListOptions,
  pageSize: number,
): Promise<Outcome<List>> {
  const call: Call = { verb: 'list', resource, namespace: options.namespace };
  const refused = refuse(call);
  if (refused !== undefined) return refused;
  for (let restarts = 0; ; restarts += 1) {
    const outcome = await listSnapshot(exchange, call, options, pageSize);
    if (outcome.kind !== 'expired' || restarts === LIST_RESTARTS_MAX) return outcome;
  }
}

async function listSnapshot(
  exchange: Exchange,
  call: Call,
  options: ListOptions,
  pageSize: number,
): Promise<Outcome<List>> {
  const items: KubeObject[] = [];
  let next: string | undefined;
  let firstTime: number | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const query = {
      ...selectors(options),
      limit: String(pageSize),
      ...(next === undefined ? {} : { continue: next }),
    };
    const outcome = await exchange.send(call, {
      method: 'GET',
      path: `${pathOf(call)}?${new URLSearchParams(query)}`,
      accept: acceptFor(options, 'PartialObjectMetadataList'),
      repeatable: true,
    });
    if (outcome.kind !== 'ok') return outcome;
    const page = readPage(call.resource, outcome.value);
    if (page === undefined) return unknownFailure(call, 'the answer is no list');
    items.push(...page.items);
    // All pages show the moment of the first one: a later clock would make the snapshot look younger than it is.
    firstTime ??= outcome.serverTime;
    if (page.next === undefined) {
      return { kind: 'ok', value: { resourceVersion: page.resourceVersion, items }, serverTime: firstTime };
    }
    next = page.next;
  }
  return unknownFailure(call, `more than ${PAGES_MAX} pages`);
}

interface Page extends List {
  readonly next: string | undefined;
}

function readPage(resource: Resource, body: string): Page | undefined {
  const list = parseRecord(body);
  if (list === undefined || !isRecord(list['metadata'])) return undefined;
  const { resourceVersion, continue: token } = list['metadata'];
  // `null` is what a Go server sends for a list that was never filled.
  const raw = list['items'] ?? [];
  if (typeof resourceVersion !== 'string' || !Array.isArray(raw)) return undefined;
  const items = raw.flatMap((item) => asObject(resource, item) ?? []);
  if (items.length !== raw.length) return undefined;
  return { resourceVersion, items, next: typeof token === 'string' && token !== '' ? token : undefined };
}

async function* openWatch(
  exchange: Exchange,
  resource: Resource,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncIterable<WatchEvent> {
  const call: Call = { verb: 'watch', resource, namespace: options.namespace };
  const refused = refuse(call);
  if (refused !== undefined) throw new WatchError(refused);
  if (signal.aborted) return;
  const query = {
    ...selectors(options),
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: options.resourceVersion,
    ...(options.timeoutSeconds === undefined ? {} : { timeoutSeconds: String(options.timeoutSeconds) }),
  };
  const request: PlainRequest = {
    method: 'GET',
    path: `${pathOf(call)}?${new URLSearchParams(query)}`,
    // A watch wants the singular kind: with the list's, the stream ends at once without an event.
    accept: acceptFor(options, 'PartialObjectMetadata'),
    repeatable: true,
  };
  const outcome = await exchange.open(call, request, signal);
  if (outcome.kind === 'ok') yield* readWatch(call, outcome.value, signal);
  else if (!signal.aborted) throw new WatchError(outcome);
}

function selectors(options: ListOptions): Record<string, string> {
  const { labelSelector, fieldSelector } = options;
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

function acceptFor(options: ListOptions, kind: string): string {
  return options.metadataOnly === true
    ? `${JSON_TYPE};as=${kind};g=meta.k8s.io;v=v1,${JSON_TYPE}`
    : JSON_TYPE;
}

function jsonBody(
  body: unknown,
  contentType: string,
): { readonly body: string; readonly contentType: string } {
  return { body: JSON.stringify(body), contentType };
}

function nameIn(body: unknown): string | undefined {
  const metadata = isRecord(body) ? body['metadata'] : undefined;
  return isRecord(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : undefined;
}
