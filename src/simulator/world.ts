import { seededRandom } from '../clock.ts';
import type { OutcomeEvent } from '../controller/outcome.ts';
import { directApi } from '../embedded/direct.ts';
import type { Kubelet, KubeletOptions } from '../embedded/kubelet.ts';
import type { KubeApi, KubeObject } from '../kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, SESSIONS } from '../platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../platform/theia-cloud/theia-cloud.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Violation } from '../pool/invariants.ts';
import { createEverwarm, type Everwarm } from './_everwarm.ts';
import { type SlotView, slotViews } from './_slot-view.ts';
import { advance, isBusy } from './_time.ts';
import { type Cluster, createCluster, NAMESPACE } from './cluster.ts';
import type { Delivery } from './driver.ts';
import { createPeople, type People } from './people.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
import { createWatcher, type Watcher } from './watcher.ts';
import {
  createTheiaOperator,
  type TheiaOperator,
  type TheiaOperatorOptions,
} from './world/theia-operator.ts';

export type { SlotView };

export interface WorldOptions {
  /** The same seed, the same run (default 1). */
  readonly seed?: number;
  /** Theia Cloud with logins (default true). */
  readonly keycloak?: boolean;
  readonly kubelet?: Partial<KubeletOptions>;
  /** How long the garbage collector takes to look at a change (default 20 ms). */
  readonly gcLagMs?: number;
  /** The operator's stand-in; `rollsOut: false` leaves changes of a pool to Everwarm. */
  readonly operator?: Pick<
    TheiaOperatorOptions,
    'rollsOut' | 'deliver' | 'pace' | 'continueOnException' | 'log' | 'faults'
  >;
  /** What becomes of each change on its way to Everwarm (default: everything arrives). */
  readonly deliver?: Delivery;
  /** How often Everwarm looks without being told (default 60 s). */
  readonly resyncMs?: number;
  /** How long a request of Everwarm takes (default 2 ms). */
  readonly latencyMs?: number;
  /** Of pools whose WarmPool does not say (default guard). */
  readonly mode?: 'observe' | 'guard';
  readonly hasWarmPools?: boolean;
  /** What stands between Everwarm and the server: rights that are missing, a request that is its last. */
  readonly between?: (api: KubeApi) => KubeApi;
}

/** A cluster, its operator, its people and Everwarm, on one clock that moves only when told to. */
export interface World extends People {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  readonly kubelet: Kubelet;
  readonly operator: TheiaOperator;
  /** What Everwarm said, in order. */
  readonly events: readonly OutcomeEvent[];
  /** Broken invariants; a story without any has an empty list. */
  readonly violations: readonly Violation[];
  /** Starts Everwarm's loop (it is not running at first). */
  startEverwarm(): void;
  /** Kills it: nothing is cleaned up. */
  stopEverwarm(): void;
  /** Starts the operator and waits until it leads. */
  startOperator(): Promise<void>;
  /** Kills the operator; its Lease runs out by itself. */
  stopOperator(how?: 'kill' | 'terminate'): Promise<void>;
  /** Lets time pass. */
  run(ms: number): Promise<void>;
  /** Lets time pass until `claim` holds, looked at every 100 ms; throws after `limitMs`. */
  runUntil(claim: () => boolean, limitMs?: number): Promise<void>;
  /** Lets time pass until no pool has anything left to do or to wait for; throws after `limitMs` (default 10 min). */
  settle(limitMs?: number): Promise<void>;
  /** One pass over every pool, whatever was said. Answers with the number of write requests that it made. */
  reconcileAll(): Promise<number>;
  /** The slots of a pool in rising order. */
  slots(pool: string): readonly SlotView[];
  slot(pool: string, slot: number): SlotView;
  warmPool(pool: string): KubeObject | undefined;
  session(name: string): KubeObject | undefined;
  /** Write requests of Everwarm so far, as the server's log counts them. */
  writes(): number;
}

const START_MS = Date.parse('2026-01-05T09:00:00Z');
/** What the cluster does by itself later than this counts as a back-off. */
const BUSY_MS = 5_000;

/** A world with Theia Cloud installed: no pool, no operator running, Everwarm not started. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const parts = await assemble(options);
  const { clock, cluster, watcher, operator, everwarm, events } = parts;
  const time = timeOf(parts);
  return {
    ...createPeople(cluster),
    ...time,
    clock,
    cluster,
    kubelet: cluster.kubelet,
    operator,
    events,
    violations: watcher.violations,
    startEverwarm: () => everwarm.start(),
    stopEverwarm: () => everwarm.kill(),
    startOperator: () => time.through(operator.start()),
    // Giving up the Lease takes requests, and requests take time.
    stopOperator: (how) => time.through(operator.stop(how)),
    reconcileAll: async () => {
      const before = watcher.writes();
      for (const name of poolNames(cluster)) await time.through(everwarm.reconcile(name));
      return watcher.writes() - before;
    },
    slots: (pool) => slotViews(watcher.truth, pool),
    slot: (pool, slot) => {
      const found = slotViews(watcher.truth, pool).find((view) => view.slot === String(slot));
      if (found === undefined) throw new Error(`pool ${pool} has no slot ${slot}`);
      return found;
    },
    warmPool: (pool) => cluster.admin.find(WARM_POOLS, pool),
    session: (name) => cluster.admin.find(SESSIONS, name),
    writes: () => watcher.writes(),
  };
}

interface Parts {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  readonly watcher: Watcher;
  readonly operator: TheiaOperator;
  readonly everwarm: Everwarm;
  readonly events: OutcomeEvent[];
}

async function assemble(options: WorldOptions): Promise<Parts> {
  const { seed = 1, mode = 'guard', latencyMs = 2, resyncMs = 60_000, keycloak = true } = options;
  const { kubelet = {}, hasWarmPools = true, deliver = (change) => [change], gcLagMs } = options;
  const clock = createVirtualClock(START_MS);
  const { now } = clock;
  const collector = gcLagMs === undefined ? {} : { gcLagMs: () => gcLagMs };
  const cluster = await createCluster({ seed, now, keycloak, kubelet, hasWarmPools, ...collector });
  const { store, settings } = cluster;
  const watcher = createWatcher(store, now);
  const operator = createTheiaOperator({
    api: directApi(store, { user: 'operator', now }),
    clock,
    random: seededRandom(seed + 1),
    namespace: NAMESPACE,
    settings,
    ...options.operator,
  });
  const events: OutcomeEvent[] = [];
  const everwarm = createEverwarm({
    store,
    apiAs: (user) => directApi(store, { user, now }),
    watcher,
    namespace: NAMESPACE,
    clock,
    resyncMs,
    latencyMs,
    deliver,
    platform: createTheiaCloud({ mode, settings, oAuth2ProxyImage: settings.oAuth2ProxyImage }),
    random: seededRandom(seed),
    report: (event) => events.push(event),
    poolNames: () => poolNames(cluster),
    between: options.between ?? ((api) => api),
  });
  return { clock, cluster, watcher, operator, everwarm, events };
}

function poolNames({ admin }: Cluster): readonly string[] {
  return admin.list(APP_DEFINITIONS_V1BETA11).map(({ metadata }) => metadata.name);
}

/** The ways in which time passes. */
function timeOf(parts: Parts): Pick<World, 'run' | 'runUntil' | 'settle'> & Through {
  const { clock, cluster, everwarm } = parts;
  const runUntil: World['runUntil'] = async (claim, limitMs = 600_000) => {
    const end = clock.now() + limitMs;
    while (!claim()) {
      if (clock.now() >= end) throw new Error(`after ${limitMs} ms it is still not so: ${claim}`);
      await advance(parts, 100);
    }
  };
  return {
    run: (ms) => advance(parts, ms),
    runUntil,
    through: async (work) => {
      let isOver = false;
      const over = work.finally(() => {
        isOver = true;
      });
      over.catch(() => undefined);
      await runUntil(() => isOver, 60_000);
      await over;
    },
    settle: async (limitMs = 600_000) => {
      const end = clock.now() + limitMs;
      for (;;) {
        await advance(parts, 1_000);
        const isQuiet = everwarm.isIdle() && !isBusy(parts, BUSY_MS);
        if (isQuiet && !(await everwarm.hasPlans())) return;
        if (clock.now() >= end)
          throw new Error(`not settled after ${limitMs} ms: ${told(parts, poolNames(cluster))}`);
      }
    },
  };
}

interface Through {
  /** Lets time pass until `work` is over. */
  through(work: Promise<void>): Promise<void>;
}

function told({ watcher, cluster }: Parts, pools: readonly string[]): string {
  return pools
    .map((pool) => {
      const status = cluster.admin.find(WARM_POOLS, pool)?.['status'];
      return `${pool} ${JSON.stringify(slotViews(watcher.truth, pool))} ${JSON.stringify(status)}`;
    })
    .join('; ');
}
