import type { KubeObject } from '../kube/api.ts';
import { checkName, checkNamespace, readBody, withMetadata } from './body.ts';
import type { Core, Target } from './core.ts';
import { createFrom } from './create.ts';
import { isDefinition, prepareDefinition } from './definitions.ts';
import { check, checkFieldValidation, type Decoded, decode, form, inVersion, warned } from './form.ts';
import { deepEqual, type Json, list, record, text, without } from './json.ts';
import { applyJsonPatch, applyMergePatch } from './patch.ts';
import { rootSchema } from './registry.ts';
import { immutable, invalidValue } from './schema/field-error.ts';
import { bareError, conflict, invalid, MODIFIED, notFound, notImplemented } from './status.ts';
import { applyStrategicPatch } from './strategic.ts';
import type { StoreResponse } from './types.ts';

/** PUT of an object, or of its status. */
export function update(core: Core, target: Target): StoreResponse {
  checkFieldValidation(target);
  const decoded = decode(target, readBody(target), undefined);
  return warned(decoded.warnings, () => updateWith(core, target, decoded.object));
}

function updateWith(core: Core, target: Target, body: KubeObject): StoreResponse {
  const { kind, resource, request } = target;
  const name = request.name ?? '';
  checkName(target, record(body.metadata));
  const current = core.find(kind, request.namespace ?? '', name);
  const given: Json = record(body.metadata);
  if (current === undefined) {
    const uid = text(given['uid']) ?? '';
    if (kind.traits.createsOnPut && uid !== '') throw conflict(resource, name, storageError(target, uid, ''));
    if (!kind.traits.createsOnPut || request.subresource !== undefined) throw notFound(resource, name);
    checkNumber(given['resourceVersion']);
    return createFrom(core, target, withMetadata(body, without(given, 'resourceVersion')));
  }
  const uid = text(given['uid']) ?? '';
  if (uid !== '' && uid !== current.metadata.uid) {
    throw conflict(resource, name, storageError(target, uid, current.metadata.uid ?? ''));
  }
  checkVersion(target, current, given['resourceVersion']);
  return replace(core, target, current, body);
}

function storageError(target: Target, uid: string, found: string): string {
  const { resource, request } = target;
  const group = target.kind.traits.custom || isDefinition(target) ? `${resource.group}/` : '';
  const place = request.namespace === undefined ? '' : `${request.namespace}/`;
  // Services share their place in the store with their endpoints.
  const below = resource.plural === 'services' && group === '' ? 'specs/' : '';
  // What is only tried does not get as far as the registry.
  const root = request.options?.dryRun === true ? '/' : '/registry/';
  const key = `${root}${group}${resource.plural}/${below}${place}${request.name}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
}

function checkNumber(given: unknown): void {
  const version = text(given) ?? '';
  if (/^\d*$/.test(version)) return;
  throw bareError(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
}

/** The resourceVersion of a write guards it; some kinds insist on one. */
function checkVersion(target: Target, current: KubeObject, given: unknown): void {
  const { kind, resource, request } = target;
  const version = text(given) ?? '';
  if (version === '' || version === '0') {
    if (kind.traits.unconditionalPut || request.subresource === 'scale') return;
    const error = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: resource.group, kind: resource.plural }, current.metadata.name, [error]);
  }
  checkNumber(version);
  if (BigInt(version) !== BigInt(current.metadata.resourceVersion ?? '0')) {
    throw conflict(resource, current.metadata.name, MODIFIED);
  }
}

/** PATCH in one of the three forms, on an object or its status. */
export function patch(core: Core, target: Target): StoreResponse {
  const { kind, resource, request } = target;
  checkFieldValidation(target);
  const current = core.find(kind, request.namespace ?? '', request.name ?? '');
  if (current === undefined) throw notFound(resource, request.name ?? '');
  const patched = applyPatch(target, inVersion(target, current));
  const decoded: Decoded = decode(target, patched as KubeObject, current);
  return warned(decoded.warnings, () => patchWith(core, target, current, decoded.object));
}

function patchWith(core: Core, target: Target, current: KubeObject, patched: KubeObject): StoreResponse {
  const { resource } = target;
  const next = withMetadataChecked(target, patched);
  const given: Json = record(next.metadata);
  if (given['resourceVersion'] !== current.metadata.resourceVersion) {
    checkVersion(target, current, given['resourceVersion']);
  }
  const uid = text(given['uid']) ?? '';
  if (uid !== '' && uid !== current.metadata.uid) {
    const error = immutable('metadata.uid', uid);
    const errors = target.kind.traits.metadataChecks > 2 ? [error, error] : [error];
    throw invalid(resource, current.metadata.name, errors);
  }
  return replace(core, target, current, next);
}

function applyPatch(target: Target, shown: KubeObject): unknown {
  const { kind, version, request } = target;
  switch (request.patchType) {
    case 'json':
      return applyJsonPatch(shown, request.body);
    case 'strategic':
      if (kind.traits.custom) throw notImplemented('strategic merge patches on custom resources');
      return applyStrategicPatch(rootSchema(version), shown, request.body);
    default:
      return applyMergePatch(shown, request.body);
  }
}

function withMetadataChecked(target: Target, value: unknown): KubeObject {
  const object = record(value);
  const metadata = record(object['metadata']);
  checkName(target, metadata);
  const placed = checkNamespace(target, metadata);
  return placed === metadata || metadata['namespace'] === placed['namespace']
    ? (object as KubeObject)
    : withMetadata(object, placed);
}

/** The common end of PUT and PATCH: what the client may not change is put back, and what changed is stored. */
function replace(core: Core, target: Target, current: KubeObject, given: KubeObject): StoreResponse {
  const { request, kind } = target;
  const based = restrict(target, current, given);
  const formed = form(core, target, based, current);
  const prepared =
    isDefinition(target) && request.subresource === undefined
      ? prepareDefinition(core, target, formed)
      : formed;
  const next = withGeneration(target, current, prepared);
  const respond = (object: KubeObject): StoreResponse => ({
    code: 200,
    body: inVersion(target, object),
  });
  if (deepEqual(next, current)) return respond(current);
  check(target, next, current);
  if (request.options?.dryRun === true) return respond(next);
  if (isReleased(kind.resource.plural, next)) {
    core.commit('DELETED', target, current, current);
    return respond(next);
  }
  return respond(core.commit('MODIFIED', target, next, current));
}

/** A terminating object whose last finalizer goes is removed. */
function isReleased(plural: string, object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0) return false;
  if (plural === 'namespaces' && list(record(object['spec'])['finalizers']).length > 0) return false;
  return ((record(object.metadata)['deletionGracePeriodSeconds'] as number | undefined) ?? 0) === 0;
}

const OWN_METADATA = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'generateName',
] as const;

function restrict(target: Target, current: KubeObject, given: KubeObject): KubeObject {
  const { request, version } = target;
  if (request.subresource === 'status') {
    const base = target.kind.traits.statusTakesMetadata
      ? withMetadata(current, ownMetadata(record(current.metadata), record(given.metadata)))
      : withOwnNotes(target, current, given);
    return withStatus(base, given['status']);
  }
  if (request.subresource === 'finalize') {
    const finalizers = list(record(given['spec'])['finalizers']);
    const spec = without(record(current['spec']), 'finalizers');
    return { ...current, spec: finalizers.length === 0 ? spec : { ...spec, finalizers } };
  }
  const own = version.status ? withStatus(given, current['status']) : given;
  // A namespace's finalizers have a subresource of their own.
  const fields = current.kind === 'Namespace' ? { ...own, spec: current['spec'] } : own;
  const before: Json = record(given.metadata);
  const metadata = ownMetadata(record(current.metadata), before);
  return metadata === before ? fields : withMetadata(fields, metadata);
}

/** A Deployment's controller writes its revision annotation together with the status, and no generation rises for it. */
function withOwnNotes({ kind }: Target, current: KubeObject, given: KubeObject): KubeObject {
  if (kind.traits.generation !== 'specAndAnnotations') return current;
  const { annotations } = given.metadata;
  if (deepEqual(annotations, current.metadata.annotations)) return current;
  const { annotations: _, ...rest } = current.metadata;
  return { ...current, metadata: annotations === undefined ? rest : { ...rest, annotations } };
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  if (object['status'] === status) return object;
  return (status === undefined ? without(object, 'status') : { ...object, status }) as KubeObject;
}

/** The given metadata with the server's own fields as they are stored. */
function ownMetadata(current: Json, given: Json): Json {
  if (
    OWN_METADATA.every((field) => current[field] === given[field]) &&
    given['managedFields'] === undefined
  ) {
    return given;
  }
  const metadata: Record<string, unknown> = { ...given };
  delete metadata['managedFields'];
  for (const field of OWN_METADATA) {
    if (current[field] === undefined) delete metadata[field];
    else metadata[field] = current[field];
  }
  return metadata;
}

function withGeneration(target: Target, current: KubeObject, next: KubeObject): KubeObject {
  const { kind, version, request } = target;
  const rule = kind.traits.generation;
  if (rule === 'none' || request.subresource === 'status') return next;
  const ignored = version.status ? ['metadata', 'status', 'apiVersion'] : ['metadata', 'apiVersion'];
  const keys = new Set([...Object.keys(current), ...Object.keys(next)]);
  const changed = [...keys].some((key) => !ignored.includes(key) && !deepEqual(current[key], next[key]));
  const annotated =
    rule === 'specAndAnnotations' &&
    !deepEqual(current.metadata.annotations ?? {}, next.metadata.annotations ?? {});
  if (!changed && !annotated) return next;
  return { ...next, metadata: { ...next.metadata, generation: (current.metadata.generation ?? 0) + 1 } };
}
