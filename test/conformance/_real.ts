import { startRealCluster } from '../real-cluster/cluster.ts';
import type { Started } from './_embedded.ts';

/** What writes besides the programs: the collector of ownerReferences, and what empties namespaces. */
const CONTROLLERS = ['garbage-collector-controller', 'namespace-controller'];

/** Starts a real cluster in which nobody but the programs and two controllers writes. */
export async function startReal(): Promise<Started> {
  const cluster = await startRealCluster({ controllers: CONTROLLERS });
  const { server, caPem, users } = cluster;
  return {
    endpoint: { url: server, caPem, token: users.admin.token, nobody: users.nobody.token },
    stop: () => cluster.stop(),
  };
}
