import type { FunctionConfig } from '../../config.ts';
import { resync } from '../../controller/resync.ts';
import type { PoolKey } from '../../pool/key.ts';
import type { Queue } from '../../transport/queue.ts';
import { openRegistry } from './clients.ts';
import type { ServedPlatform } from './registry.ts';
import type { Runtime } from './runtime.ts';
import { openSqsQueue } from './sqs.ts';

const NAMESPACES_AT_ONCE = 8;

/** What a look at everything came to. */
export interface ResyncResult {
  readonly seen: number;
  readonly due: number;
  /** Clusters of which a part could not be read, or whose pools could not be enqueued. */
  readonly failed: readonly string[];
}

/**
 * Looks at every pool of every cluster, clusters and namespaces side by side, and enqueues those with something to do. One
 * that cannot be read is logged and counted, and delays no other. `tick` names this look: its retry enqueues nothing twice.
 */
export function createResync(
  config: Pick<FunctionConfig, 'clustersFile' | 'queueUrl'>,
  runtime: Runtime,
): (tick: string) => Promise<ResyncResult> {
  const { served } = openRegistry(config, runtime);
  const queue = openSqsQueue(config, runtime);
  const { metrics } = runtime;
  return async (tick) => {
    const looks = (await Promise.all(served.map((one) => lookAtAll(one, { tick, queue, runtime })))).flat();
    const sum = (number: (look: Look) => number): number =>
      looks.reduce((total, look) => total + number(look), 0);
    const seen = sum((look) => look.seen);
    const due = sum((look) => look.due);
    metrics.add('PoolsSeen', seen);
    metrics.add('PoolsDue', due);
    metrics.add('StaleSeconds', Math.max(0, ...looks.map((look) => look.staleSeconds)));
    metrics.add('Resyncs', 1);
    const failed = [...new Set(looks.flatMap((look) => look.failed))];
    runtime.log.info('resync.done', { seen, due, failed: failed.length });
    return { seen, due, failed };
  };
}

interface Look {
  readonly seen: number;
  readonly due: number;
  readonly staleSeconds: number;
  readonly failed: readonly string[];
}

interface LookDeps {
  readonly tick: string;
  readonly queue: Queue;
  readonly runtime: Runtime;
}

/** A few namespaces side by side: a cluster with many must not be asked for all of them at once. Never rejects. */
async function lookAtAll(served: ServedPlatform, deps: LookDeps): Promise<readonly Look[]> {
  const looks: Look[] = [];
  const left = [...served.namespaces];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      looks.push(await lookAt(served, next, deps));
  };
  await Promise.all(Array.from({ length: NAMESPACES_AT_ONCE }, lane));
  return looks;
}

/** Never rejects. */
async function lookAt(
  { id, api: open, platforms }: ServedPlatform,
  namespace: string,
  { tick, queue, runtime }: LookDeps,
): Promise<Look> {
  const { log, metrics, clock } = runtime;
  const due: PoolKey[] = [];
  let seen = 0;
  let staleSeconds = 0;
  try {
    const api = await open();
    for (const platform of platforms) {
      seen += await resync({
        api,
        platform,
        cluster: id,
        namespace,
        enqueue: (key) => due.push(key),
        onSeen: (_key, seconds) => {
          staleSeconds = Math.max(staleSeconds, seconds);
        },
      });
    }
    await Promise.all(
      due.map((key) => queue.add(key, { reason: 'resync', observedAt: clock.now(), once: `resync ${tick}` })),
    );
    return { seen, due: due.length, staleSeconds, failed: [] };
  } catch (error) {
    metrics.add('ResyncsFailed', 1, { cluster: id });
    log.error('resync.failed', {
      cluster: id,
      namespace,
      cause: error instanceof Error ? error.message : 'unknown',
    });
    return { seen, due: due.length, staleSeconds, failed: [id] };
  }
}
