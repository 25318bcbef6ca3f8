import type { Clock, Random } from '../../../clock.ts';
import type { Failure, KubeApi, KubeObject, Outcome, Resource } from '../../../kube/api.ts';

/** Fields of an object, whatever they hold. */
export type Fields = Readonly<Record<string, unknown>>;

/** The program was killed: it unwinds without another request. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** One program's way to the server: each request takes its time, and none is sent after the kill. */
export interface Hands {
  readonly signal: AbortSignal;
  now(): number;
  sleep(ms: number): Promise<void>;
  get(resource: Resource, name: string, namespace?: string): Promise<KubeObject | undefined>;
  create(resource: Resource, body: Fields & { readonly metadata: Fields }): Promise<Outcome<KubeObject>>;
  /** Without a resourceVersion in `patch` it wins over whatever was written meanwhile. */
  merge(resource: Resource, name: string, patch: Fields): Promise<Outcome<KubeObject>>;
  remove(resource: Resource, name: string): Promise<Failure | undefined>;
}

interface HandsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

export function createHands({ api, clock, random, signal }: HandsOptions): Hands {
  const sleep = async (ms: number): Promise<void> => {
    await clock.sleep(ms, signal);
    if (signal.aborted) throw new StoppedError();
  };
  const send = async <T>(call: () => Promise<Outcome<T>>): Promise<Outcome<T>> => {
    await sleep(5 + 10 * random());
    const outcome = await call();
    if (signal.aborted) throw new StoppedError();
    return outcome;
  };
  return {
    signal,
    now: () => clock.now(),
    sleep,
    get: async (resource, name, namespace) => {
      const place = namespace === undefined ? { name } : { name, namespace };
      const outcome = await send(() => api.get(resource, place));
      if (outcome.kind === 'ok') return outcome.value;
      if (outcome.kind === 'notFound') return undefined;
      throw new Error(outcome.message);
    },
    create: (resource, body) => {
      const { namespace } = body.metadata;
      return send(() => api.create(resource, typeof namespace === 'string' ? namespace : undefined, body));
    },
    merge: (resource, name, patch) => send(() => api.patch(resource, { name }, { type: 'merge', patch })),
    remove: async (resource, name) => {
      const outcome = await send(() => api.delete(resource, { name }, { propagation: 'Background' }));
      return outcome.kind === 'ok' ? undefined : outcome;
    },
  };
}

/** What stands at `path`, if it is there. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

export function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

export function itemsAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The reference by which the garbage collector takes away with `object` what belongs to it. */
export function ownedBy({ apiVersion, kind, metadata }: KubeObject): readonly Fields[] {
  const { name, uid } = metadata;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}
