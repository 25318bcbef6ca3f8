import { resolve } from 'node:path';
import type { Clock, Random } from '../clock.ts';
import { startLocalCluster } from './local-cluster.ts';
import type { Addresses } from './up.ts';

export interface ApiServerOptions {
  readonly port: number;
  readonly kubeconfigOut: string;
  /** A directory of CustomResourceDefinitions. */
  readonly crds?: string;
}

/** The embedded cluster alone. There is no webhook: nobody listens for notices. */
export interface ApiServer {
  readonly addresses: Omit<Addresses, 'webhook'> & { readonly webhook: null };
  stop(): Promise<void>;
}

const NAMESPACE = 'default';
const READY_AFTER_MS = 1_000;

/** Starts the embedded cluster; it listens and its kubeconfig is written when this resolves. */
export async function startApiServer(
  { port, kubeconfigOut, crds }: ApiServerOptions,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<ApiServer> {
  const cluster = await startLocalCluster({
    clock,
    random,
    port,
    readyAfterMs: READY_AFTER_MS,
    crds: crds === undefined ? [] : [crds],
    namespaces: [],
  });
  await cluster.writeKubeconfig(kubeconfigOut, NAMESPACE);
  return {
    addresses: {
      kubeconfig: resolve(kubeconfigOut),
      server: cluster.url,
      webhook: null,
      namespace: NAMESPACE,
    },
    stop: () => cluster.stop(),
  };
}
