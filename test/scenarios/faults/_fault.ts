import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { DEPLOYMENTS, PODS, SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import { type FaultName, onlyFaults } from '../../../src/simulator/world/operator-faults.ts';
import { createWorld, type SlotView, type World, type WorldOptions } from '../../../src/simulator/world.ts';
import { end, OLD } from '../_story.ts';

/** The pool that the stories are about. */
export const POOL = 'java';

/** What somebody suffers from one of the operator's faults, and what must happen for it. */
export interface Fault<Cast> {
  /** A sentence of whoever suffers. */
  readonly title: string;
  /** The switches of the stand-in that bring it about. */
  readonly faults: readonly FaultName[];
  /** Other faults without which there is no occasion for it. */
  readonly beside?: readonly FaultName[];
  readonly options?: WorldOptions;
  /** The definition of the pool, where it is not the usual one. */
  readonly pool?: Readonly<Record<string, unknown>>;
  /** Everything up to the moment in which the damage would be seen; answers with what `harm` must know. */
  readonly story: (world: World) => Promise<Cast>;
  /** Complaints, in words. */
  readonly harm: (world: World, cast: Cast) => readonly string[];
  /** Whether the story ends with a pool at rest (default true). */
  readonly rests?: boolean;
}

type Who = 'nobody' | 'everwarm';

/** Three tests: nobody cures it, a mended operator does not bring it about, Everwarm cures it. */
export function cures<Cast>(fault: Fault<Cast>): void {
  describe(fault.title, () => {
    it('stands where nobody looks', async () => {
      const { world, cast } = await play(fault, 'nobody', [...fault.faults, ...(fault.beside ?? [])]);
      expect(fault.harm(world, cast)).not.toEqual([]);
    });

    it('does not come from an operator without that fault', async () => {
      const { world, cast } = await play(fault, 'nobody', fault.beside ?? []);
      expect(fault.harm(world, cast)).toEqual([]);
    });

    it('is cured beside the operator as it is', async () => {
      const { world, cast } = await play(fault, 'everwarm');
      expect(fault.harm(world, cast)).toEqual([]);
      expect(world.violations).toEqual([]);
      if (fault.rests === false) return;
      await end(world);
      expect(fault.harm(world, cast)).toEqual([]);
    });
  });
}

/** Tells the story. Without `names` the operator has all its faults. */
export async function play<Cast>(
  { options = {}, pool = {}, story }: Fault<Cast>,
  who: Who,
  names?: readonly FaultName[],
): Promise<{ readonly world: World; readonly cast: Cast }> {
  const faults = names === undefined ? {} : { faults: onlyFaults(...names) };
  const world = await createWorld({
    ...options,
    operator: { continueOnException: true, ...options.operator, ...faults },
  });
  await world.startOperator();
  world.createPool(POOL, { minInstances: 3, image: OLD, ...pool });
  await world.run(30_000);
  if (who === 'everwarm') world.startEverwarm();
  await world.run(5_000);
  return { world, cast: await story(world) };
}

/** Ends the operator's process and starts another one after `downMs`. */
export async function sleepsThrough(world: World, what: () => void, downMs = 15_000): Promise<void> {
  await world.stopOperator();
  await world.run(1_000);
  what();
  await world.run(downMs);
  await world.startOperator();
  await world.run(10_000);
}

/** A user comes and is served, warm or not. */
export async function comes(world: World, name?: string): Promise<string> {
  const user = world.claim(POOL, name);
  await world.run(4_000);
  return user;
}

export function sessionOf(world: World, user: string): Seen | undefined {
  return world.cluster.admin.find(SESSIONS, user) as Seen | undefined;
}

interface Seen extends KubeObject {
  readonly status?: { readonly operatorStatus?: string; readonly operatorMessage?: string };
}

/** The slot that a user was given, by what the operator noted on the Session. */
export function slotOf(world: World, user: string): number | undefined {
  const slot = sessionOf(world, user)?.metadata.annotations?.['theia-cloud.io/instance-id'];
  return slot === undefined ? undefined : Number(slot);
}

/** uids of the pods of a slot. */
export function podsOf(world: World, slot: number): readonly string[] {
  return world.cluster.admin
    .list(PODS)
    .filter(({ metadata }) => metadata.labels?.['app'] === `${POOL}-${slot}`)
    .map(({ metadata }) => metadata.uid ?? '');
}

/** Slots that nobody holds and that are not as they should be, in words. */
export function flawsIn(world: World): readonly string[] {
  return world
    .slots(POOL)
    .filter(({ target, claimedBy }) => target && claimedBy === undefined)
    .flatMap((slot) => {
      const said = FLAWS.filter(([, isSo]) => isSo(slot)).map(([flaw]) => flaw);
      return said.length === 0 ? [] : [`slot ${slot.slot} is ${said.join(', ')}`];
    });
}

const FLAWS: readonly (readonly [flaw: string, isSo: (slot: SlotView) => boolean])[] = [
  ['incomplete', ({ complete }) => !complete],
  ['not ready', ({ ready }) => !ready],
  ['stale', ({ stale }) => stale],
  ['used', ({ clean }) => !clean],
];

/** What is wrong for a user who holds a warm slot: not owned, not on the allow-list, something missing. */
export function complaintsOf(world: World, user: string): readonly string[] {
  const session = sessionOf(world, user);
  if (session === undefined) return [];
  const { operatorStatus, operatorMessage } = session.status ?? {};
  if (operatorStatus !== 'HANDLED') return [`${user} is ${operatorStatus}: ${operatorMessage}`];
  const slot = slotOf(world, user);
  if (slot === undefined) return [];
  const owned = (['externalService', 'internalService', 'deployment'] as const).flatMap((part) => {
    const object = world.part(POOL, slot, part);
    if (object === undefined) return [`${user} has no ${part}`];
    const owners = object.metadata.ownerReferences ?? [];
    return owners.some(({ uid }) => uid === session.metadata.uid) ? [] : [`${user} does not own the ${part}`];
  });
  const list = world.part(POOL, slot, 'emailConfigMap')?.['data'] as
    | Readonly<Record<string, string>>
    | undefined;
  const isAllowed = list?.['authenticated-emails-list'] === `${user}@example.org`;
  return [...owned, ...(isAllowed ? [] : [`${user} is locked out`])];
}

/** The Deployments of the pool's sidecars, as text. */
export function sidecarsIn(world: World): readonly string[] {
  return world.cluster.admin
    .list(DEPLOYMENTS)
    .filter(({ metadata }) => metadata.labels?.['theia-cloud.io/sidecar'] !== undefined)
    .map((deployment) => JSON.stringify(deployment));
}
