import type { Problem } from '../../pool/types.ts';
import type { AppDefinition } from './crds.ts';
import { instanceNames, sidecarName } from './names.ts';

/** Every slot has the same names but for its number: this one speaks for all. */
const SLOT = 1;

/** Why a pool with such sidecars cannot be worked on; `undefined` when it can. */
export function sidecarProblem(source: AppDefinition): Problem | undefined {
  return collision(source) ?? wrongOrder(source);
}

/** Names are cut, and what stands under the name of one sidecar is taken for the other: the operator makes one of the two. */
function collision(source: AppDefinition): Problem | undefined {
  const taken = new Map([[instanceNames(source, SLOT).externalService, 'the IDE']]);
  for (const { name } of source.spec.sidecars ?? []) {
    const object = sidecarName(source, SLOT, name);
    const other = taken.get(object);
    if (other !== undefined) {
      const message = `sidecar ${name} and ${other} would both be ${object}: names are cut, so rename the sidecar in its first 11 characters`;
      return { reason: 'SidecarNamesCollide', message };
    }
    taken.set(object, `sidecar ${name}`);
  }
  return undefined;
}

/**
 * The operator takes the first of a slot's Services, by name, for the IDE's: a sidecar's gets the Session and its route, and
 * whether a slot is free is read from it. Our reference on the IDE's Service withholds nothing then, so nothing can be replaced
 * without the risk of a user in it: no instance is made, emptied or removed. Users are cared for as ever.
 */
function wrongOrder(source: AppDefinition): Problem | undefined {
  const ide = instanceNames(source, SLOT).externalService;
  for (const { name } of source.spec.sidecars ?? []) {
    const object = sidecarName(source, SLOT, name);
    if (object >= ide) continue;
    const message = `Service ${object} of sidecar ${name} sorts before Service ${ide} of the IDE, so the operator hands out the sidecar's: give the sidecar a name that sorts after ${source.spec.name}`;
    return { reason: 'SidecarSortsFirst', message };
  }
  return undefined;
}
