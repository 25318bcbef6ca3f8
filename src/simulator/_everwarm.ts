import type { Clock, Random } from '../clock.ts';
import type { Report } from '../controller/outcome.ts';
import { planOnly, reconcile } from '../controller/reconcile.ts';
import type { Store } from '../embedded/types.ts';
import type { KubeApi } from '../kube/api.ts';
import type { Platform } from '../platform/platform.ts';
import { isEmpty } from '../pool/plan.ts';
import { createDriver, type Delivery, type Driver, keyOf } from './driver.ts';
import type { Watcher } from './watcher.ts';

export interface EverwarmOptions {
  /** Where its changes come from. */
  readonly store: Pick<Store, 'onCommit'>;
  /** The server, as one of its users. */
  readonly apiAs: (user: string) => KubeApi;
  readonly watcher: Pick<Watcher, 'beginPass'>;
  readonly namespace: string;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  readonly poolNames: () => readonly string[];
  readonly deliver: Delivery;
  readonly resyncMs: number;
  /** How long one request takes. */
  readonly latencyMs: number;
  /** What stands between Everwarm and the server. */
  readonly between: (api: KubeApi) => KubeApi;
}

/** Everwarm as one process that may be killed and started again. */
export interface Everwarm {
  start(): void;
  kill(): void;
  /** Nothing is queued, running or due again before the next resync. */
  isIdle(): boolean;
  /** Some pool in guard has something to do or to wait for. */
  hasPlans(): Promise<boolean>;
  /** Begins one pass, whatever was said; resolves when it is over. */
  reconcile(pool: string): Promise<void>;
}

export function createEverwarm(options: EverwarmOptions): Everwarm {
  const { apiAs, watcher, platform, clock, random, report, between, namespace } = options;
  let driver: Driver | undefined;
  let life: Life = { isDead: false };
  const revive = (): void => {
    if (life.isDead) life = { isDead: false };
  };
  const apiFor = (pool: string): KubeApi => {
    const pass = watcher.beginPass(pool);
    const judged = pass.judge(between(apiAs(pass.user)));
    return asLongAsItLives(slowly(judged, clock, options.latencyMs), life);
  };
  return {
    start: () => {
      revive();
      driver ??= createDriver({ ...options, apiFor });
    },
    kill: () => {
      driver?.stop();
      driver = undefined;
      life.isDead = true;
    },
    isIdle: () => driver?.isIdle() ?? true,
    hasPlans: async () => {
      const api = between(apiAs('reader'));
      for (const name of options.poolNames()) {
        const look = await planOnly({ api, platform, random, report }, keyOf(namespace, name));
        if (look === undefined || look.observation.policy.mode !== 'guard') continue;
        if (!isEmpty(look.plan) || look.plan.nextCheckAt !== undefined) return true;
      }
      return false;
    },
    reconcile: async (pool) => {
      revive();
      await reconcile({ api: apiFor(pool), platform, clock, random, report }, keyOf(namespace, pool));
    },
  };
}

interface Life {
  isDead: boolean;
}

/** Of a process that was killed nothing is sent any more, and no answer reaches it. */
function asLongAsItLives(api: KubeApi, life: Life): KubeApi {
  const never = () => new Promise<never>(() => undefined);
  return wrapped(api, async (send) => {
    if (life.isDead) return never();
    const answer = await send();
    return life.isDead ? never() : answer;
  });
}

function slowly(api: KubeApi, clock: Clock, ms: number): KubeApi {
  return wrapped(api, async (send) => {
    await clock.sleep(ms / 2);
    const answer = await send();
    await clock.sleep(ms / 2);
    return answer;
  });
}

function wrapped(api: KubeApi, around: <R>(send: () => Promise<R>) => Promise<R>): KubeApi {
  const call =
    <A extends readonly unknown[], R>(method: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      around(() => method(...args));
  return {
    get: call(api.get),
    list: call(api.list),
    create: call(api.create),
    patch: call(api.patch),
    delete: call(api.delete),
    watch: api.watch,
  };
}
