import type { KubeObject } from '../kube/api.ts';
import type { Target } from './core.ts';
import { copyJson, isRecord, type Json, record, text, without } from './json.ts';
import { apiVersionOf } from './kind.ts';
import { invalidValue } from './schema/field-error.ts';
import { badRequest, invalid } from './status.ts';

/** Reads the body of a POST or PUT: a copy with kind, apiVersion and namespace filled in and checked. */
export function readBody(target: Target): KubeObject {
  const { resource, kind, request } = target;
  const given = copyJson(request.body);
  // The decoder of the built-in kinds takes a null for nothing said.
  const body = given === null && !kind.traits.custom ? {} : given;
  if (!isRecord(body)) throw badRequest(unrecognized(resource.kind, body, 'Kind'));
  const apiVersion = apiVersionOf(resource);
  if (kind.traits.custom) {
    for (const [field, name] of [
      ['kind', 'Kind'],
      ['apiVersion', 'apiVersion'],
    ] as const) {
      if ((text(body[field]) ?? '') === '') throw badRequest(unrecognized(resource.kind, body, name));
    }
  }
  checkType(target, text(body['kind']) ?? resource.kind, text(body['apiVersion']) ?? apiVersion);
  if (body['metadata'] !== undefined && body['metadata'] !== null && !isRecord(body['metadata'])) {
    return { ...body, apiVersion, kind: resource.kind } as unknown as KubeObject;
  }
  const metadata = record(body['metadata']);
  return withMetadata({ ...body, apiVersion, kind: resource.kind }, checkNamespace(target, metadata));
}

/** The body must be of the URL's kind and version. */
function checkType({ kind, resource, request }: Target, givenKind: string, given: string): void {
  const apiVersion = apiVersionOf(resource);
  if (givenKind === resource.kind && given === apiVersion) return;
  if (!kind.traits.custom) {
    const version = given.split('/').at(-1);
    throw badRequest(
      `${givenKind} in version "${version}" cannot be handled as a ${resource.kind}: no kind "${givenKind}" is registered for version "${given}" in scheme "pkg/runtime/scheme.go:110"`,
    );
  }
  if (given !== apiVersion) {
    throw badRequest(
      `the API version in the data (${given}) does not match the expected API version (${apiVersion})`,
    );
  }
  const name = text(record(record(request.body)['metadata'])['name']) ?? '';
  const error = invalidValue('kind', givenKind, `must be ${resource.kind}`);
  throw invalid({ group: resource.group, kind: givenKind }, name, [error]);
}

function unrecognized(kind: string, body: unknown, missing: string): string {
  const shown = JSON.stringify(body);
  const excerpt = shown.length > EXCERPT_MAX ? `${shown.slice(0, EXCERPT_MAX)} ...` : shown;
  return `the object provided is unrecognized (must be of type ${kind}): Object '${missing}' is missing in '${shown}' (${excerpt})`;
}

/** How much of a body is shown once more. */
const EXCERPT_MAX = 30;

/** Metadata in the namespace of the URL; 400 when the body names another. */
export function checkNamespace(target: Target, metadata: Json): Json {
  const namespace = target.request.namespace ?? '';
  if (!target.kind.resource.namespaced) {
    return metadata['namespace'] === undefined ? metadata : without(metadata, 'namespace');
  }
  const given = text(metadata['namespace']) ?? '';
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return namespace === '' ? metadata : { ...metadata, namespace };
}

/** 400 when the body of a write names another object than the URL. */
export function checkName(target: Target, metadata: Json): void {
  const name = target.request.name ?? '';
  const given = text(metadata['name']) ?? '';
  if (given === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
}

/** An object from fields that were checked one by one. */
export function withMetadata(fields: Json, metadata: Json): KubeObject {
  return { ...fields, metadata } as unknown as KubeObject;
}
