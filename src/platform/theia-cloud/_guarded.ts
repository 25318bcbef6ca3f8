import type { JsonPatchOperation, KubeObject, Resource } from '../../kube/api.ts';
import type { Disposable, Request } from '../platform.ts';
import { type NamingSource, volumeClaimName } from './names.ts';
import { CONFIG_MAPS, DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS, SERVICES } from './resources.ts';
import { isGoing } from './slot-view.ts';

/** What may be deleted of an instance, but for its volume. */
const DISPOSABLE: ReadonlyMap<string, Disposable> = new Map<string, Disposable>([
  ['Service', SERVICES],
  ['ConfigMap', CONFIG_MAPS],
  ['Deployment', DEPLOYMENTS],
]);

/** Every kind that an instance is made of. */
const RESOURCES: ReadonlyMap<string, Resource> = new Map<string, Resource>([
  ...DISPOSABLE,
  ['PersistentVolumeClaim', PERSISTENT_VOLUME_CLAIMS],
]);

/** Exactly the external Service that was seen: a claim writes on it, and the delete fails. */
export function deleteAnchor(service: KubeObject): Request {
  const { namespace = '', name, uid = '', resourceVersion = '' } = service.metadata;
  return {
    verb: 'delete',
    resource: SERVICES,
    namespace,
    name,
    uid,
    resourceVersion,
    propagation: 'Background',
  };
}

/**
 * Exactly the part that was seen, and if it was written since, not even that: a claim writes on the Deployment, and a pass that
 * took the slot over on all that it may keep. A Deployment is gone only after its pods. Nothing if it is gone or going.
 */
export function deletePart(part: KubeObject): readonly Request[] {
  const resource = DISPOSABLE.get(part.kind);
  if (resource === undefined || isGoing(part)) return [];
  const { namespace = '', name, uid = '', resourceVersion = '' } = part.metadata;
  const propagation = part.kind === 'Deployment' ? 'Foreground' : 'Background';
  return [{ verb: 'delete', resource, namespace, name, uid, resourceVersion, propagation }];
}

/** The volume of the pool's own instance, and no other: nothing if it is not what its name and its owner say. */
export function deleteVolumeClaim(claim: KubeObject, source: NamingSource, slot: number): readonly Request[] {
  const { namespace = '', uid = '', resourceVersion = '', ownerReferences = [] } = claim.metadata;
  const name = volumeClaimName(source, slot);
  const ownedBy = source.metadata.uid;
  const isOwn = claim.metadata.name === name && ownerReferences.some((owner) => owner.uid === ownedBy);
  if (!isOwn || !isVolumeName(name) || isGoing(claim)) return [];
  const resource = PERSISTENT_VOLUME_CLAIMS;
  return [
    { verb: 'delete', resource, namespace, name, uid, resourceVersion, propagation: 'Background', ownedBy },
  ];
}

function isVolumeName(name: string): name is `instance-${string}-pvc` {
  return name.startsWith('instance-') && name.endsWith('-pvc');
}

/** A patch that is refused if anybody wrote since the object was read. */
export function patch(object: KubeObject, operations: readonly JsonPatchOperation[]): Request {
  const { namespace = '', name, resourceVersion = '' } = object.metadata;
  const resource = resourceOf(object);
  const guarded = [
    { op: 'test' as const, path: '/metadata/resourceVersion', value: resourceVersion },
    ...operations,
  ];
  return { verb: 'patch', resource, namespace, name, resourceVersion, patch: guarded };
}

/** The operations that set annotations, whether or not the object has any. */
export function annotate(
  object: KubeObject,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  return setEntries('annotations', object.metadata.annotations, marks);
}

/** The operations that set labels, whether or not the object has any. */
export function label(
  object: KubeObject,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  return setEntries('labels', object.metadata.labels, marks);
}

function setEntries(
  field: 'labels' | 'annotations',
  standing: Readonly<Record<string, string>> | undefined,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (standing === undefined) return [{ op: 'add', path: `/metadata/${field}`, value: marks }];
  return Object.entries(marks).map(([key, value]) => ({
    op: 'add',
    path: `/metadata/${field}/${escaped(key)}`,
    value,
  }));
}

/** A key of labels or annotations as a part of a JSON pointer (RFC 6901). */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The kind of an instance's part, as its URL names it. */
export function resourceOf({ kind }: KubeObject): Resource {
  const resource = RESOURCES.get(kind);
  if (resource === undefined) throw new Error(`no instance has a ${kind}`);
  return resource;
}
