/** Stands for `test/scenarios/_kubectl-on.ts` where a story is told on a real API server. */
import { inject } from 'vitest';
import { kubeconfigOf } from '../../src/embedded/http/kubeconfig.ts';
import type { World } from '../../src/simulator/world.ts';
import { kubectlWith } from '../scenarios/_kubectl-with.ts';
import { atTheEnd } from './_stage.ts';

/** The real kubectl in the namespace of a story, until the test ends; a call of it must succeed. */
export async function kubectlOn(world: World): Promise<(args: string) => Promise<string>> {
  const address = inject('realCluster');
  if (typeof address === 'string') throw new Error(address);
  const { server: url, caPem, users } = address;
  const { namespace } = world as unknown as { readonly namespace: string };
  const { run, close } = kubectlWith(kubeconfigOf({ url, caPem, token: users.admin.token, namespace }));
  atTheEnd(async () => close());
  return run;
}
