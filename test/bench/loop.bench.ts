import { seededRandom } from '../../src/clock.ts';
import { reconcile } from '../../src/controller/reconcile.ts';
import { resync } from '../../src/controller/resync.ts';
import { directApi } from '../../src/embedded/direct.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { NAMESPACE } from '../../src/simulator/cluster.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import type { Measure } from './measure.ts';

/** Counts the calls of the port; a call is one request as long as a list fits one page. */
function counted(world: World): {
  readonly api: KubeApi;
  readonly calls: () => number;
  readonly writes: () => number;
} {
  const made: string[] = [];
  const direct = directApi(world.cluster.store, { user: 'everwarm', now: world.clock.now });
  const api = new Proxy(direct, {
    get:
      (target, method) =>
      (...args: unknown[]) => {
        made.push(String(method));
        return Reflect.apply(Reflect.get(target, method), target, args);
      },
  });
  const writes = () => made.filter((method) => method !== 'get' && method !== 'list').length;
  return { api, calls: () => made.length, writes };
}

async function restingWorld(pools: number, size: number): Promise<World> {
  const world = await createWorld();
  for (let at = 1; at <= pools; at += 1)
    world.createPool(`pool-${at}`, { minInstances: size, maxInstances: size });
  world.startEverwarm();
  await world.settle();
  world.stopEverwarm();
  return world;
}

async function pass(size: number, what: 'calls' | 'writes'): Promise<number> {
  const world = await restingWorld(1, size);
  const { settings } = world.cluster;
  const count = counted(world);
  const platform = createTheiaCloud({ mode: 'guard', settings, oAuth2ProxyImage: settings.oAuth2ProxyImage });
  const key = { cluster: 'c', platform: 'theia-cloud', namespace: NAMESPACE, name: 'pool-1' };
  const deps = {
    api: count.api,
    platform,
    clock: world.clock,
    random: seededRandom(1),
    report: () => undefined,
  };
  await reconcile(deps, key);
  return count[what]();
}

async function resyncCalls(): Promise<number> {
  const world = await restingWorld(100, 1);
  const { settings } = world.cluster;
  const { api, calls } = counted(world);
  const platform = createTheiaCloud({ mode: 'guard', settings, oAuth2ProxyImage: settings.oAuth2ProxyImage });
  let drifted = 0;
  const enqueue = () => {
    drifted += 1;
  };
  const seen = await resync({ api, platform, cluster: 'c', namespace: NAMESPACE, enqueue });
  if (seen !== 100 || drifted !== 0) throw new Error(`saw ${seen} pools, ${drifted} of them not at rest`);
  return calls();
}

/** From the AppDefinition to the last of 200 instances, on the world's own clock: nothing but waiting counts. */
async function fillMs(latencyMs: number): Promise<number> {
  const world = await createWorld({ latencyMs, kubelet: { readyAfterMs: 1_000 } });
  world.startEverwarm();
  world.createPool('pool', { minInstances: 200, maxInstances: 200 });
  const startedAt = world.clock.now();
  const serving = () => world.slots('pool').filter(({ ready, claimable }) => ready && claimable);
  await world.runUntil(() => serving().length === 200);
  return world.clock.now() - startedAt;
}

export const measures: readonly Measure[] = [
  { name: 'pass.at-rest.100.requests', unit: 'requests', goal: { atMost: 8 }, run: () => pass(100, 'calls') },
  { name: 'pass.at-rest.100.writes', unit: 'writes', goal: { atMost: 0 }, run: () => pass(100, 'writes') },
  // An API server at the other end of a region answers after some 30 ms.
  { name: 'fill.200.far-server', unit: 'ms', goal: { atMost: 12_000 }, run: () => fillMs(30) },
  { name: 'resync.100-pools.requests', unit: 'requests', goal: { atMost: 10 }, run: resyncCalls },
];
