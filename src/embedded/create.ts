import type { KubeObject } from '../kube/api.ts';
import { readBody } from './body.ts';
import type { Core, Target } from './core.ts';
import { prepareDefinition } from './definitions.ts';
import { check, form, inVersion } from './form.ts';
import { type Json, record, text, without } from './json.ts';
import { admitToQuota } from './quota.ts';
import { alreadyExists, bareError, forbidden, notFound } from './status.ts';
import type { StoreResponse } from './types.ts';

const GENERATED_BASE_MAX = 58;

/** POST, and PUT of a missing object for the kinds that allow it. */
export function create(core: Core, target: Target): StoreResponse {
  return createFrom(core, target, readBody(target));
}

export function createFrom(core: Core, target: Target, body: KubeObject): StoreResponse {
  const { kind, resource, request } = target;
  const dryRun = request.options?.dryRun === true;
  const formed = form(core, target, freshFields(core, target, body), undefined);
  const prepared = prepareDefinition(core, target, formed.object);
  admitToNamespace(core, target, shownName(body.metadata));
  check(target, prepared, undefined);
  const { name } = prepared.metadata;
  admitToQuota(core, target, prepared);
  const existing = core.find(kind, request.namespace ?? '', name);
  if (existing !== undefined) {
    throw alreadyExists(resource, name, existing.metadata.deletionTimestamp !== undefined);
  }
  const object = dryRun ? prepared : core.commit('ADDED', target, prepared);
  return { code: 201, body: inVersion(target, object), warnings: formed.warnings };
}

function freshFields(core: Core, target: Target, body: KubeObject): KubeObject {
  const given: Json = record(body.metadata);
  if ((text(given['resourceVersion']) ?? '') !== '') {
    throw bareError('resourceVersion should not be set on objects to be created');
  }
  const base = text(given['generateName']) ?? '';
  const name = text(given['name']) ?? '';
  const generated = name === '' && base !== '';
  const kept = ['generateName', 'labels', 'annotations', 'ownerReferences', 'finalizers'];
  // Fields of metadata that are none are left for the decoder to find.
  const rest = Object.fromEntries(
    Object.entries(given).filter(([key]) => kept.includes(key) || !SYSTEM_FIELDS.includes(key)),
  );
  const metadata = {
    ...rest,
    ...(name === '' && !generated
      ? {}
      : { name: generated ? base.slice(0, GENERATED_BASE_MAX) + core.nextSuffix() : name }),
    ...(given['name'] !== undefined && typeof given['name'] !== 'string' ? { name: given['name'] } : {}),
    uid: core.nextUid(),
    creationTimestamp: core.timestamp(),
    ...(target.kind.traits.generation === 'none' ? {} : { generation: 1 }),
  };
  const fields = target.version.status ? without(body, 'status') : body;
  return { ...fields, metadata } as unknown as KubeObject;
}

const SYSTEM_FIELDS = [
  'name',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
];

/** With generateName the messages show the prefix. */
function shownName(metadata: KubeObject['metadata']): string {
  const given: Json = record(metadata);
  return text(given['name']) ?? text(given['generateName']) ?? '';
}

/** New objects need a namespace that is there and stays. */
function admitToNamespace(core: Core, target: Target, name: string): void {
  const { kind, resource, request } = target;
  if (!kind.resource.namespaced) return;
  const namespace = request.namespace ?? '';
  const namespaces = core.registry.get('', 'namespaces');
  if (namespaces === undefined) return;
  const holder = core.find(namespaces, '', namespace);
  if (holder === undefined) throw notFound(namespaces.resource, namespace);
  if (holder.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}
