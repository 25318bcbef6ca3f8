import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type App, createApp } from '../app.ts';
import type { Clock, Random } from '../clock.ts';
import type { OutcomeEvent } from '../controller/outcome.ts';
import type { KubeApi } from '../kube/api.ts';
import { UnreadableError } from '../platform/reading.ts';
import { createPlatforms } from '../platform/registry.ts';
import { type Settings, settingsFromConfig } from '../platform/theia-cloud/settings.ts';
import { WARM_POOL_CRD } from '../platform/warm-pool-crd.ts';
import { formatKey } from '../pool/key.ts';
import { EDUCATES_CRDS } from '../simulator/world/educates/educates-crds.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  RECORDED_SETTINGS,
} from '../simulator/world/theia-install.ts';
import { createTheiaOperator } from '../simulator/world/theia-operator.ts';
import { createUsers } from '../simulator/world/users.ts';
import type { Log } from '../telemetry/log.ts';
import type { Notice } from '../transport/notice.ts';
import type { Mode, OpenCluster } from './cluster.ts';
import { playDemo, playOn, type Stage } from './demo.ts';
import { PORTAL_NAMESPACE, startDemoPortal } from './demo-portal.ts';
import { OWN_CONTEXT, unusedKubeconfig } from './kubeconfig.ts';
import { EVERWARM_USER, type LocalCluster, startLocalCluster } from './local-cluster.ts';
import { lookAtPools, type PoolLook, type ServedCluster } from './look.ts';
import { isSettled } from './pool-view.ts';
import type { LoopMetrics } from './prometheus.ts';
import { startStandalone } from './standalone.ts';
import { type Cast, storyOf, type Tell } from './story.ts';
import { watchPromises } from './watchdog.ts';

/** What serving takes, whatever the cluster is. */
export interface UpDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tell: Tell;
}

export interface LoopOptions {
  readonly resyncMs: number;
  /** The part of the notices that is lost on purpose, 0 to 1. */
  readonly dropNotices: number;
  /** Where /livez, /readyz and /metrics are to be served; nowhere unless said so. 0 for a free port. */
  readonly health?: { readonly host: string; readonly port: number };
}

export interface LocalOptions extends LoopOptions {
  readonly world: 'demo' | 'empty';
  readonly port: number;
  /** Where its kubeconfig goes; not over that of another one that runs here unless named. */
  readonly kubeconfigOut?: string;
  readonly readyAfterMs: number;
  readonly mode: Mode;
}

/** Where a running Everwarm and its cluster are to be found. */
export interface Addresses {
  readonly kubeconfig: string;
  readonly server: string;
  readonly webhook: string;
  readonly namespace: string;
  /** Where /livez, /readyz and /metrics are, if anywhere. */
  readonly health?: string;
}

/** Everwarm at work, with whatever world it is at work on. */
export interface Running {
  readonly addresses: Addresses;
  /** Plays the world's script once, and then over and over if `loops`; resolves at once where there is none. */
  play(signal: AbortSignal, loops: boolean): Promise<void>;
  /** The pools as they are now; read beside the loop, which is not disturbed. */
  look(): Promise<readonly PoolLook[]>;
  /** Resolves when no pool has its pass or waits for one. */
  idle(): Promise<void>;
  violations(): number;
  stop(): Promise<void>;
}

const NAMESPACE = 'theia';
const OPERATOR_USER = 'system:serviceaccount:theia:operator';
const PERSON = 'kubectl';
const SETTLED_LOOK_MS = 250;
/** Theia Cloud's kinds and the HTTPRoute, as the fixtures have them. */
const PLATFORM_CRDS = fileURLToPath(new URL('crds', import.meta.url));

const CAST: Cast = {
  everwarm: EVERWARM_USER,
  operator: OPERATOR_USER,
  keyOf: (namespace, name) => formatKey({ cluster: OWN_CONTEXT, platform: 'theia-cloud', namespace, name }),
};

/** The world without an operator: nobody logs in, instances are handed out warm. */
const EMPTY_SETTINGS = {
  instancesHost: RECORDED_SETTINGS.instancesHost,
  usePaths: RECORDED_SETTINGS.usePaths,
  instancesPath: RECORDED_SETTINGS.instancesPath,
  serviceUrl: RECORDED_SETTINGS.serviceUrl,
  serviceAuthToken: RECORDED_SETTINGS.serviceAuthToken,
  enableMonitor: RECORDED_SETTINGS.enableMonitor,
  bandwidthLimiter: RECORDED_SETTINGS.bandwidthLimiter,
};

/** Starts a cluster of its own in this process, and Everwarm on it over the network. */
export async function upLocal(options: LocalOptions, deps: UpDeps): Promise<Running> {
  const { clock, random, tell } = deps;
  const { world, port, readyAfterMs, mode } = options;
  const crds = [PLATFORM_CRDS, [WARM_POOL_CRD], ...(world === 'demo' ? [EDUCATES_CRDS] : [])];
  const cluster = await startLocalCluster({
    clock,
    random,
    port,
    readyAfterMs,
    crds,
    namespaces: [NAMESPACE],
  });
  const { store } = cluster;
  const watchdog = watchPromises({
    store,
    user: EVERWARM_USER,
    now: () => clock.now(),
    onViolation: (violation) => tell({ type: 'Violation', ...violation }),
  });
  store.onCommit((commit) => {
    const story = storyOf(commit, CAST);
    if (story !== undefined) tell(story);
  });
  const person = cluster.as(PERSON);
  const settings = await furnish(world, person);
  const platforms = createPlatforms({ mode, theiaCloud: settings });
  const namespaces = world === 'demo' ? [NAMESPACE, PORTAL_NAMESPACE] : [NAMESPACE];
  const app = await startApp(
    { id: OWN_CONTEXT, api: cluster.everwarm, namespaces, platforms },
    options,
    deps,
  );
  const kubeconfigOut = options.kubeconfigOut ?? (await unusedKubeconfig(cluster.url));
  await cluster.writeKubeconfig(kubeconfigOut, NAMESPACE, { mode, settings });
  const view = { id: OWN_CONTEXT, api: cluster.as('everwarm-view'), namespaces: [NAMESPACE], platforms };
  const look = (): Promise<readonly PoolLook[]> => lookAtPools(view, 'all');
  const operator = operatorOf(cluster, deps);
  const stopPortal =
    world === 'demo' ? await startDemoPortal({ clock, random, as: cluster.as }) : () => undefined;
  return {
    addresses: {
      kubeconfig: resolve(kubeconfigOut),
      server: cluster.url,
      webhook: app.webhook,
      namespace: NAMESPACE,
    },
    async play(signal, loops) {
      if (world === 'empty') return;
      const users = createUsers({ api: person, namespace: NAMESPACE });
      const idle = (): Promise<void> => app.idle();
      const stage: Stage = { clock, namespace: NAMESPACE, person, users, operator, look, idle, tell, signal };
      await playDemo(stage);
      if (loops) await playOn(stage);
    },
    look,
    idle: () => app.idle(),
    violations: () => watchdog.count(),
    async stop() {
      stopPortal();
      await operator.stop('terminate');
      await app.stop();
      watchdog.stop();
      await cluster.stop();
    },
  };
}

/** Resolves when there is nothing left to do: every pool has converged or is blocked, and there is at least one. */
export async function untilSettled(
  running: Pick<Running, 'look' | 'idle'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly PoolLook[]> {
  while (!signal.aborted) {
    await running.idle();
    const looks = await lookIfReadable(running);
    if (looks.length > 0 && looks.every(isSettled)) return looks;
    await clock.sleep(SETTLED_LOOK_MS, signal);
  }
  return [];
}

/** A cluster that cannot be read now may be read a moment later; the loop says so in its own words. */
async function lookIfReadable(running: Pick<Running, 'look'>): Promise<readonly PoolLook[]> {
  try {
    return await running.look();
  } catch (error) {
    if (error instanceof UnreadableError) return [];
    throw error;
  }
}

/** Serves a cluster that is there already. Nothing is installed unless `installCrds` says so. */
export async function upOn(
  cluster: OpenCluster,
  options: LoopOptions & { readonly kubeconfig: string },
  deps: UpDeps,
): Promise<Running> {
  const { health } = options;
  const standalone = health === undefined ? undefined : await startStandalone(health, deps);
  const app = await startApp(cluster, options, deps, standalone?.metrics);
  standalone?.follow(app);
  return {
    addresses: {
      kubeconfig: options.kubeconfig === '' ? '' : resolve(options.kubeconfig),
      server: cluster.server,
      webhook: app.webhook,
      namespace: cluster.namespaces.join(','),
      ...(standalone === undefined ? {} : { health: standalone.url }),
    },
    play: async () => {},
    look: () => lookAtPools(cluster, 'all'),
    idle: () => app.idle(),
    violations: () => 0,
    async stop() {
      await app.stop();
      await standalone?.stop();
      cluster.api.close();
    },
  };
}

function startApp(
  cluster: ServedCluster,
  { resyncMs, dropNotices }: LoopOptions,
  { tell, ...deps }: UpDeps,
  metrics?: LoopMetrics,
): Promise<App> {
  const { id, api, namespaces, platforms } = cluster;
  return createApp(
    { cluster: id, namespaces, resyncMs, dropNotices },
    {
      ...deps,
      api,
      platforms,
      report: (event: OutcomeEvent) => {
        metrics?.outcome(event);
        tell(event);
      },
      onNotice: (notice, isLost) => tell(noticeEvent(notice, isLost)),
      onResync: (pools, enqueued) => tell({ type: 'Resync', pools, enqueued: enqueued.map(formatKey) }),
      ...(metrics === undefined ? {} : { observer: metrics }),
    },
  );
}

function noticeEvent({ data }: Notice, lost: boolean) {
  const { key, object, reason, coalesced } = data;
  return {
    type: 'Notice',
    pool: key,
    object: `${object.kind}/${object.name}`,
    reason,
    coalesced,
    lost,
  } as const;
}

/** What stands in the world before anything happens in it. Answers with the operator's settings. */
async function furnish(world: LocalOptions['world'], person: KubeApi): Promise<Settings> {
  await installBaseObjects(person, { namespace: NAMESPACE });
  if (world === 'demo') {
    await installOperatorDeployment(person, { namespace: NAMESPACE });
    return RECORDED_SETTINGS;
  }
  const settings = settingsFromConfig(EMPTY_SETTINGS);
  if (settings.kind === 'parsed') return settings.value;
  throw new Error(`the empty world's settings: ${settings.field} ${settings.reason}`);
}

function operatorOf(cluster: LocalCluster, { clock, random, tell }: UpDeps) {
  return createTheiaOperator({
    api: cluster.as(OPERATOR_USER),
    clock,
    random,
    namespace: NAMESPACE,
    settings: RECORDED_SETTINGS,
    onExit: (reason) => tell({ type: 'Story', who: 'operator', what: `ended: ${reason}` }),
  });
}
