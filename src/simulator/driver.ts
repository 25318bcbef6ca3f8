import type { Clock, Random } from '../clock.ts';
import type { Report } from '../controller/outcome.ts';
import { reconcile } from '../controller/reconcile.ts';
import { resync } from '../controller/resync.ts';
import type { Commit, Store } from '../embedded/types.ts';
import type { KubeApi, KubeObject, Resource } from '../kube/api.ts';
import type { Platform, WatchSpec } from '../platform/platform.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';

/** One change of an object on its way to Everwarm. */
export interface Change {
  readonly type: Commit['type'];
  readonly resource: Resource;
  readonly object: KubeObject;
  /** How much later it is heard (default: at once). */
  readonly afterMs?: number;
}

/** Decides what becomes of one change on its way: dropped, doubled, held back for later. */
export type Delivery = (change: Change) => readonly Change[];

export interface DriverOptions {
  readonly store: Pick<Store, 'onCommit'>;
  /** The way of one pass to the API. */
  readonly apiFor: (pool: string) => KubeApi;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly resyncMs: number;
  readonly deliver: Delivery;
  readonly poolNames: () => readonly string[];
  readonly report: Report;
}

/** Everwarm's loop on a simulated clock: notices, one queue, requeues, resync. */
export interface Driver {
  enqueue(pool: string): void;
  /** Nothing is queued, running or due again before the next resync. */
  isIdle(): boolean;
  stop(): void;
}

const CLUSTER = 'sim';
const PLATFORM = 'theia-cloud';
const DEBOUNCE_MS = 250;
const RETRY_MS = 1_000;

export function keyOf(namespace: string, name: string): PoolKey {
  return { cluster: CLUSTER, platform: PLATFORM, namespace, name };
}

export function createDriver(options: DriverOptions): Driver {
  const { store, apiFor, platform, clock, random, namespace, report } = options;
  const running = new Set<string>();
  const again = new Set<string>();
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  let stopped = false;

  const runPass = (pool: string): void => {
    if (stopped) return;
    if (running.has(pool)) {
      again.add(pool);
      return;
    }
    running.add(pool);
    const key = keyOf(namespace, pool);
    void reconcile({ api: apiFor(pool), platform, clock, random, report }, key)
      .catch((error: unknown) => {
        report({ type: 'PassFailed', pool: formatKey(key), message: String(error) });
        return { requeueAfterMs: RETRY_MS };
      })
      .then(({ requeueAfterMs }) => {
        running.delete(pool);
        if (again.delete(pool)) enqueueAfter(pool, 0);
        else if (requeueAfterMs !== undefined) enqueueAfter(pool, requeueAfterMs);
      });
  };
  const enqueueAfter = (pool: string, ms: number): void => {
    const at = clock.now() + ms;
    const standing = timers.get(pool);
    if (standing !== undefined && standing.at <= at) return;
    standing?.cancel();
    const cancel = clock.after(ms, () => {
      timers.delete(pool);
      runPass(pool);
    });
    timers.set(pool, { at, cancel });
  };
  const hear = (change: Change, spec: WatchSpec): void => {
    const names = platform.keysOf(change.resource, change.object);
    const pools = names.includes('*') ? options.poolNames() : names;
    const soon = spec.urgent || change.type === 'DELETED';
    for (const pool of pools) enqueueAfter(pool, soon ? 0 : DEBOUNCE_MS);
  };
  const forget = store.onCommit((commit) => {
    const spec = platform.watches.find(({ resource }) => isSame(resource, commit.resource));
    if (spec === undefined || isNoNews(spec, commit)) return;
    const { type, object } = commit;
    for (const change of options.deliver({ type, resource: spec.resource, object })) {
      const { afterMs = 0 } = change;
      if (afterMs === 0) hear(change, spec);
      else clock.after(afterMs, () => (stopped ? undefined : hear(change, spec)));
    }
  });
  const look = async (): Promise<void> => {
    const enqueue = ({ name }: PoolKey) => enqueueAfter(name, 0);
    await resync({ api: apiFor('*'), platform, cluster: CLUSTER, namespace, enqueue }).catch(
      (error: unknown) => report({ type: 'PassFailed', pool: namespace, message: String(error) }),
    );
    if (!stopped) cancelResync = clock.after(options.resyncMs, tick);
  };
  const tick = (): void => {
    void look();
  };
  let cancelResync = clock.after(options.resyncMs, tick);

  return {
    enqueue: (pool) => enqueueAfter(pool, 0),
    isIdle: () => running.size === 0 && timers.size === 0,
    stop: () => {
      stopped = true;
      forget();
      cancelResync();
      for (const { cancel } of timers.values()) cancel();
      timers.clear();
    },
  };
}

function isSame(a: Resource, b: Resource): boolean {
  return a.group === b.group && a.plural === b.plural;
}

function isNoNews({ changed }: WatchSpec, { type, object, previous }: Commit): boolean {
  return (
    type === 'MODIFIED' &&
    previous !== undefined &&
    changed !== undefined &&
    changed(object) === changed(previous)
  );
}
