import { expect } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  SERVICES,
} from '../../src/platform/theia-cloud/resources.ts';
import type { Condition, Counts, LedgerEntry, Waiting } from '../../src/pool/types.ts';
import { createWorld, type SlotView, type World, type WorldOptions } from '../../src/simulator/world.ts';

/** The pool that most stories are about, and the images that it is told to run. */
const POOL = 'java';
export const OLD = 'registry.example.org/ide/java-17:1.0.0';
export const NEW = 'registry.example.org/ide/java-17:2.0.0';
export const TYPO = 'registry.example.org/ide/java-17:2.0.o';

/** The five objects of an instance. */
export const PARTS = [
  'externalService',
  'internalService',
  'deployment',
  'proxyConfigMap',
  'emailConfigMap',
] as const;

export interface Opening extends WorldOptions {
  /** How many instances the pool keeps (default 3). */
  readonly instances?: number;
  /** How many users hold one (default none). */
  readonly claimed?: number;
  /** Whether an operator runs in the end (default true). It hands out instances and, here, leaves releases to Everwarm. */
  readonly operatorStays?: boolean;
}

export interface Stage {
  readonly world: World;
  /** Names of the users' Sessions. */
  readonly users: readonly string[];
}

/** A pool as it stands on a quiet day: made by the operator, ready, some of it claimed, Everwarm beside it. */
export async function open({
  instances = 3,
  claimed = 0,
  operatorStays = true,
  ...options
}: Opening = {}): Promise<Stage> {
  const world = await createWorld({ ...options, operator: { rollsOut: false, ...options.operator } });
  world.startEverwarm();
  await world.startOperator();
  world.createPool(POOL, { minInstances: instances, image: OLD });
  await world.settle();
  const users: string[] = [];
  for (let at = 0; at < claimed; at += 1) {
    users.push(world.claim(POOL));
    await world.run(2_000);
  }
  if (!operatorStays) {
    await world.stopOperator();
    await world.run(20_000);
  }
  await world.settle();
  return { world, users };
}

/** How a story ends: at rest, every pool as it was defined, no rule broken on the way, and a second look writes nothing. */
export async function end(world: World): Promise<void> {
  await world.settle();
  for (const pool of poolsOf(world)) expect(flawsIn(world, pool), pool).toEqual([]);
  await expectRest(world);
}

/** What holds at the end of every story, also of one that ends with a pool that waits for somebody. */
export async function expectRest(world: World): Promise<void> {
  expect(world.violations).toEqual([]);
  expect(await world.reconcileAll(), 'writes of a second pass').toBe(0);
  expect(world.violations).toEqual([]);
}

/** What is not yet as it should be among the slots that nobody holds, in words. */
export function flawsIn(world: World, pool: string): readonly string[] {
  return world
    .slots(pool)
    .filter(({ claimedBy }) => claimedBy === undefined)
    .flatMap((slot) => {
      if (!slot.target) return slot.exists ? [`slot ${slot.slot} is left over`] : [];
      const flaws = FLAWS.filter(([, isSo]) => isSo(slot)).map(([name]) => name);
      return flaws.length === 0 ? [] : [`slot ${slot.slot} is ${flaws.join(', ')}`];
    });
}

const FLAWS: readonly (readonly [name: string, isSo: (slot: SlotView) => boolean])[] = [
  ['incomplete', ({ complete }) => !complete],
  ['not ready', ({ ready }) => !ready],
  ['stale', ({ stale }) => stale],
  ['used', ({ clean }) => !clean],
  ['not handed out', ({ claimable }) => !claimable],
];

function poolsOf({ cluster }: World): readonly string[] {
  return cluster.admin.list(APP_DEFINITIONS_V1BETA11).map(({ metadata }) => metadata.name);
}

/** The image of each slot, in order. */
export function imagesOf(world: World, pool = POOL): readonly (string | undefined)[] {
  return world.slots(pool).map(({ image }) => image);
}

/** uid of the Deployment in each slot, in order. */
export function instancesOf(world: World, pool = POOL): readonly (string | undefined)[] {
  return world.slots(pool).map(({ instance }) => instance);
}

/** Slots of a pool for which `claim` holds, by number. */
export function slotsWhere(world: World, claim: (slot: SlotView) => boolean, pool = POOL): readonly number[] {
  return world
    .slots(pool)
    .filter(claim)
    .map(({ slot }) => Number(slot));
}

/** Would be handed out now, and is worth it. */
export const serves = (slot: SlotView): boolean =>
  slot.claimedBy === undefined && slot.ready && slot.clean && slot.claimable;

/** Watches a pool at each commit from now on. */
export interface Lookout {
  /** The smallest number of instances that could be handed out at any moment so far. */
  fewest(): number;
  /** Slots whose Deployment was another one than before, in the order of the change. */
  replaced(): readonly number[];
  /** How many Deployments of the pool went at one moment, at most. */
  mostAway(): number;
}

export function watch(world: World, pool = POOL): Lookout {
  let fewest = Number.POSITIVE_INFINITY;
  let mostAway = 0;
  const replaced: number[] = [];
  const first = new Map(world.slots(pool).map(({ slot, instance }) => [slot, instance]));
  world.cluster.store.onCommit(({ resource }) => {
    if (!MATTERS.has(resource.plural)) return;
    const slots = world.slots(pool);
    const serving = slots.filter(serves).length;
    const unclaimed = slots.filter(({ target, claimedBy }) => target && claimedBy === undefined).length;
    fewest = Math.min(fewest, serving);
    mostAway = Math.max(mostAway, unclaimed - serving);
    for (const { slot, instance } of slots) {
      if (instance === undefined || instance === first.get(slot)) continue;
      first.set(slot, instance);
      replaced.push(Number(slot));
    }
  });
  return { fewest: () => fewest, mostAway: () => mostAway, replaced: () => replaced };
}

/** Kinds whose changes may make an instance come or go. */
const MATTERS: ReadonlySet<string> = new Set([
  'services',
  'deployments',
  'configmaps',
  'sessions',
  'appdefinitions',
]);

/** Names of the objects on which Everwarm wrote since the call, each with the verb; what it tells people is left out. */
export function listenToWrites(world: World): readonly string[] {
  const writes: string[] = [];
  world.cluster.store.onCommit(({ type, object, request }) => {
    if (!request.user.startsWith('everwarm/') || object.kind === 'Event') return;
    writes.push(
      `${VERBS[type]} ${object.kind}/${object.metadata.name}${request.subresource === 'status' ? ' status' : ''}`,
    );
  });
  return writes;
}
const VERBS = { ADDED: 'create', MODIFIED: 'change', DELETED: 'delete' } as const;

/** uid and resourceVersion of every object of some slots: equal means that nobody wrote on them. */
export function versionsOf(world: World, slots: readonly number[], pool = POOL): readonly string[] {
  return slots.flatMap((slot) =>
    PARTS.map((part) => {
      const { uid, resourceVersion } = world.part(pool, slot, part)?.metadata ?? {};
      return `${slot} ${part} ${uid} ${resourceVersion}`;
    }),
  );
}

/** What of some slots their users work with: uid, spec and data of every object, whatever its labels and owners are. */
export function substanceOf(world: World, slots: readonly number[], pool = POOL): readonly unknown[] {
  return slots.flatMap((slot) =>
    PARTS.map((part) => {
      const object = world.part(pool, slot, part);
      return { slot, part, uid: object?.metadata.uid, spec: object?.['spec'], data: object?.['data'] };
    }),
  );
}

/** What a pool came to, without what differs from run to run (uids, times, names of revisions) and without who built it. */
export function portrait(world: World, pool = POOL): unknown {
  const { revision } = statusOf(world, pool);
  // What the operator made carries no revision: there its generation label vouches.
  const isCurrent = (label: string | undefined, stale: boolean) =>
    label === undefined ? !stale : label === revision;
  return world.slots(pool).map((slot) => ({
    slot: slot.slot,
    image: slot.image,
    ready: slot.ready,
    claimed: slot.claimedBy !== undefined,
    parts: PARTS.map((part) => {
      const { metadata } = world.part(pool, Number(slot.slot), part) ?? {};
      return {
        part,
        current: isCurrent(metadata?.labels?.['everwarm.dev/revision'], slot.stale),
        generation: metadata?.labels?.['theia-cloud.io/appdefinition-generation'],
        owners: metadata?.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`),
      };
    }),
  }));
}

interface Status {
  readonly revision?: string;
  readonly counts?: Counts;
  readonly conditions?: readonly Condition[];
  readonly ledger?: readonly LedgerEntry[];
  readonly waiting?: readonly Waiting[];
}

/** The status that `kubectl get warmpool -o yaml` shows. */
export function statusOf(world: World, pool = POOL): Status {
  return (world.warmPool(pool)?.['status'] ?? {}) as Status;
}

/** `True AllCurrent`: one condition of the pool, in two words. */
export function condition(world: World, type: Condition['type'], pool = POOL): string {
  const found = statusOf(world, pool).conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
}

export function message(world: World, type: Condition['type'], pool = POOL): string {
  return statusOf(world, pool).conditions?.find((one) => one.type === type)?.message ?? '';
}

/** Every object of every instance in the namespace, left-overs included. */
export function instanceObjects({ cluster }: World): readonly KubeObject[] {
  return [SERVICES, CONFIG_MAPS, DEPLOYMENTS]
    .flatMap((resource) => cluster.admin.list(resource))
    .filter(({ metadata }) => metadata.name.startsWith('instance-'));
}
