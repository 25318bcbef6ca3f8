import type { KubeObject, Resource } from '../kube/api.ts';
import { deepFreeze } from './json.ts';

/** One cause of a refusal: `message` leaves out the field that the top message names. */
export interface FieldError {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

export interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Partial<FieldError>[];
  readonly retryAfterSeconds?: number;
}

/** A request that the server refuses, on its way to becoming a Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly body: KubeObject;

  constructor(code: number, reason: string | undefined, message: string, extra: StatusExtra = {}) {
    super(message);
    this.code = code;
    this.body = failure(code, reason, message, extra);
  }
}

export interface StatusExtra {
  readonly details?: Details;
  /** For an expired `continue`: the token that goes on at the newest state. */
  readonly continue?: string;
}

function failure(code: number, reason: string | undefined, message: string, extra: StatusExtra): KubeObject {
  return statusBody({
    metadata: extra.continue === undefined ? {} : { continue: extra.continue },
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(extra.details === undefined ? {} : { details: extra.details }),
    code,
  });
}

/** The body of a successful DELETE of the kinds that do not answer with the object. */
export function deleted(resource: Resource, name: string, uid: string | undefined): KubeObject {
  const details = {
    name,
    ...groupOf(resource),
    kind: resource.plural,
    ...(uid === undefined ? {} : { uid }),
  };
  return statusBody({ metadata: {}, status: 'Success', details });
}

function statusBody(fields: Readonly<Record<string, unknown>>): KubeObject {
  // A Status has no name; KubeObject's metadata says more than a Status can hold.
  return deepFreeze({ kind: 'Status', apiVersion: 'v1', ...fields }) as unknown as KubeObject;
}

function groupOf(resource: Pick<Resource, 'group'>): { group?: string } {
  return resource.group === '' ? {} : { group: resource.group };
}

/** `widgets.g.dev`, or `configmaps` for the core group. */
export function pluralName(resource: Pick<Resource, 'group' | 'plural'>): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `Widget.g.dev`, or `ConfigMap` for the core group. */
function kindName(resource: Pick<Resource, 'group' | 'kind'>): string {
  return resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
}

function pluralDetails(resource: Resource, name: string): Details {
  return { ...(name === '' ? {} : { name }), ...groupOf(resource), kind: resource.plural };
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** The bare 500 that the real server gives for some client mistakes: no reason, no details. */
export function bareError(message: string): StatusError {
  return new StatusError(500, undefined, message);
}

export function notFound(resource: Resource, name: string): StatusError {
  const details = pluralDetails(resource, name);
  return new StatusError(404, 'NotFound', `${pluralName(resource)} "${name}" not found`, { details });
}

export function unknownResource(): StatusError {
  const message = 'the server could not find the requested resource';
  return new StatusError(404, 'NotFound', message, { details: {} });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError(405, 'MethodNotAllowed', message, { details: {} });
}

export function alreadyExists(resource: Resource, name: string, terminating: boolean): StatusError {
  const prefix = terminating ? 'object is being deleted: ' : '';
  const message = `${prefix}${pluralName(resource)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, { details: pluralDetails(resource, name) });
}

/** 409 for a stale write: details carry the plural. */
export function conflict(resource: Resource, name: string, text: string): StatusError {
  const message = `Operation cannot be fulfilled on ${pluralName(resource)} "${name}": ${text}`;
  return new StatusError(409, 'Conflict', message, { details: pluralDetails(resource, name) });
}

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 409 for a failed delete precondition: the Kind form, unlike every other conflict. */
export function preconditionFailed(resource: Resource, name: string, text: string): StatusError {
  const message = `Operation cannot be fulfilled on ${kindName(resource)} "${name}": ${text}`;
  const details = { name, ...groupOf(resource), kind: resource.kind };
  return new StatusError(409, 'Conflict', message, { details });
}

export function forbidden(
  resource: Resource,
  name: string,
  text: string,
  causes?: Details['causes'],
): StatusError {
  const subject = name === '' ? pluralName(resource) : `${pluralName(resource)} "${name}"`;
  const details = { ...pluralDetails(resource, name), ...(causes === undefined ? {} : { causes }) };
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${text}`, { details });
}

/** 422 with its causes in order. */
export function invalid(
  resource: Pick<Resource, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  // The message lists each error once, the causes all of them: a cause may stand there twice.
  const lines = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = lines.length === 1 ? lines.join('') : `[${lines.join(', ')}]`;
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  const details = { ...(name === '' ? {} : { name }), ...groupOf(resource), kind: resource.kind, causes };
  return new StatusError(422, 'Invalid', `${kindName(resource)} "${name}" is invalid: ${list}`, { details });
}

/** 422 about the request's own parameters, such as `DeleteOptions`. */
export function invalidOptions(kind: string, error: FieldError): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', [error]);
}

/** The 422 of a JSON patch whose operation failed: it does not say which one. */
export function patchRejected(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', message, { details: {} });
}

/** What this server does not do, refused by name. */
export function notImplemented(what: string): StatusError {
  return new StatusError(501, 'NotImplemented', `this embedded API server does not support ${what}`);
}
