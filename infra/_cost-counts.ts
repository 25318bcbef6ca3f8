import { resync } from '../src/controller/resync.ts';
import { directApi } from '../src/embedded/direct.ts';
import type { KubeApi } from '../src/kube/api.ts';
import { createTheiaCloud } from '../src/platform/theia-cloud/theia-cloud.ts';
import { NAMESPACE } from '../src/simulator/cluster.ts';
import { createWorld, type World } from '../src/simulator/world.ts';

/** How long one request to a cluster takes from Lambda: another region, TLS kept open. */
export const REQUEST_MS = 50;
const DEBOUNCE_MS = 250;
const POOL_SIZE = 10;

/** What one thing that happens costs in work. */
export interface Work {
  readonly notices: number;
  readonly passes: number;
  readonly requests: number;
  /** Of all passes together, with what they wait for. */
  readonly seconds: number;
}

/** A release to a pool of ten, and one user's coming and going, each counted in the simulator. */
export async function countWork(): Promise<{ readonly release: Work; readonly user: Work }> {
  const passes: { first: number; last: number }[] = [];
  const windows = new Set<number>();
  const clock = { now: () => 0 };
  let requests = 0;
  const between = (api: KubeApi): KubeApi => {
    const pass = { first: clock.now(), last: clock.now() };
    passes.push(pass);
    return watched(api, () => {
      requests += 1;
      pass.last = clock.now();
    });
  };
  // The outbox sends at most one notice a pool and debounce.
  const deliver = <C>(change: C): readonly C[] => {
    windows.add(Math.floor(clock.now() / DEBOUNCE_MS));
    return [change];
  };
  const never = 24 * 3_600_000;
  const operator = { rollsOut: false };
  const world = await createWorld({ between, deliver, operator, resyncMs: never, latencyMs: REQUEST_MS });
  clock.now = () => world.clock.now();
  world.createPool('pool', { minInstances: POOL_SIZE });
  world.startEverwarm();
  await world.startOperator();
  await world.settle();
  const during = async (what: () => Promise<void>): Promise<Work> => {
    passes.length = 0;
    windows.clear();
    requests = 0;
    await what();
    const seconds = passes.reduce((sum, { first, last }) => sum + (last - first) / 1_000, 0);
    return { notices: windows.size, passes: passes.length, requests, seconds };
  };
  const release = await during(async () => {
    world.changePool('pool', { image: 'registry.example.org/ide/java-17:2.0.0' });
    await world.run(300_000);
  });
  const user = await during(async () => {
    const session = world.claim('pool');
    await world.run(60_000);
    world.release(session);
    await world.run(120_000);
  });
  return { release, user };
}

/** Requests of one look at a cluster with so many pools of ten, all at rest. */
export async function countResync(pools: number): Promise<number> {
  const world = await createWorld();
  for (let at = 1; at <= pools; at += 1) world.createPool(`pool-${at}`, { minInstances: POOL_SIZE });
  world.startEverwarm();
  await world.settle();
  world.stopEverwarm();
  return await requestsOfResync(world, pools);
}

async function requestsOfResync({ cluster, clock }: World, pools: number): Promise<number> {
  const { settings, store } = cluster;
  let requests = 0;
  let due = 0;
  const api = watched(directApi(store, { user: 'everwarm', now: clock.now }), () => {
    requests += 1;
  });
  const platform = createTheiaCloud({ mode: 'guard', settings, oAuth2ProxyImage: settings.oAuth2ProxyImage });
  const enqueue = () => {
    due += 1;
  };
  const seen = await resync({ api, platform, cluster: 'c', namespace: NAMESPACE, enqueue });
  if (seen !== pools || due > 0) throw new Error(`saw ${seen} of ${pools} pools, ${due} of them not at rest`);
  return requests;
}

function watched(api: KubeApi, onCall: () => void): KubeApi {
  return new Proxy(api, {
    get:
      (target, method) =>
      (...args: unknown[]) => {
        onCall();
        return Reflect.apply(Reflect.get(target, method), target, args);
      },
  });
}
