import type { Observation, Request } from '../platform/platform.ts';
import type { Action } from '../pool/types.ts';

/**
 * The cheap invariants, asked once more before each effect (P19): the rule that `request` would break, if any. They hold by
 * construction; a bug that breaks one stops the pass instead of costing a user's instance.
 */
export function brokenRule(request: Request, action: Action, observation: Observation): string | undefined {
  const slot = 'slot' in action ? action.slot : undefined;
  const instance = observation.observed.instances.find((one) => one.slot === slot);
  if (instance?.claimedBy !== undefined) return 'P11';
  if (request.verb === 'create') {
    return observation.observed.instances.some((i) => i.slot === slot && i.foreign !== undefined)
      ? 'P13'
      : undefined;
  }
  return isGuarded(request) ? undefined : 'P5';
}

/** Deletes carry the uid, and but for an internal Service the resourceVersion; patches test the resourceVersion. */
function isGuarded(request: Exclude<Request, { verb: 'create' }>): boolean {
  if (request.verb === 'patch') {
    const [first] = request.patch;
    return (
      first?.op === 'test' &&
      first.path === '/metadata/resourceVersion' &&
      first.value === request.resourceVersion
    );
  }
  if (request.uid === '') return false;
  return request.resource.kind === 'Service' || (request.resourceVersion ?? '') !== '';
}
