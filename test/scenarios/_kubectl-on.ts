import { onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { serve } from '../../src/embedded/http.ts';
import { NAMESPACE } from '../../src/simulator/cluster.ts';
import type { World } from '../../src/simulator/world.ts';
import { kubectlWith } from './_kubectl-with.ts';

const TOKEN = 'test-token';

/** The real kubectl on a world, until the test ends; a call of it must succeed. */
export async function kubectlOn(world: World): Promise<(args: string) => Promise<string>> {
  const tokens = { [TOKEN]: 'admin' };
  const server = await serve(world.cluster.store, { clock: systemClock, random: systemRandom, tokens });
  const { run, close } = kubectlWith(server.kubeconfig(TOKEN, NAMESPACE));
  onTestFinished(async () => {
    close();
    await server.close();
  });
  return run;
}
