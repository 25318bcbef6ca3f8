import type { OutcomeEvent } from '../../controller/outcome.ts';
import { reconcile } from '../../controller/reconcile.ts';
import { TerminalError } from '../../errors.ts';
import type { Platform } from '../../platform/platform.ts';
import { formatKey, type PoolKey } from '../../pool/key.ts';
import type { Bus } from '../../transport/bus.ts';
import type { PassResult } from '../../transport/queue.ts';
import { busEventOf } from './outcomes.ts';
import type { ClusterRegistry, ServedPlatform } from './registry.ts';
import type { Runtime } from './runtime.ts';
import { sharingFirstLook } from './shared-look.ts';

export interface PassesOptions {
  readonly registry: ClusterRegistry;
  readonly bus: Bus;
  readonly runtime: Runtime;
  /** All keys that have their pass now: those of one namespace share their first look. */
  readonly keys: readonly PoolKey[];
  readonly remainingMs: () => number;
}

/** What is kept back of a function's time to tell of what was done. */
const TELLING_MS = 1_000;

/**
 * A pass over one pool, its outcomes told on the bus. Rejects with TerminalError for a pool that nothing here serves, and
 * with UnreadableError when its cluster cannot be read.
 */
export function createPasses(
  options: PassesOptions,
): (key: PoolKey) => Promise<PassResult & { readonly outcomes: readonly OutcomeEvent[] }> {
  const { registry, bus, runtime, remainingMs } = options;
  const platformFor = sharing(options);
  return async (key) => {
    const served = registry.of(key);
    const platform = served === undefined ? undefined : platformFor(served, key);
    if (served === undefined || platform === undefined)
      throw new TerminalError('nothing here serves its cluster, platform or namespace');
    const api = await served.api();
    const outcomes: OutcomeEvent[] = [];
    try {
      const result = await reconcile(
        {
          ...runtime,
          api,
          platform,
          report: (outcome) => outcomes.push(outcome),
          remainingMs: () => remainingMs() - TELLING_MS,
        },
        key,
      );
      runtime.log.info('pass.done', { pool: formatKey(key), outcomes: outcomes.length, ...result });
      return { ...result, outcomes };
    } finally {
      await bus.put(outcomes.map(busEventOf));
    }
  };
}

function sharing({ keys }: PassesOptions) {
  const platforms = new Map<ServedPlatform, Platform | undefined>();
  return (served: ServedPlatform, { cluster, platform }: PoolKey): Platform | undefined => {
    if (!platforms.has(served)) {
      const own = served.platforms.find(({ name }) => name === platform);
      const mine = keys.filter((key) => key.cluster === cluster);
      platforms.set(served, own === undefined ? undefined : sharingFirstLook(own, mine));
    }
    return platforms.get(served);
  };
}
