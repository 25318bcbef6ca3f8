import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '../clock.ts';
import { createNamespaces, installCrds } from '../embedded/boot.ts';
import { createClaimProtection } from '../embedded/claims.ts';
import { createDeploymentController } from '../embedded/deployments.ts';
import { directApi } from '../embedded/direct.ts';
import { createEventExpiry } from '../embedded/expiry.ts';
import { createGarbageCollector } from '../embedded/gc.ts';
import { type EmbeddedServer, serve } from '../embedded/http.ts';
import { createKubelet, type Kubelet } from '../embedded/kubelet.ts';
import { createNamespaceController } from '../embedded/namespaces.ts';
import { runActors } from '../embedded/runner.ts';
import { createStore, type EmbeddedStore } from '../embedded/store.ts';
import { TerminalError } from '../errors.ts';
import type { KubeApi } from '../kube/api.ts';
import { staticTokenCluster } from '../kube/auth/static-token.ts';
import { createKubeApi, type KubeClient } from '../kube/client.ts';
import { type KubeconfigExtension, writeKubeconfig } from './kubeconfig.ts';

/** The names under which the embedded cluster's clients make their requests. */
export const EVERWARM_USER = 'system:serviceaccount:everwarm:everwarm';
const ADMIN_USER = 'admin';

export interface LocalClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** 0 for a free one. */
  readonly port: number;
  /** From a pod's start to its readiness. */
  readonly readyAfterMs: number;
  /** CustomResourceDefinitions to begin with: objects, or a directory of JSON files. */
  readonly crds: readonly (string | readonly unknown[])[];
  readonly namespaces: readonly string[];
}

/** A whole cluster in this process: API server, garbage collector, Deployment controller and kubelet. */
export interface LocalCluster {
  readonly url: string;
  readonly store: EmbeddedStore;
  readonly kubelet: Kubelet;
  /** The API over the network, as Everwarm's own service account. */
  readonly everwarm: KubeClient;
  /** The API without a network in between, as `user`. */
  as(user: string): KubeApi;
  /** Writes a kubeconfig of an administrator. */
  writeKubeconfig(file: string, namespace: string, extension?: KubeconfigExtension): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the cluster; it listens on the loopback address when this resolves. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { clock, random, port, crds, namespaces } = options;
  const now = (): number => clock.now();
  const store = createStore({ now, random });
  for (const source of crds) installCrds(store, source);
  createNamespaces(store, namespaces);
  const kubelet = createKubelet(store, { now, random, readyAfterMs: options.readyAfterMs });
  const actors = [
    createDeploymentController(store, { now }),
    kubelet,
    createGarbageCollector(store, { now }),
    createNamespaceController(store, { now }),
    createClaimProtection(store, { now }),
    createEventExpiry(store, { now }),
  ];
  const stopActors = runActors(actors, clock, store);
  const [adminToken, everwarmToken] = [newToken(), newToken()];
  const tokens = { [adminToken]: ADMIN_USER, [everwarmToken]: EVERWARM_USER };
  const server = await listen(port, () => serve(store, { clock, random, port, tokens }));
  const cluster = staticTokenCluster({ server: server.url, ca: server.caPem, token: everwarmToken });
  const everwarm = createKubeApi({ cluster, clock, random });
  return {
    url: server.url,
    store,
    kubelet,
    everwarm,
    as: (user) => directApi(store, { user, now, time: { clock, random } }),
    writeKubeconfig: (file, namespace, extension) =>
      writeKubeconfig(file, server.kubeconfig(adminToken, namespace), extension),
    async stop() {
      stopActors();
      everwarm.close();
      await server.close();
    },
  };
}

async function listen(port: number, start: () => Promise<EmbeddedServer>): Promise<EmbeddedServer> {
  try {
    return await start();
  } catch (cause) {
    throw new TerminalError(`port ${port} cannot be had: choose another one, or 0 for a free one`, { cause });
  }
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}
