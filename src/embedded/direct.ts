import type {
  Cause,
  Failure,
  FailureKind,
  KubeApi,
  KubeObject,
  List,
  ListOptions,
  Outcome,
  Place,
  Resource,
  WatchEvent,
  WatchOptions,
} from '../kube/api.ts';
import { list, record, text } from './json.ts';
import { StatusError } from './status.ts';
import type { EmbeddedStore } from './store.ts';
import type { StoreRequest, StoreResponse } from './types.ts';
import { openWatch, type StreamEvent, type WatchTime } from './watch.ts';

export interface DirectOptions {
  readonly user: string;
  /** The server's clock, epoch ms: what the network client reads from the `Date` header, which knows whole seconds. */
  readonly now: () => number;
  /** Lets watches end after `timeoutSeconds` and send bookmarks; without it they live until their signal aborts. */
  readonly time?: WatchTime;
}

/** The Kubernetes API of a store in the same process: frozen objects are handed out as they are. */
export function directApi(store: EmbeddedStore, options: DirectOptions): KubeApi {
  const send = (request: Omit<StoreRequest, 'user'>) => store.execute({ ...request, user: options.user });
  const serverTime = () => Math.floor(options.now() / 1000) * 1000;
  const outcome = <T>(response: StoreResponse, read: (body: KubeObject) => T): Outcome<T> =>
    response.code < 300
      ? { kind: 'ok', value: read(response.body), serverTime: serverTime() }
      : failureOf(response);
  const same = (body: KubeObject) => body;
  return {
    get: async (resource, place) => outcome(send({ verb: 'get', resource, ...place }), same),
    list: async (resource, wanted) =>
      outcome(send(listRequest(resource, wanted)), (body) => readList(body, wanted)),
    watch: (resource, wanted, signal) => watch(store, options, resource, wanted, signal),
    create: async (resource, namespace, body) =>
      outcome(
        send({ verb: 'create', resource, body, ...(namespace === undefined ? {} : { namespace }) }),
        same,
      ),
    patch: async (resource, place: Place, { type, patch }) =>
      outcome(send({ verb: 'patch', resource, ...place, patchType: type, body: patch }), same),
    delete: async (resource, place, deletion) =>
      outcome(send({ verb: 'delete', resource, ...place, options: deletion }), () => undefined),
  };
}

/** Small objects of one shape are made for each call; only what is asked for goes into the options. */
function listRequest(resource: Resource, wanted: ListOptions): Omit<StoreRequest, 'user'> {
  const { namespace, labelSelector, fieldSelector } = wanted;
  return {
    verb: 'list',
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    options: {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    },
  };
}

function readList(body: KubeObject, wanted: ListOptions): List {
  const items = list(body['items']) as readonly KubeObject[];
  return {
    resourceVersion: body.metadata.resourceVersion ?? '',
    items: wanted.metadataOnly === true ? items.map(metadataOnly) : items,
  };
}

function metadataOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return Object.freeze({ apiVersion, kind, metadata });
}

/** A Status as the typed outcome that the network client makes of it. */
function failureOf({ code, body }: StoreResponse): Failure {
  const message = text(body['message']) ?? `code ${code}`;
  const details = record(body['details']);
  const retryAfter = details['retryAfterSeconds'];
  if (code === 429 || (code === 503 && typeof retryAfter === 'number')) {
    return {
      kind: 'throttled',
      message,
      retryAfterMs: (typeof retryAfter === 'number' ? retryAfter : 1) * 1000,
    };
  }
  const reason = text(body['reason']);
  const causes = list(details['causes']).map(record).map(readCause);
  return {
    kind: kindOf(code, reason),
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

function readCause(cause: Readonly<Record<string, unknown>>): Cause {
  const [field, reason, message] = [text(cause['field']), text(cause['reason']), text(cause['message'])];
  return {
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function kindOf(code: number, reason: string | undefined): FailureKind {
  switch (code) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'notFound';
    case 408:
      return 'unknown';
    case 409:
      return reason === 'AlreadyExists' ? 'exists' : 'conflict';
    case 410:
      return 'expired';
    case 501:
      return 'invalid';
    default:
      return code >= 400 && code < 500 ? 'invalid' : 'unknown';
  }
}

async function* watch(
  store: EmbeddedStore,
  options: DirectOptions,
  resource: Resource,
  wanted: WatchOptions,
  signal: AbortSignal,
): AsyncIterable<WatchEvent> {
  if (signal.aborted) return;
  const waiting: StreamEvent[] = [];
  let ended = false;
  let wake = () => {};
  const sink = {
    event: (event: StreamEvent) => {
      waiting.push(event);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
  };
  const stop = open(store, options, resource, wanted, sink);
  signal.addEventListener('abort', sink.end);
  try {
    while (!signal.aborted) {
      const event = waiting.shift();
      if (event !== undefined) yield toEvent(event, wanted);
      else if (ended) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stop();
    signal.removeEventListener('abort', sink.end);
  }
}

function open(
  store: EmbeddedStore,
  { user, time }: DirectOptions,
  resource: Resource,
  wanted: WatchOptions,
  sink: { event(event: StreamEvent): void; end(): void },
): () => void {
  const { options, namespace } = listRequest(resource, wanted);
  try {
    return openWatch(
      store,
      {
        resource,
        user,
        allowWatchBookmarks: true,
        options: { ...options, resourceVersion: wanted.resourceVersion },
        ...(namespace === undefined ? {} : { namespace }),
        ...(wanted.timeoutSeconds === undefined ? {} : { timeoutSeconds: wanted.timeoutSeconds }),
      },
      sink,
      time,
    );
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new WatchError(failureOf({ code: error.code, body: error.body }));
  }
}

/** A watch that could not be opened: by name and `failure` what the network client's WatchError is. */
class WatchError extends Error {
  override readonly name = 'WatchError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

function toEvent({ type, object }: StreamEvent, wanted: WatchOptions): WatchEvent {
  if (type === 'BOOKMARK') return { type, resourceVersion: object.metadata.resourceVersion ?? '' };
  if (type === 'ERROR') {
    return { type, code: Number(object['code'] ?? 500), message: String(object['message'] ?? '') };
  }
  return { type, object: wanted.metadataOnly === true ? metadataOnly(object) : object };
}
