/**
 * The world of `src/simulator/world.ts` on a real API server, for the same stories: people, operator, kubelet and Everwarm are
 * the same, time is the machine's. A story has a namespace of its own there. The project `real` reads this file where a
 * story names that one.
 */
import { systemClock, systemRandom } from '../../src/clock.ts';
import type { OutcomeEvent } from '../../src/controller/outcome.ts';
import type { KubeApi, KubeObject } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  DEPLOYMENTS,
  NAMESPACES,
  SESSIONS,
} from '../../src/platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import type { Violation } from '../../src/pool/invariants.ts';
import { createEverwarm } from '../../src/simulator/_everwarm.ts';
import { slotViews } from '../../src/simulator/_slot-view.ts';
import { createPeople } from '../../src/simulator/people.ts';
import { createTruthReader } from '../../src/simulator/truth.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  OPERATOR_DEPLOYMENT_NAME,
  RECORDED_SETTINGS,
} from '../../src/simulator/world/theia-install.ts';
import { createTheiaOperator } from '../../src/simulator/world/theia-operator.ts';
import type { World, WorldOptions } from '../../src/simulator/world.ts';
import { startKubelet } from '../real-cluster/kubelet.ts';
import { adminOf } from './_admin.ts';
import { CONTROLLERS_GROUP, LOOP_ROLE } from './_installed.ts';
import { bindIn, listeningForRefusals } from './_rights.ts';
import { atTheEnd, myTurn, theCluster } from './_stage.ts';
import { timeOf } from './_time.ts';
import { attributed, createWitness } from './_witness.ts';

export type { SlotView, World, WorldOptions } from '../../src/simulator/world.ts';

let worlds = 0;

/** A namespace with Theia Cloud installed: no pool, no operator running, Everwarm not started. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { mode = 'guard', resyncMs = 60_000, keycloak = true, deliver = (change) => [change] } = options;
  const { mirror, send, wire, controllerApi, operatorApi, adminApi } = await theCluster();
  await myTurn();
  worlds += 1;
  const namespace = `story-${process.pid}-${worlds}`;
  const view = mirror.view(namespace);
  const admin = adminOf(send, mirror, namespace);
  const truth = createTruthReader();
  view.onCommit((commit) => truth.apply(commit));
  const witness = createWitness(mirror, view, namespace);
  admin.create(NAMESPACES, { metadata: { name: namespace } });
  await bindIn(wire, namespace, LOOP_ROLE, CONTROLLERS_GROUP);
  const settings = { ...RECORDED_SETTINGS, keycloak };
  await installBaseObjects(adminApi, { namespace });
  await installOperatorDeployment(adminApi, { namespace, settings });
  // The stand-in is no pod: the Deployment is there for its arguments alone.
  admin.merge(DEPLOYMENTS, OPERATOR_DEPLOYMENT_NAME, { spec: { replicas: 0 } });
  const kubelet = startKubelet(view, wire, options.kubelet);
  const operator = createTheiaOperator({
    api: attributed(operatorApi, { mirror, namespace, user: 'operator' }),
    clock: systemClock,
    random: systemRandom,
    namespace,
    settings,
    ...options.operator,
  });
  const { api: everwarmApi, refusals } = listeningForRefusals(controllerApi);
  const events: OutcomeEvent[] = [];
  const poolNames = () => admin.list(APP_DEFINITIONS_V1BETA11).map(({ metadata }) => metadata.name);
  const everwarm = createEverwarm({
    store: view,
    apiAs: () => everwarmApi,
    watcher: witness,
    namespace,
    clock: systemClock,
    resyncMs,
    latencyMs: options.latencyMs ?? 0,
    deliver,
    platform: createTheiaCloud({ mode, settings, oAuth2ProxyImage: settings.oAuth2ProxyImage }),
    random: systemRandom,
    report: (event) => events.push(event),
    poolNames,
    between: options.between ?? ((api: KubeApi) => api),
  });
  const time = timeOf({
    witness,
    everwarm,
    kubelet,
    view,
    letterMs: letterMsOf(options),
    told: () => told(poolNames(), truth, admin),
  });
  atTheEnd(async () => {
    everwarm.kill();
    await operator.stop();
    kubelet.stop();
    witness.stop();
    // In every story the chart's roles have to do.
    if (refusals.length > 0) throw new Error(`the chart does not let Everwarm do it: ${refusals.join('; ')}`);
  });
  const world = {
    ...createPeople({ admin }),
    ...time,
    namespace,
    clock: systemClock,
    cluster: { admin, settings, random: systemRandom, store: view },
    kubelet,
    operator,
    events,
    violations: witness.violations as readonly Violation[],
    startEverwarm: () => everwarm.start(),
    stopEverwarm: () => everwarm.kill(),
    startOperator: () => operator.start(),
    stopOperator: (how?: 'kill' | 'terminate') => operator.stop(how),
    reconcileAll: async () => {
      const before = witness.writes();
      for (const name of poolNames()) await everwarm.reconcile(name);
      return witness.writes() - before;
    },
    slots: (pool: string) => slotViews(truth, pool),
    slot: (pool: string, slot: number) => {
      const found = slotViews(truth, pool).find((one) => one.slot === String(slot));
      if (found === undefined) throw new Error(`pool ${pool} has no slot ${slot}`);
      return found;
    },
    warmPool: (pool: string) => admin.find(WARM_POOLS, pool),
    session: (name: string) => admin.find(SESSIONS, name),
    writes: () => witness.writes(),
  };
  // Of the embedded cluster's store and clock a story uses no more than there is here too.
  return world as unknown as World;
}

/** Where Everwarm is not told of everything, what a resync finds is part of the story. */
function letterMsOf({ deliver, resyncMs = 60_000 }: WorldOptions): number {
  return deliver === undefined ? 8_000 : Math.max(8_000, resyncMs * 1.1);
}

function told(
  pools: readonly string[],
  truth: Parameters<typeof slotViews>[0],
  admin: { find(resource: typeof WARM_POOLS, name: string): KubeObject | undefined },
): string {
  return pools
    .map((pool) => {
      const status = admin.find(WARM_POOLS, pool)?.['status'];
      return `${pool} ${JSON.stringify(slotViews(truth, pool))} ${JSON.stringify(status)}`;
    })
    .join('; ');
}
