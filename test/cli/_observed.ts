import { lookAtPools, type PoolLook } from '../../src/app/look.ts';
import { directApi } from '../../src/embedded/direct.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { NAMESPACE } from '../../src/simulator/cluster.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';

const OLD = 'registry.example.org/ide/java:pr-170';
export const NEW = 'registry.example.org/ide/java:1.3.0';

/** A running installation as somebody finds it on the first day: no WarmPool kind, the release missed, users at work. */
export async function firstDay(instances = 10): Promise<World> {
  const world = await createWorld({ mode: 'observe', hasWarmPools: false, operator: { rollsOut: false } });
  await world.startOperator();
  world.createPool('java', { minInstances: instances, image: OLD });
  await world.run(20_000);
  return world;
}

/** What is seen with read rights only: whoever tries to write fails the test. */
export function look(world: World): Promise<readonly PoolLook[]> {
  const { store, settings } = world.cluster;
  const refuse = () => Promise.reject(new Error('only read rights here'));
  const { get, list, watch } = directApi(store, { user: 'viewer', now: world.clock.now });
  const api: KubeApi = { get, list, watch, create: refuse, patch: refuse, delete: refuse };
  const { oAuth2ProxyImage } = settings;
  const platforms = [createTheiaCloud({ mode: 'asFound', settings, oAuth2ProxyImage })];
  return lookAtPools({ id: 'here', api, namespaces: [NAMESPACE], platforms }, 'all');
}
