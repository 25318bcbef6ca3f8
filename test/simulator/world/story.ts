import { expect } from 'vitest';
import type { KubeObject, Resource } from '../../../src/kube/api.ts';
import { CONFIG_MAPS, SERVICES, SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import { RECORDED_SETTINGS } from '../../../src/simulator/world/theia-install.ts';
import { sessionName } from '../../../src/simulator/world/users.ts';
import {
  comparable,
  isWrite,
  NAMESPACE,
  POOL,
  recorded,
  type Sent,
  theiaCloud,
  type World,
  type WorldOptions,
} from './installation.ts';

export const PLAIN = { settings: { ...RECORDED_SETTINGS, keycloak: false } };

/** An installation with its operator up. */
export async function running(options: WorldOptions = {}): Promise<World> {
  const world = await theiaCloud(options);
  await world.startOperator();
  return world;
}

export const learner = (number: number): string => `learner-${number}@example.org`;

/** Sessions for the given learners, one after the other, each complete before the next. */
export async function claim(world: World, ...learners: readonly number[]): Promise<void> {
  for (const number of learners) {
    await world.users.come(learner(number), POOL);
    await world.clock.advance(3_000);
  }
}

export async function release(world: World, ...learners: readonly number[]): Promise<void> {
  for (const number of learners) {
    await world.users.go(learner(number), POOL);
    await world.clock.advance(5_000);
  }
}

/** A pool with its Sessions, ready for what the test is about. */
export async function pool(
  minInstances: number,
  learners: readonly number[] = [],
  options: WorldOptions = {},
): Promise<World> {
  const world = await running(options);
  await world.createPool(minInstances);
  await claim(world, ...learners);
  return world;
}

export function expectSame(
  sent: readonly Sent[],
  file: string,
  keep: (one: Sent) => boolean = isWrite,
): void {
  expect(comparable(sent.filter(keep))).toEqual(comparable(recorded(file).filter(keep)));
}

export interface Seen extends KubeObject {
  readonly status?: {
    readonly operatorStatus?: string;
    readonly operatorMessage?: string;
    readonly error?: string;
  };
}

export async function sessionOf(world: World, number: number): Promise<Seen | undefined> {
  const name = sessionName(learner(number), POOL);
  return (await world.all(SESSIONS)).find(({ metadata }) => metadata.name === name) as Seen | undefined;
}

export const slotOfSession = async (world: World, number: number): Promise<string | undefined> =>
  (await sessionOf(world, number))?.metadata.annotations?.['theia-cloud.io/instance-id'];

/** The statuses that a Session went through. */
export function statusesOf(world: World, number: number): () => readonly string[] {
  const seen: string[] = [];
  world.store.onCommit(({ object, request }) => {
    if (request.subresource !== 'status' || object.metadata.name !== sessionName(learner(number), POOL))
      return;
    const { operatorStatus = '' } = (object as Seen).status ?? {};
    if (seen.at(-1) !== operatorStatus) seen.push(operatorStatus);
  });
  return () => seen;
}

export const namesOf = async (world: World, resource: Resource): Promise<readonly string[]> =>
  (await world.all(resource))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('instance-'));

export const find = async (world: World, resource: Resource, start: string): Promise<KubeObject> => {
  const found = (await world.all(resource)).find(({ metadata }) => metadata.name.startsWith(start));
  if (found === undefined) throw new Error(`no ${resource.kind} ${start}`);
  return found;
};
export const external = (world: World, slot: number) => find(world, SERVICES, `instance-${slot}-`);
export async function internal(world: World, slot: number): Promise<KubeObject> {
  return find(world, SERVICES, `${(await external(world, slot)).metadata.name}-int`);
}

export async function addForeignOwner(world: World, service: KubeObject): Promise<void> {
  const owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'oauth2-templates',
    uid: await uidOfTemplates(world),
  };
  const patch = [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner }] as const;
  await world.api.patch(
    SERVICES,
    { namespace: NAMESPACE, name: service.metadata.name },
    { type: 'json', patch },
  );
}
const uidOfTemplates = async (world: World): Promise<string> =>
  (await find(world, CONFIG_MAPS, 'oauth2-templates')).metadata.uid ?? '';
