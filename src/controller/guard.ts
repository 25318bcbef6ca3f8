import type { JsonPatchOperation } from '../kube/api.ts';
import type { Observation, Reach, Request } from '../platform/platform.ts';
import type { Action, Instance } from '../pool/types.ts';

/**
 * The cheap invariants, asked once more before each effect (P19): the rule that `request` would break, if any. They hold by
 * construction; a bug that breaks one stops the pass instead of costing a user's instance.
 */
export function brokenRule(request: Request, action: Action, observation: Observation): string | undefined {
  const slot = 'slot' in action ? action.slot : undefined;
  const instance = observation.observed.instances.find((one) => one.slot === slot);
  const isCare = action.kind === 'heal' || action.kind === 'unhold';
  if ((instance?.claimedBy !== undefined) !== isCare) return 'P11';
  if (request.verb !== 'create' && !isGuarded(request)) return 'P5';
  if (
    observation.reach === undefined
      ? reachesData(request, action, observation)
      : !isWithin(request, observation.reach)
  )
    return 'P12';
  if (isCare && !isGentle(request, action, instance, observation)) return 'P11';
  return request.verb === 'create' && !isCare && instance?.foreign !== undefined ? 'P13' : undefined;
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

const DISPOSABLE: ReadonlySet<string> = new Set(['Service', 'ConfigMap', 'Deployment']);

/** Users' data: any storage but an unclaimed instance's own, whatever is no part of an instance, and what finalizers hold. */
function reachesData(request: Request, action: Action, { source }: Observation): boolean {
  if (request.verb === 'create') return false;
  const { kind } = request.resource;
  const isVolume = kind === 'PersistentVolumeClaim';
  const slot = 'slot' in action ? action.slot : '';
  if (isVolume && !(request.name.startsWith(`instance-${slot}-`) && request.name.endsWith('-pvc')))
    return true;
  if (request.verb === 'patch')
    return request.patch.some(({ path }) => path.startsWith('/metadata/finalizers'));
  return isVolume ? !('ownedBy' in request) || request.ownedBy !== source.uid : !DISPOSABLE.has(kind);
}

/** Of kinds of the platform's own nothing is written but what it has said beforehand, and nothing is created. */
function isWithin(request: Request, { deletes, patches }: Reach): boolean {
  const { kind } = request.resource;
  if (request.verb === 'delete') return deletes.has(kind);
  const allowed = patches[kind];
  if (request.verb === 'create' || allowed === undefined || request.subresource !== undefined) return false;
  return request.patch.every(({ op, path }) => op === 'test' || allowed.test(path));
}

const META = ['/metadata/labels', '/metadata/annotations', '/metadata/ownerReferences'];

/**
 * What may be written on an instance in use (P11): a missing object, metadata, and an entry of a ConfigMap's data. Nothing is
 * deleted, no spec is touched, and no owner goes but ourselves.
 */
function isGentle(
  request: Request,
  action: Action,
  instance: Instance | undefined,
  { warmPool }: Observation,
): boolean {
  if (request.verb === 'delete') return false;
  if (request.verb === 'create') {
    return action.kind === 'heal' && instance?.needs.some(({ object }) => object === action.object) === true;
  }
  const { patch, resource, subresource } = request;
  const mayWrite = ({ path }: JsonPatchOperation) =>
    META.some((field) => path === field || path.startsWith(`${field}/`)) ||
    (resource.kind === 'ConfigMap' && (path === '/data' || path.startsWith('/data/')));
  const isOurs = (operation: JsonPatchOperation, before: JsonPatchOperation | undefined) =>
    before?.op === 'test' && before.path === `${operation.path}/uid` && before.value === warmPool?.uid;
  const keepsOwners = patch.every((operation, at) => {
    if (!operation.path.startsWith('/metadata/ownerReferences') || operation.op === 'test') return true;
    if (operation.op === 'remove') return isOurs(operation, patch[at - 1]);
    return operation.op === 'add' && !/\/\d+(\/|$)/.test(operation.path);
  });
  return subresource === undefined && patch.every((one) => one.op === 'test' || mayWrite(one)) && keepsOwners;
}
