import type { KubeObject } from '../kube/api.ts';
import type { Target } from './core.ts';
import { copyJson, isRecord, type Json, record, text } from './json.ts';
import { apiVersionOf } from './kind.ts';
import { badRequest } from './status.ts';

/** Reads the body of a POST or PUT: a copy with kind, apiVersion and namespace filled in and checked. */
export function readBody(target: Target): KubeObject {
  const { resource, kind, request } = target;
  const body = copyJson(request.body);
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
  const given = text(body['apiVersion']) ?? apiVersion;
  if (given !== apiVersion) {
    throw badRequest(
      `the API version in the data (${given}) does not match the expected API version (${apiVersion})`,
    );
  }
  const givenKind = text(body['kind']) ?? resource.kind;
  if (givenKind !== resource.kind) {
    throw badRequest(
      `${givenKind} in version "${resource.version}" cannot be handled as a ${resource.kind}: the object provided is unrecognized (must be of type ${resource.kind})`,
    );
  }
  const metadata = record(body['metadata']);
  return withMetadata({ ...body, apiVersion, kind: resource.kind }, checkNamespace(target, metadata));
}

function unrecognized(kind: string, body: unknown, missing: string): string {
  const shown = JSON.stringify(body);
  return `the object provided is unrecognized (must be of type ${kind}): Object '${missing}' is missing in '${shown}'`;
}

/** Metadata in the namespace of the URL; 400 when the body names another. */
export function checkNamespace(target: Target, metadata: Json): Json {
  const namespace = target.request.namespace ?? '';
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
