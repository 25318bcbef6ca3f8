import type { KubeObject } from '../kube/api.ts';
import { readBody } from './body.ts';
import type { Core, Target } from './core.ts';
import { prepareDefinition } from './definitions.ts';
import { check, checkFieldValidation, decode, form, inVersion, warned } from './form.ts';
import { type Json, record, text, without } from './json.ts';
import { admitToQuota } from './quota.ts';
import { normalise } from './schema/normalise.ts';
import { alreadyExists, bareError, forbidden, notFound } from './status.ts';
import type { StoreResponse } from './types.ts';

const GENERATED_BASE_MAX = 58;

/** POST, and PUT of a missing object for the kinds that allow it. */
export function create(core: Core, target: Target): StoreResponse {
  checkFieldValidation(target);
  const { object, warnings } = decode(target, readBody(target), undefined);
  return warned(warnings, () => createFrom(core, target, object));
}

/** Makes an object of a decoded body. */
export function createFrom(core: Core, target: Target, body: KubeObject): StoreResponse {
  const { kind, resource, request } = target;
  const dryRun = request.options?.dryRun === true;
  const formed = form(core, target, freshFields(core, target, body), undefined);
  const prepared = prepareDefinition(core, target, formed);
  admitToNamespace(core, target, shownName(body.metadata));
  check(target, prepared, undefined);
  const { name } = prepared.metadata;
  admitToQuota(core, target, prepared);
  const existing = core.find(kind, request.namespace ?? '', name);
  if (existing !== undefined) {
    throw alreadyExists(resource, name, existing.metadata.deletionTimestamp !== undefined);
  }
  const object = dryRun ? prepared : core.commit('ADDED', target, prepared);
  return { code: 201, body: inVersion(target, object) };
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
    ...freshGeneration(target, given),
  };
  const fields = target.version.status ? { ...without(body, 'status'), ...freshStatus(target) } : body;
  return { ...fields, metadata } as unknown as KubeObject;
}

/** What the server itself begins a status with. */
function freshStatus({ version }: Target): Json {
  const schema = version.schema.properties?.['status'];
  if (schema?.default === undefined) return {};
  return { status: normalise(schema, schema.default, undefined, []) };
}

/** Kinds that count no generations keep what a client makes up. */
function freshGeneration({ kind }: Target, { generation }: Json): Json {
  if (kind.traits.generation !== 'none') return { generation: 1 };
  return generation === undefined ? {} : { generation };
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
