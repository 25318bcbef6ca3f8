import { randomBytes } from 'node:crypto';
import type { Clock, Random } from './clock.ts';
import type { Report } from './controller/outcome.ts';
import { reconcile } from './controller/reconcile.ts';
import { resync } from './controller/resync.ts';
import { type Forwarder, startForwarder } from './forwarder/main.ts';
import type { KubeApi } from './kube/api.ts';
import type { Platform } from './platform/platform.ts';
import { formatKey, type PoolKey } from './pool/key.ts';
import type { PoolStatus } from './pool/types.ts';
import type { Log } from './telemetry/log.ts';
import { createLocalQueue } from './transport/local-queue.ts';
import type { Notice } from './transport/notice.ts';
import { type PassResult, type Queue, triggerOf } from './transport/queue.ts';
import { createWebhookClient } from './transport/webhook-client.ts';
import { startWebhookServer } from './transport/webhook-server.ts';

/** What one running Everwarm serves, and how. */
export interface AppConfig {
  /** Names the cluster in keys, notices and on the command line. */
  readonly cluster: string;
  readonly namespaces: readonly string[];
  readonly resyncMs: number;
  /** The part of the notices that is lost on purpose, 0 to 1. Requests by hand and resyncs are never lost. */
  readonly dropNotices: number;
  /** Signs the notices; one of its own for each start unless given. */
  readonly secret?: Uint8Array;
}

export interface AppDeps {
  readonly api: KubeApi;
  readonly platforms: readonly Platform[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly report: Report;
  /** Told of every notice that leaves the forwarder (or is lost on the way), for people. */
  readonly onNotice?: (notice: Notice, isLost: boolean) => void;
  /** Told of a resync that was done: how many pools it saw, and which of them it found in need of a pass. */
  readonly onResync?: (seen: number, enqueued: readonly PoolKey[]) => void;
  readonly observer?: LoopObserver;
}

/** Who counts what the loop does; for graphs and alarms. */
export interface LoopObserver {
  pass(result: 'done' | 'failed'): void;
  /** A look at a namespace is over; every pool that it saw was told of before. */
  resync(namespace: string, result: 'done' | 'failed'): void;
  seen(key: PoolKey, staleSeconds: number, status: PoolStatus): void;
}

/** Everwarm at work on one cluster. */
export interface App extends Pick<Forwarder, 'kinds' | 'outbox'> {
  /** The ingest door. */
  readonly webhook: string;
  /** Resolves when every kind was listed once and everything it told was sent. */
  readonly ready: Promise<void>;
  /** Resolves when no pool waits for its pass or has one. */
  idle(): Promise<void>;
  /** Ends the watches and timers, lets passes that have begun end, closes the door. */
  stop(): Promise<void>;
}

const PASSES_AT_ONCE = 4;
/** The name of the one key that is active; part of the door's URL. */
const KEY_ID = 'local';

/** Wires forwarder → signed HTTP → ingest door → queue → reconcile, and the resync beside it; everything starts at once. */
export async function createApp(config: AppConfig, deps: AppDeps): Promise<App> {
  const { clock, random, log } = deps;
  const queue = createLocalQueue({
    clock,
    random,
    log,
    concurrency: PASSES_AT_ONCE,
    consume: (key) => pass(deps, key),
  });
  const secret = config.secret ?? randomBytes(32);
  const door = await startWebhookServer({
    clock,
    log,
    secretOf: (cluster, keyId) => (cluster === config.cluster && keyId === KEY_ID ? secret : undefined),
    accept: ({ key, notice }) => queue.add(key, triggerOf(notice)),
  });
  const stopping = new AbortController();
  const url = `${door.url}/v1/notices/${config.cluster}/${KEY_ID}`;
  const client = createWebhookClient({ url, secret, clock, random, log, signal: stopping.signal });
  const forwarder = startForwarder({
    ...deps,
    clusterId: config.cluster,
    namespaces: config.namespaces,
    send: losing(config, deps, (notice) => client.send(notice)),
  });
  const stopTimers = config.namespaces.map((namespace) => keepResyncing(config, deps, queue, namespace));
  return {
    webhook: door.url,
    kinds: forwarder.kinds,
    outbox: forwarder.outbox,
    ready: forwarder.ready.then(() => forwarder.flushed()),
    idle: () => queue.idle(),
    async stop() {
      stopping.abort();
      for (const stopTimer of stopTimers) stopTimer();
      await forwarder.stop();
      await door.stop();
      await queue.stop();
    },
  };
}

/** One pass over one pool. What it throws (an unreadable cluster, for one) is the queue's to repeat. */
async function pass(deps: AppDeps, key: PoolKey): Promise<PassResult> {
  const platform = deps.platforms.find(({ name }) => name === key.platform);
  if (platform === undefined) {
    deps.log.warn('pass.unknown-platform', { pool: formatKey(key) });
    return {};
  }
  try {
    const result = await reconcile({ ...deps, platform }, key);
    deps.observer?.pass('done');
    return result;
  } catch (error) {
    deps.observer?.pass('failed');
    throw error;
  }
}

/** Loses notices as asked: what is left must be enough to converge, for the resync looks without being told. */
function losing(
  { dropNotices }: AppConfig,
  { random, onNotice }: AppDeps,
  send: (notice: Notice) => Promise<unknown>,
): (notice: Notice) => Promise<unknown> {
  return async (notice) => {
    const isLost = notice.data.reason !== 'manual' && random() < dropNotices;
    onNotice?.(notice, isLost);
    if (!isLost) await send(notice);
  };
}

/** Looks at all pools of a namespace on a timer; a look that takes longer than the interval is not overtaken by the next. */
function keepResyncing(config: AppConfig, deps: AppDeps, queue: Queue, namespace: string): () => void {
  const { clock, log, observer } = deps;
  let isLooking = false;
  let cancel = clock.after(config.resyncMs, tick);
  return () => cancel();

  function tick(): void {
    cancel = clock.after(config.resyncMs, tick);
    if (isLooking) {
      log.warn('resync.skipped', { namespace, reason: 'its predecessor still runs' });
      return;
    }
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }

  async function look(): Promise<void> {
    const due: PoolKey[] = [];
    let seen = 0;
    let result: 'done' | 'failed' = 'done';
    for (const platform of deps.platforms) {
      const enqueue = (key: PoolKey): void => {
        due.push(key);
        void queue.add(key, { reason: 'resync', observedAt: clock.now() });
      };
      try {
        const scope = { platform, cluster: config.cluster, namespace };
        const onSeen: LoopObserver['seen'] = (...pool) => observer?.seen(...pool);
        seen += await resync({ api: deps.api, ...scope, enqueue, onSeen });
      } catch (error) {
        const cause = error instanceof Error ? error.message : 'unknown';
        log.warn('resync.failed', { namespace, platform: platform.name, cause });
        result = 'failed';
      }
    }
    observer?.resync(namespace, result);
    deps.onResync?.(seen, due);
  }
}
