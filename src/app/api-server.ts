import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock, Random } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import { unusedKubeconfig } from './kubeconfig.ts';
import { startLocalCluster } from './local-cluster.ts';
import type { Addresses } from './up.ts';

export interface ApiServerOptions {
  readonly port: number;
  /** Where its kubeconfig goes; not over that of another one that runs here unless named. */
  readonly kubeconfigOut?: string;
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
  { port, crds, ...options }: ApiServerOptions,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<ApiServer> {
  const cluster = await startLocalCluster({
    clock,
    random,
    port,
    readyAfterMs: READY_AFTER_MS,
    crds: crds === undefined ? [] : [readDefinitions(crds)],
    namespaces: [],
  });
  const kubeconfigOut = options.kubeconfigOut ?? (await unusedKubeconfig(cluster.url));
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

/** The objects in a person's directory; what is wrong with it is said with the file's name. */
function readDefinitions(directory: string): readonly unknown[] {
  let file = directory;
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    if (names.length === 0) throw new Error('no *.json files');
    return names.sort().map((name): unknown => {
      file = join(directory, name);
      return JSON.parse(readFileSync(file, 'utf8'));
    });
  } catch (cause) {
    throw new TerminalError(`${file}: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause });
  }
}
