import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { checkDefinitionDelete, isDefinition } from './definitions.ts';
import { inVersion } from './form.ts';
import { deepEqual, list, record } from './json.ts';
import { kindKey } from './kind.ts';
import { listObjects } from './read.ts';
import { unsupported } from './schema/field-error.ts';
import { formatTime } from './schema/time.ts';
import { conflict, deleted, forbidden, invalidOptions, notFound, preconditionFailed } from './status.ts';
import type { StoreResponse } from './types.ts';

const POLICIES = ['Foreground', 'Background', 'Orphan'];
const KEPT_NAMESPACES = ['default', 'kube-system', 'kube-public'];

/** DELETE of one object. */
export function remove(core: Core, target: Target): StoreResponse {
  const { kind, resource, request } = target;
  checkPolicy(target);
  const name = request.name ?? '';
  const current = core.find(kind, request.namespace ?? '', name);
  if (current === undefined) throw notFound(resource, name);
  const { object, gone } = removeObject(core, target, current);
  const body =
    gone && !kind.traits.deleteAnswersObject
      ? deleted(resource, name, current.metadata.uid)
      : inVersion(target, object);
  return { code: 200, body };
}

/** DELETE of a collection: answers with what it deleted. */
export function removeCollection(core: Core, target: Target): StoreResponse {
  checkPolicy(target);
  const found = listObjects(core, target);
  for (const object of found.items) {
    const { namespace, name } = object.metadata;
    const request = { ...target.request, name, ...(namespace === undefined ? {} : { namespace }) };
    const current = core.find(target.kind, namespace ?? '', name);
    if (current !== undefined) removeObject(core, { ...target, request }, current);
  }
  return { code: 200, body: found.body };
}

function checkPolicy(target: Target): void {
  const policy = target.request.options?.propagation;
  if (policy === undefined || POLICIES.includes(policy)) return;
  throw invalidOptions('DeleteOptions', unsupported('propagationPolicy', policy, [...POLICIES, 'nil']));
}

/** What a DELETE has made of an object. */
interface Removed {
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** Deletes or begins to delete. */
function removeObject(core: Core, target: Target, current: KubeObject): Removed {
  checkPreconditions(target, current);
  checkKept(core, target, current);
  const { metadata } = current;
  const finalizers = finalizersFor(target, metadata.finalizers ?? []);
  const grace = graceSeconds(target, current);
  const held = finalizers.length > 0 || namespaceFinalizers(target, current).length > 0;
  if (metadata.deletionTimestamp === undefined) {
    if (!held && grace === 0) return finish(core, target, current);
    return left(mark(core, target, current, finalizers, grace));
  }
  const remaining = grace === 0 ? 0 : gracePeriod(current);
  if (!held && remaining === 0) return finish(core, target, current);
  if (deepEqual(finalizers, metadata.finalizers ?? []) && remaining === gracePeriod(current)) {
    return left(current);
  }
  const next = withDeletion(current, finalizers, remaining, metadata.deletionTimestamp);
  return left(write(core, target, next, current));
}

function left(object: KubeObject): Removed {
  return { object, gone: false };
}

function finish(core: Core, target: Target, current: KubeObject): Removed {
  const last = kindKey(target.resource) === '/pods' ? ended(core, current) : current;
  const dryRun = target.request.options?.dryRun === true;
  return { object: dryRun ? last : core.commit('DELETED', target, last, current), gone: true };
}

/** A pod goes as one whose time is over. */
function ended(core: Core, pod: KubeObject): KubeObject {
  if (pod.metadata.deletionTimestamp !== undefined) return pod;
  const marked = withDeletion(pod, pod.metadata.finalizers ?? [], 0, core.timestamp());
  const generation = (pod.metadata.generation ?? 0) + 1;
  return { ...marked, metadata: { ...marked.metadata, generation } };
}

function write(core: Core, target: Target, next: KubeObject, current: KubeObject): KubeObject {
  return target.request.options?.dryRun === true ? next : core.commit('MODIFIED', target, next, current);
}

function mark(
  core: Core,
  target: Target,
  current: KubeObject,
  finalizers: readonly string[],
  grace: number,
): KubeObject {
  const marked = withDeletion(current, finalizers, grace, formatTime(core.now() + grace * 1000));
  const { generation } = current.metadata;
  const bumped =
    generation === undefined
      ? marked
      : { ...marked, metadata: { ...marked.metadata, generation: generation + 1 } };
  const next =
    kindKey(target.resource) === '/namespaces'
      ? { ...bumped, status: { ...record(bumped['status']), phase: 'Terminating' } }
      : bumped;
  return write(core, target, next, current);
}

function withDeletion(
  current: KubeObject,
  finalizers: readonly string[],
  grace: number,
  deletionTimestamp: string,
): KubeObject {
  const { finalizers: _, ...rest } = current.metadata;
  const metadata = {
    ...rest,
    deletionTimestamp,
    ...(current.kind === 'Namespace' ? {} : { deletionGracePeriodSeconds: grace }),
    ...(finalizers.length === 0 ? {} : { finalizers }),
  };
  return { ...current, metadata };
}

function gracePeriod(object: KubeObject): number {
  const seconds = record(object.metadata)['deletionGracePeriodSeconds'];
  return typeof seconds === 'number' ? seconds : 0;
}

/** Only a pod that runs on a node is given time to end. */
function graceSeconds(target: Target, current: KubeObject): number {
  if (kindKey(target.resource) !== '/pods') return 0;
  const spec = record(current['spec']);
  const phase = record(current['status'])['phase'];
  if (spec['nodeName'] === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
  const own = spec['terminationGracePeriodSeconds'];
  const asked = target.request.options?.gracePeriodSeconds ?? (typeof own === 'number' ? own : 30);
  return Math.max(0, asked);
}

function namespaceFinalizers(target: Target, current: KubeObject): readonly unknown[] {
  return kindKey(target.resource) === '/namespaces' ? list(record(current['spec'])['finalizers']) : [];
}

/** The policy lives in two finalizers that the garbage collector works off. */
function finalizersFor(target: Target, finalizers: readonly string[]): readonly string[] {
  const policy = target.request.options?.propagation;
  if (policy === undefined) return finalizers;
  const others = finalizers.filter(
    (finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion',
  );
  if (policy === 'Background') return others.length === finalizers.length ? finalizers : others;
  const wanted = policy === 'Orphan' ? 'orphan' : 'foregroundDeletion';
  return finalizers.includes(wanted) ? finalizers : [...others, wanted];
}

function checkPreconditions(target: Target, current: KubeObject): void {
  const { resource, request } = target;
  const { uid, resourceVersion } = request.options?.preconditions ?? {};
  const { name } = current.metadata;
  if (uid !== undefined && uid !== current.metadata.uid) {
    if (kindKey(resource) === '/namespaces') {
      throw conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
      );
    }
    throw preconditionFailed(
      resource,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${current.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
    throw preconditionFailed(
      resource,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${current.metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

function checkKept(core: Core, target: Target, current: KubeObject): void {
  const { name } = current.metadata;
  if (kindKey(target.resource) === '/namespaces' && KEPT_NAMESPACES.includes(name)) {
    throw forbidden(target.resource, name, 'this namespace may not be deleted');
  }
  if (isDefinition(target)) checkDefinitionDelete(core, current);
}
