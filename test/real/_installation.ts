import { openCluster } from '../../src/app/cluster.ts';
import { type Running, untilSettled, upOn } from '../../src/app/up.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import type { Outcome } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  PODS,
} from '../../src/platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { createTruthReader, type TruthReader } from '../../src/simulator/truth.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  OPERATOR_DEPLOYMENT_NAME,
  RECORDED_SETTINGS,
} from '../../src/simulator/world/theia-install.ts';
import { createTheiaOperator, type TheiaOperator } from '../../src/simulator/world/theia-operator.ts';
import { createLog } from '../../src/telemetry/log.ts';
import {
  apiOf,
  type RealCluster,
  type RealClusterOptions,
  startRealCluster,
  wireOf,
} from '../real-cluster/cluster.ts';
import { type RemoteKubelet, startKubelet } from '../real-cluster/kubelet.ts';
import { createMirror, type View } from '../real-cluster/mirror.ts';
import { install } from './_installed.ts';

/** Where everything of it stands. */
export const NAMESPACE = 'theia';

export interface InstallationOptions extends RealClusterOptions {
  readonly keycloak?: boolean;
  /** From a pod's binding to its readiness (default 1 s). */
  readonly readyAfterMs?: number;
  /** Whether the kubelet's pods may run (default true). */
  readonly hasKubelet?: boolean;
}

/** A real cluster of its own with Theia Cloud installed, and whoever works there. */
export interface Installation {
  readonly cluster: RealCluster;
  readonly admin: KubeClient;
  readonly view: View;
  readonly truth: TruthReader;
  readonly kubelet: RemoteKubelet | undefined;
  readonly operator: TheiaOperator;
  /** Starts the whole of Everwarm on the cluster, as `everwarm up --kubeconfig FILE --mode guard` does. */
  up(options?: { readonly resyncMs?: number; readonly namespaces?: readonly string[] }): Promise<Running>;
  /** Resolves when there is nothing left to do for Everwarm. */
  settled(running: Running): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it; the operator and Everwarm are not running yet. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { keycloak = true, readyAfterMs = 1_000, hasKubelet = true } = options;
  const cluster = await startRealCluster(options);
  await install(cluster);
  const admin = apiOf(cluster, 'admin');
  const { watches } = createTheiaCloud({ mode: 'guard' });
  const others = watches.filter(({ resource }) => resource.plural !== APP_DEFINITIONS_V1BETA11.plural);
  const mirror = createMirror({
    api: admin,
    resources: [
      NAMESPACES,
      APP_DEFINITIONS_V1BETA11,
      PODS,
      LEASES,
      ...others.map(({ resource }) => resource),
    ],
  });
  const view = mirror.view();
  const truth = createTruthReader();
  view.onCommit((commit) => truth.apply(commit));
  await mirror.ready;
  await agreed(
    admin.create(NAMESPACES, undefined, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE },
    }),
  );
  const settings = { ...RECORDED_SETTINGS, keycloak };
  await installBaseObjects(admin, { namespace: NAMESPACE });
  await installOperatorDeployment(admin, { namespace: NAMESPACE, settings });
  // The stand-in is no pod: the Deployment is there for its arguments alone.
  const place = { namespace: NAMESPACE, name: OPERATOR_DEPLOYMENT_NAME };
  await agreed(admin.patch(DEPLOYMENTS, place, { type: 'merge', patch: { spec: { replicas: 0 } } }));
  const wire = wireOf(cluster, 'admin');
  const kubelet = hasKubelet ? startKubelet(view, wire, { readyAfterMs }) : undefined;
  const operator = createTheiaOperator({
    api: apiOf(cluster, 'operator'),
    clock: systemClock,
    random: systemRandom,
    namespace: NAMESPACE,
    settings,
    rollsOut: false,
  });
  let running: Running | undefined;
  return {
    cluster,
    admin,
    view,
    truth,
    kubelet,
    operator,
    up: async ({ resyncMs = 60_000, namespaces = [NAMESPACE] } = {}) => {
      running = await start(cluster, namespaces, resyncMs);
      return running;
    },
    settled: async (of) => {
      await untilSettled(of, systemClock, new AbortController().signal);
    },
    stop: async () => {
      await running?.stop();
      await operator.stop();
      kubelet?.stop();
      mirror.stop();
      wire.close();
      await cluster.stop();
    },
  };
}

async function start(
  cluster: RealCluster,
  namespaces: readonly string[],
  resyncMs: number,
): Promise<Running> {
  const { kubeconfig } = cluster.users.controller;
  // The operator's arguments do not say where its proxy's image comes from.
  const settings = JSON.stringify(RECORDED_SETTINGS);
  const choice = { kubeconfig, namespaces, mode: 'guard', settings } as const;
  const connection = { clock: systemClock, random: systemRandom };
  const log = createLog({ clock: systemClock, format: 'human', write: () => undefined });
  return await upOn(
    await openCluster(choice, connection),
    { resyncMs, dropNotices: 0, kubeconfig },
    { ...connection, log, tell: () => undefined },
  );
}

/** The value of an answer; the server must not refuse. */
export async function agreed<T>(answer: Promise<Outcome<T>>): Promise<T> {
  const outcome = await answer;
  if (outcome.kind === 'ok') return outcome.value;
  throw new Error(`the server refused: ${outcome.kind} ${outcome.message}`);
}
