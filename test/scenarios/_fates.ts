import type { KubeObject } from '../../src/kube/api.ts';
import type { World } from '../../src/simulator/world.ts';
import { PARTS } from './_story.ts';

/**
 * What a user came to. `warm`: an instance that is all theirs and lets them in. `cold`: one that was made for them.
 * `hurt` names what is wrong. `waiting`: not answered yet.
 */
export type Fate =
  | { readonly kind: 'warm'; readonly slot: number }
  | { readonly kind: 'cold' | 'waiting' }
  | { readonly kind: 'hurt'; readonly what: string };

/** Looks at one Session of the pool `java`, as its user would. */
export function fateOf(world: World, name: string): Fate {
  const session = world.session(name);
  if (session === undefined) return { kind: 'waiting' };
  const { operatorStatus, operatorMessage } = (session['status'] ?? {}) as Readonly<Record<string, string>>;
  if (operatorStatus === 'ERROR') return { kind: 'hurt', what: `ERROR ${operatorMessage ?? ''}` };
  if (operatorStatus !== 'HANDLED') return { kind: 'waiting' };
  const slot = Number(session.metadata.annotations?.['theia-cloud.io/instance-id'] ?? 0);
  if (slot === 0) return { kind: 'cold' };
  const flaw = flawOf(world, session, slot);
  return flaw === undefined ? { kind: 'warm', slot } : { kind: 'hurt', what: flaw };
}

function flawOf(world: World, session: KubeObject, slot: number): string | undefined {
  const parts = PARTS.map((part) => [part, world.part('java', slot, part)] as const);
  const missing = parts.filter(([, object]) => object === undefined).map(([part]) => part);
  if (missing.length > 0) return `without ${missing.join(', ')}`;
  const foreign = parts
    .slice(0, 3)
    .filter(([, object]) => !isOwnedBy(object, session))
    .map(([part]) => part);
  if (foreign.length > 0) return `${foreign.join(', ')} not its own`;
  const { user } = session['spec'] as { readonly user: string };
  const list = Object.values((world.part('java', slot, 'emailConfigMap')?.['data'] ?? {}) as object);
  return list.includes(user) ? undefined : 'login refused';
}

function isOwnedBy(object: KubeObject | undefined, { metadata: { uid } }: KubeObject): boolean {
  return object?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** The fate that each of the Sessions had at its worst, once it was answered; looked at every 100 ms until `isOver`. */
export async function worstFates(
  world: World,
  names: readonly string[],
  isOver: () => boolean,
): Promise<ReadonlyMap<string, Fate>> {
  const worst = new Map<string, Fate>();
  const answered = new Map<string, number>();
  await world.runUntil(() => {
    for (const name of names) {
      const fate = fateOf(world, name);
      if (fate.kind === 'waiting' || worst.get(name)?.kind === 'hurt') continue;
      // The operator writes its last patches a moment after it has said that it is done.
      const since = answered.get(name) ?? world.clock.now();
      answered.set(name, since);
      if (fate.kind !== 'hurt' || world.clock.now() - since >= 300) worst.set(name, fate);
    }
    return isOver();
  });
  return worst;
}
