import { seededRandom } from '../clock.ts';
import { directApi } from '../embedded/direct.ts';
import { createTheiaCloud } from '../platform/theia-cloud/theia-cloud.ts';
import type { Scene } from './_happenings.ts';
import type { PassDeps } from './_passes.ts';
import type { Swarm } from './_swarm.ts';
import { createCluster, NAMESPACE } from './cluster.ts';
import { createPeople } from './people.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
import { createWatcher, type Watcher } from './watcher.ts';
import { measuredPace } from './world/operator-hands.ts';
import { createTheiaOperator } from './world/theia-operator.ts';

/** When every run begins. */
export const START_MS = Date.parse('2026-01-05T09:00:00Z');

/** What a random run is made of. */
export interface Parts {
  readonly clock: VirtualClock;
  readonly scene: Scene;
  readonly watcher: Watcher;
  readonly pools: readonly string[];
  readonly platform: PassDeps['platform'];
}

/** The world of one run, before anything happens in it. */
export async function build(seed: number, swarm: Swarm): Promise<Parts> {
  const clock = createVirtualClock(START_MS);
  const { now } = clock;
  const cluster = await createCluster({
    seed,
    now,
    keycloak: swarm.keycloak,
    gcLagMs: () => swarm.gcLagMs,
    kubelet: { readyAfterMs: swarm.readyAfterMs, jitterMs: swarm.readyAfterMs / 2 },
  });
  const { store, settings } = cluster;
  const operator = createTheiaOperator({
    api: directApi(store, { user: 'operator', now }),
    clock,
    random: seededRandom(seed + 1),
    namespace: NAMESPACE,
    settings,
    rollsOut: swarm.rollsOut,
    pace: (step, random) => measuredPace(step, random) * swarm.slowness,
    continueOnException: true,
  });
  const scene: Scene = {
    cluster,
    people: createPeople(cluster),
    operator,
    clock,
    slotsMax: 4,
    lifts: [],
    limits: [],
  };
  return {
    clock,
    scene,
    watcher: createWatcher(store, now),
    pools: swarm.twoPools ? ['java', 'rust'] : ['java'],
    platform: createTheiaCloud({ mode: 'guard', settings, oAuth2ProxyImage: settings.oAuth2ProxyImage }),
  };
}
