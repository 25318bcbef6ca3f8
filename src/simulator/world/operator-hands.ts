import type { Clock, Random } from '../../clock.ts';
import type {
  DeleteOptions,
  Failure,
  JsonPatch,
  KubeApi,
  KubeObject,
  ListOptions,
  Outcome,
  Place,
  Resource,
} from '../../kube/api.ts';

/** How often the operator's HTTP client repeats a request that was throttled. */
const THROTTLED_TRIES_MAX = 10;

/** Thrown out of every pending call once the operator was killed: its program unwinds without another request. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

/** Something the operator's code has no answer to: it ends the handler, and for Sessions the process. */
export class HandlerError extends Error {
  override readonly name = 'HandlerError';
}

/** What an edit changes. The operator's patches name metadata first, then the resourceVersion, then everything else. */
interface Edit {
  readonly metadata?: JsonPatch;
  readonly other?: JsonPatch;
}

/** `request`: between two requests of one handler. `claim`: between looking for a free slot and taking it. */
type Step = 'request' | 'claim';
export type Pace = (step: Step, random: Random) => number;

/**
 * Milliseconds as measured on a small machine: a whole claim takes about 0.2 s, from the list of Services to the patch of the
 * external one 10 to 120 ms.
 */
export const measuredPace: Pace = (step, random) =>
  step === 'claim' ? 5 + 55 * random() ** 3 : 2 + 20 * random() ** 3;

/** The operator's way to the API: each request takes its time, and none is sent after the kill. */
export interface Hands {
  get(resource: Resource, name: string, step?: Step): Promise<Outcome<KubeObject>>;
  /** The whole namespace, or what `labelSelector` leaves of it. */
  list(resource: Resource, options?: Pick<ListOptions, 'labelSelector'>): Promise<readonly KubeObject[]>;
  create(resource: Resource, body: unknown): Promise<Failure | undefined>;
  /** In the background, of whatever stands under the name unless `preconditions` say more. */
  delete(
    resource: Resource,
    name: string,
    preconditions: NonNullable<DeleteOptions['preconditions']>,
  ): Promise<Failure | undefined>;
  /** Sends a body that only has effect if the object is still as in `resourceVersion`. */
  mergeGuarded(
    resource: Resource,
    object: KubeObject,
    body: Readonly<Record<string, unknown>>,
  ): Promise<Outcome<KubeObject>>;
  /**
   * GET, then a JSON patch with the read resourceVersion; sent even when there is nothing to change. Custom resources are
   * read twice, as the operator's client does. A `change` to nothing at all is a conflict, and nothing is sent.
   */
  edit(
    resource: Resource,
    place: EditPlace,
    change: (object: KubeObject) => Edit | undefined,
  ): Promise<Failure | undefined>;
  sleep(ms: number): Promise<void>;
  /** Now, epoch ms. */
  now(): number;
  readonly signal: AbortSignal;
}

interface EditPlace {
  readonly name: string;
  readonly subresource?: 'status';
  readonly step?: Step;
}

export interface HandsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}

export function createHands({ api, clock, random, namespace, pace, signal }: HandsOptions): Hands {
  const assertAlive = (): void => {
    if (signal.aborted) throw new KilledError();
  };
  const sleep = async (ms: number): Promise<void> => {
    if (ms > 0) await clock.sleep(ms, signal);
    assertAlive();
  };
  const send = async <T>(call: () => Promise<Outcome<T>>, step: Step = 'request'): Promise<Outcome<T>> => {
    for (let tries = 1; ; tries += 1) {
      await sleep(pace(step, random));
      const outcome = await call();
      assertAlive();
      if (outcome.kind !== 'throttled' || tries === THROTTLED_TRIES_MAX) return outcome;
      await sleep(outcome.retryAfterMs);
    }
  };
  const place = (name: string): Place => ({ namespace, name });
  const hands: Hands = {
    signal,
    sleep,
    now: () => clock.now(),
    get: (resource, name, step) => send(() => api.get(resource, place(name)), step),
    list: async (resource, options = {}) => {
      const outcome = await send(() => api.list(resource, { ...options, namespace }));
      if (outcome.kind !== 'ok') throw new HandlerError(`listing ${resource.plural}: ${outcome.message}`);
      return outcome.value.items;
    },
    create: async (resource, body) => failureOf(await send(() => api.create(resource, namespace, body))),
    delete: async (resource, name, preconditions) => {
      const options = { propagation: 'Background', preconditions } as const;
      return failureOf(await send(() => api.delete(resource, place(name), options)));
    },
    mergeGuarded: (resource, { metadata }, body) => {
      const patch = { ...body, metadata: { resourceVersion: metadata.resourceVersion } };
      return send(() => api.patch(resource, place(metadata.name), { type: 'merge', patch }));
    },
    edit: async (resource, { name, subresource, step }, change) => {
      if (resource.group === 'theia.cloud') await hands.get(resource, name);
      const read = await hands.get(resource, name, step);
      if (read.kind !== 'ok') return read;
      const edit = change(read.value);
      if (edit === undefined) return { kind: 'conflict', message: `${name} is not as it was` };
      const { metadata = [], other = [] } = edit;
      const value = read.value.metadata.resourceVersion;
      const guard = { op: 'add', path: '/metadata/resourceVersion', value } as const;
      const at = subresource === undefined ? place(name) : { ...place(name), subresource };
      const patch: JsonPatch = [...metadata, guard, ...other];
      return failureOf(await send(() => api.patch(resource, at, { type: 'json', patch }), step));
    },
  };
  return hands;
}

function failureOf(outcome: Outcome<unknown>): Failure | undefined {
  return outcome.kind === 'ok' ? undefined : outcome;
}
