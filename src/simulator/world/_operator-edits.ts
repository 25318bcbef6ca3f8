import type { JsonPatch, JsonPatchOperation, KubeObject, OwnerReference } from '../../kube/api.ts';

/** Every operation here is what the operator's diff of before and after comes to: no change, no operation. */

type Labels = Readonly<Record<string, string>>;

export const ownsIt = (object: KubeObject, uid: string): boolean =>
  object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

export const isSolelyOwned = (object: KubeObject): boolean => object.metadata.ownerReferences?.length === 1;

/** Adds an owner at the end of the list, whatever else stands there by now. */
export function addOwner(object: KubeObject, owner: OwnerReference): JsonPatch {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.some(({ uid }) => uid === owner.uid)) return [];
  const path = '/metadata/ownerReferences';
  return owners.length === 0
    ? [{ op: 'add', path, value: [owner] }]
    : [{ op: 'add', path: `${path}/${owners.length}`, value: owner }];
}

export function removeOwner(object: KubeObject, uid: string): JsonPatch {
  const index = object.metadata.ownerReferences?.findIndex((owner) => owner.uid === uid) ?? -1;
  return index < 0 ? [] : [{ op: 'remove', path: `/metadata/ownerReferences/${index}` }];
}

export const setLabels = (object: KubeObject, labels: Labels): JsonPatch =>
  setEntries('/metadata/labels', object.metadata.labels, labels);

export const setAnnotations = (object: KubeObject, annotations: Labels): JsonPatch =>
  setEntries('/metadata/annotations', object.metadata.annotations, annotations);

export function removeLabels(object: KubeObject, names: readonly string[]): JsonPatch {
  const present = names.filter((name) => object.metadata.labels?.[name] !== undefined);
  return present.map((name) => ({ op: 'remove', path: `/metadata/labels/${escaped(name)}` }));
}

/** Sets fields of an object that may not be there at all yet. */
export function setEntries(
  path: string,
  known: Readonly<Record<string, unknown>> | undefined,
  wanted: Readonly<Record<string, unknown>>,
): JsonPatch {
  if (known === undefined) return [{ op: 'add', path, value: wanted }];
  return Object.entries(wanted).flatMap(([name, value]): readonly JsonPatchOperation[] => {
    if (known[name] === value) return [];
    return [{ op: known[name] === undefined ? 'add' : 'replace', path: `${path}/${escaped(name)}`, value }];
  });
}

const escaped = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');
