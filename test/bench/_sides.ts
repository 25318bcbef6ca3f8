import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCluster } from '../../src/app/cluster.ts';
import { type Running, upOn } from '../../src/app/up.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { createNamespaces, installCrds } from '../../src/embedded/boot.ts';
import { createDeploymentController } from '../../src/embedded/deployments.ts';
import { directApi } from '../../src/embedded/direct.ts';
import { createGarbageCollector } from '../../src/embedded/gc.ts';
import { serve } from '../../src/embedded/http.ts';
import { createKubelet } from '../../src/embedded/kubelet.ts';
import { createNamespaceController } from '../../src/embedded/namespaces.ts';
import { runActors } from '../../src/embedded/runner.ts';
import { createStore } from '../../src/embedded/store.ts';
import type { Commit } from '../../src/embedded/types.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  RECORDED_SETTINGS,
} from '../../src/simulator/world/theia-install.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { agreed, NAMESPACE, startInstallation } from '../real/_installation.ts';
import { readAudit, WRITE_VERBS } from '../real-cluster/audit.ts';

/** Where the yardstick, a plain Deployment, stands. */
export const YARD = 'yard';

/** Who asks: Everwarm, Kubernetes' own controllers, or the world they live in (kubelet, scheduler, whoever measures). */
type Who = 'everwarm' | 'controllers' | 'world';

/** Requests so far, of everybody, and the writes among them by who made them. */
interface Count {
  readonly requests: number;
  readonly writes: Readonly<Record<Who, number>>;
}

/** A cluster on which the same is measured. */
export interface Side {
  readonly name: 'embedded' | 'real';
  /** What `cpuMs` is of. */
  readonly cpuOf: string;
  readonly admin: KubeApi;
  onCommit(listener: (commit: Commit) => void): () => void;
  up(): Promise<Running>;
  count(): Count;
  cpuMs(): number;
  stop(): Promise<void>;
}

const READY_AFTER_MS = 1_000;

export async function realSide(): Promise<Side> {
  const installation = await startInstallation({ readyAfterMs: READY_AFTER_MS });
  const { cluster, admin, view } = installation;
  await agreed(admin.create(NAMESPACES, undefined, namespace(YARD)));
  return {
    name: 'real',
    cpuOf: 'kube-apiserver',
    admin,
    onCommit: (listener) => view.onCommit(listener),
    up: () => installation.up(),
    count: () =>
      counted(
        readAudit(cluster.auditLog)
          .filter((entry) => entry.namespace === NAMESPACE || entry.namespace === YARD)
          .map(({ user, agent, verb }) => ({
            who: user === cluster.users.controller.name ? 'everwarm' : whoseAgent(agent),
            isWrite: WRITE_VERBS.has(verb),
          })),
      ),
    cpuMs: () => cluster.cpuMs('kube-apiserver'),
    stop: () => installation.stop(),
  };
}

/** The embedded cluster as `everwarm up` has it; its controllers make no requests, so their commits are counted. */
export async function embeddedSide(): Promise<Side> {
  const now = () => systemClock.now();
  const store = createStore({ now, random: systemRandom });
  installCrds(store, [...THEIA_CRDS, WARM_POOL_CRD]);
  createNamespaces(store, [NAMESPACE, YARD]);
  const admin = directApi(store, { user: 'admin', now });
  await installBaseObjects(admin, { namespace: NAMESPACE });
  await installOperatorDeployment(admin, { namespace: NAMESPACE });
  const actors = [
    createDeploymentController(store, { now }),
    createKubelet(store, { now, random: systemRandom, readyAfterMs: READY_AFTER_MS }),
    createGarbageCollector(store, { now }),
    createNamespaceController(store, { now }),
  ];
  const stopActors = runActors(actors, systemClock, store);
  const requests: Asked[] = [];
  store.onCommit(({ request }) => {
    if (request.user !== EVERWARM) requests.push({ who: whoIs(request.user), isWrite: true });
  });
  const server = await serve(store, {
    clock: systemClock,
    random: systemRandom,
    port: 0,
    tokens: { [EVERWARM]: EVERWARM },
    onRequest: ({ verb }) => requests.push({ who: 'everwarm', isWrite: WRITE_VERBS.has(verb) }),
  });
  const home = mkdtempSync(join(tmpdir(), 'everwarm-bench-'));
  const kubeconfig = join(home, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig(EVERWARM, NAMESPACE));
  let running: Running | undefined;
  return {
    name: 'embedded',
    cpuOf: 'this process, Everwarm included',
    admin,
    onCommit: (listener) => store.onCommit(listener),
    up: async () => {
      running = await everwarmOn(kubeconfig);
      return running;
    },
    count: () => counted(requests),
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    stop: async () => {
      await running?.stop();
      stopActors();
      await server.close();
      rmSync(home, { recursive: true });
    },
  };
}

const EVERWARM = 'everwarm';
const NAMESPACES = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

function namespace(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function everwarmOn(kubeconfig: string): Promise<Running> {
  const connection = { clock: systemClock, random: systemRandom };
  const settings = JSON.stringify(RECORDED_SETTINGS);
  const choice = { kubeconfig, namespaces: [NAMESPACE], mode: 'guard', settings } as const;
  const log = createLog({ clock: systemClock, format: 'human', write: () => undefined });
  return await upOn(
    await openCluster(choice, connection),
    { resyncMs: 60_000, dropNotices: 0, kubeconfig },
    { ...connection, log, tell: () => undefined },
  );
}

interface Asked {
  readonly who: Who;
  readonly isWrite: boolean;
}

/** On the real cluster whoever is not Everwarm works as the administrator. */
function whoseAgent(agent: string): Who {
  return agent.startsWith('kube-controller-manager/') ? 'controllers' : 'world';
}

function whoIs(user: string): Who {
  return /^(admin$|system:node:|system:kube-scheduler$)/.test(user) ? 'world' : 'controllers';
}

function counted(requests: readonly Asked[]): Count {
  const writesOf = (wanted: Who) => requests.filter(({ who, isWrite }) => isWrite && who === wanted).length;
  const writes = {
    everwarm: writesOf('everwarm'),
    controllers: writesOf('controllers'),
    world: writesOf('world'),
  };
  return { requests: requests.length, writes };
}
