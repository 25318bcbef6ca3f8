import type { KubeObject } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  PODS,
  SERVICES,
  SESSIONS,
} from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import type { Delivery } from '../../src/simulator/driver.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { REDRIVE_MS } from './_journeys.ts';

const POOL = 'java';
const image = (tag: string) => ({ image: `registry.example.org/ide/java-17:${tag}` });

/** What a run came to. */
export interface Outcome {
  /** Every object, without what differs from run to run. */
  readonly state: readonly unknown[];
  /** Write requests of one more look at everything. */
  readonly writesAfter: number;
  /** Broken rules on the way. */
  readonly violations: readonly unknown[];
}

/**
 * One course of events, the same each time: a release while the operator is down, a user who comes and goes, a Deployment that is
 * deleted by hand, more instances, a wrong image and its correction. `deliver` is what becomes of the news of it.
 */
export async function playCourse(deliver: Delivery, resyncMs = 300_000): Promise<Outcome> {
  const world = await createWorld({ deliver, resyncMs, operator: { rollsOut: false } });
  world.createPool(POOL, { minInstances: 3, ...image('1.0.0') });
  world.startEverwarm();
  await world.startOperator();
  await world.run(40_000);
  const user = world.claim(POOL);
  await world.run(3_000);
  await world.stopOperator('terminate');
  world.changePool(POOL, image('2.0.0'));
  await world.startOperator();
  await world.run(7_000);
  world.deletePart(POOL, 2, 'deployment');
  await world.run(5_000);
  world.changePool(POOL, { minInstances: 4 });
  await world.run(20_000);
  world.changePool(POOL, image('2.0.o'));
  await world.run(9_000);
  world.release(user);
  await world.run(4_000);
  world.changePool(POOL, image('2.0.1'));
  // For the hour in which nothing happens the operator rests as well: its Lease would be most of what there is to simulate.
  await world.run(30_000);
  await world.stopOperator('terminate');
  await world.run(REDRIVE_MS);
  await world.startOperator();
  await world.settle();
  const state = portraitOf(world);
  return { state, writesAfter: await world.reconcileAll(), violations: world.violations };
}

/** What is compared of a namespace. */
export const KINDS = [APP_DEFINITIONS_V1BETA11, WARM_POOLS, SESSIONS, SERVICES, CONFIG_MAPS, DEPLOYMENTS];

function portraitOf({ cluster: { admin } }: World): readonly unknown[] {
  const objects = KINDS.flatMap((kind) => admin.list(kind)).map(masked);
  // Their names end by chance: what a Deployment's status does not say of them is how many there are.
  return [...objects, { pods: admin.list(PODS).length }];
}

/** Chance, time and counts: they differ between two runs of which nobody could say that one is wrong. */
const CHANCE: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'creationTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'clusterIP',
  'clusterIPs',
  'everwarm.dev/pass',
]);
/** What the operator writes on the Services of a user's instance and leaves there: who had which one is not the same each time. */
const LEFT_BY_USERS: ReadonlySet<string> = new Set([
  'theia-cloud.io/app-definition',
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/component',
]);

/** An object without what differs from run to run. */
export function masked({ kind, ...object }: KubeObject): unknown {
  const isLeft = (name: string) => kind === 'Service' && LEFT_BY_USERS.has(name);
  // One that needs no change stays through a release, with the label of the one that made it.
  const isOlder = (name: string) => kind === 'ConfigMap' && name === 'everwarm.dev/revision';
  // Which ReplicaSet it is depends on how many there were of the same template, and the conditions' words name it.
  const isNaming = (name: string) =>
    kind === 'Deployment' && (name === 'message' || name === 'collisionCount');
  const kept = (name: string) => !CHANCE.has(name) && !isLeft(name) && !isOlder(name) && !isNaming(name);
  return { kind, ...(without(object, kept) as object) };
}

/** The value with its names in order, less those that are not kept and what is empty: an empty list is as good as none. */
function without(value: unknown, kept: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((inner) => without(inner, kept));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => kept(name))
    .map(([name, inner]) => [name, without(inner, kept)] as const)
    .filter(([, inner]) => inner !== '' && !(typeof inner === 'object' && isEmpty(inner)));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty(value: object | null): boolean {
  return value !== null && Object.keys(value).length === 0;
}
