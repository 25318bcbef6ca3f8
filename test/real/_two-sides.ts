import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalCluster } from '../../src/app/local-cluster.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';
import { startRealCluster } from '../real-cluster/cluster.ts';
import { install } from './_installed.ts';

/** The embedded API server and a real one, with the same kinds and nobody to run pods: a kubeconfig for each. */
export interface TwoSides {
  readonly embedded: string;
  readonly real: string;
  stop(): Promise<void>;
}

export async function startTwoSides(): Promise<TwoSides> {
  const home = mkdtempSync(join(tmpdir(), 'everwarm-sides-'));
  const embedded = join(home, 'embedded.kubeconfig');
  const real = await startRealCluster();
  await install(real);
  const local = await startLocalCluster({
    clock: systemClock,
    random: systemRandom,
    port: 0,
    // Nobody runs pods on the real one here.
    readyAfterMs: 3_600_000,
    crds: [THEIA_CRDS, [WARM_POOL_CRD]],
    namespaces: [],
  });
  await local.writeKubeconfig(embedded, 'default');
  return {
    embedded,
    real: real.kubeconfig,
    stop: async () => {
      await local.stop();
      await real.stop();
      rmSync(home, { recursive: true });
    },
  };
}
