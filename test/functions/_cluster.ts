import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LocalCluster, startLocalCluster } from '../../src/app/local-cluster.ts';
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { installBaseObjects } from '../../src/simulator/world/theia-install.ts';

const CRDS = fileURLToPath(new URL('../../src/app/crds', import.meta.url));

export const NAMESPACE = 'theia';
/** Of an installation without an operator. */
export const SETTINGS = { instancesHost: 'ide.example.org', usePaths: true, instancesPath: 'instances' };

/** A cluster with Theia Cloud's kinds and no pool yet, and a kubeconfig for it. */
export async function startCluster(): Promise<{
  readonly cluster: LocalCluster;
  readonly person: KubeApi;
  readonly kubeconfig: string;
}> {
  const cluster = await startLocalCluster({
    clock,
    random,
    port: 0,
    readyAfterMs: 200,
    crds: [CRDS, [WARM_POOL_CRD]],
    namespaces: [NAMESPACE],
  });
  const person = cluster.as('kubectl');
  await installBaseObjects(person, { namespace: NAMESPACE });
  const directory = await mkdtemp(join(tmpdir(), 'everwarm-kubeconfig-'));
  await cluster.writeKubeconfig(join(directory, 'config'), NAMESPACE);
  const kubeconfig = await readFile(join(directory, 'config'), 'utf8');
  await rm(directory, { recursive: true });
  return { cluster, person, kubeconfig };
}

/** A server that takes connections and never says a word. */
export async function startSilence(): Promise<{ readonly url: string; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
