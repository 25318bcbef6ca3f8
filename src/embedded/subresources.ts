import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { undecodable } from './form.ts';
import { copyJson, deepFreeze, isRecord, type Json, record } from './json.ts';
import { kindKey } from './kind.ts';
import { applyJsonPatch, applyMergePatch } from './patch.ts';
import { invalidValue } from './schema/field-error.ts';
import { at } from './selectors.ts';
import {
  invalid,
  methodNotAllowed,
  notFound,
  notImplemented,
  pluralName,
  StatusError,
  unknownResource,
} from './status.ts';
import type { StoreRequest, StoreResponse } from './types.ts';
import { patch } from './update.ts';

/** Answers what a subresource does differently; `undefined` leaves the request to the ordinary path. */
export function subresource(core: Core, target: Target): StoreResponse | undefined {
  const { request, version, resource } = target;
  switch (request.subresource) {
    case 'status':
      if (!version.status) throw missing(target);
      if (['get', 'update', 'patch'].includes(request.verb)) return undefined;
      throw new StatusError(
        405,
        'MethodNotAllowed',
        `${request.verb} is not supported on resources of kind "${pluralName(resource)}"`,
        { details: {} },
      );
    case 'scale':
      if (version.scale === undefined) throw missing(target);
      if (!['get', 'update', 'patch'].includes(request.verb)) throw methodNotAllowed();
      return scale(core, target);
    case 'finalize':
      if (kindKey(resource) !== '/namespaces') throw missing(target);
      return undefined;
    case 'binding':
      if (kindKey(resource) !== '/pods' || request.verb !== 'create') throw missing(target);
      return bind(core, target);
    case 'log':
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
    case 'eviction':
    case 'token':
    case 'ephemeralcontainers':
      throw notImplemented(`the subresource ${request.subresource}`);
    default:
      throw missing(target);
  }
}

/** For custom kinds a subresource that is not there looks like a missing object. */
function missing({ kind, resource, request }: Target): StatusError {
  return kind.traits.custom ? notFound(resource, request.name ?? '') : unknownResource();
}

function bind(core: Core, target: Target): StoreResponse {
  const node = record(record(target.request.body)['target'])['name'];
  const { subresource: _, patchType: __, ...rest } = target.request;
  const request: StoreRequest = {
    ...rest,
    verb: 'patch',
    patchType: 'merge',
    body: { spec: { nodeName: node } },
  };
  const answer = patch(core, { ...target, request });
  if (answer.code >= 300) return answer;
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return { code: 201, body: deepFreeze(body) as unknown as KubeObject };
}

/** GET, PUT and PATCH of autoscaling/v1 Scale: the object's replicas behind a common face. */
function scale(core: Core, target: Target): StoreResponse {
  const { kind, resource, version, request } = target;
  const paths = version.scale;
  const current = core.find(kind, request.namespace ?? '', request.name ?? '');
  if (current === undefined || paths === undefined) throw notFound(resource, request.name ?? '');
  const shown = scaleOf(target, current);
  if (request.verb === 'get') return { code: 200, body: shown };
  const next = record(nextScale(request, shown));
  const replicas = at(next, 'spec.replicas') ?? 0;
  checkReplicas(target, next, replicas);
  const given = record(next['metadata'])['resourceVersion'];
  const guard = typeof given === 'string' && given !== '' ? { metadata: { resourceVersion: given } } : {};
  const { body: _, subresource: __, ...rest } = request;
  const inner: StoreRequest = {
    ...rest,
    verb: 'patch',
    patchType: 'merge',
    body: { ...guard, ...nest(paths.specReplicas, replicas) },
  };
  const answer = patch(core, { ...target, request: inner });
  if (answer.code >= 300) return answer;
  return { ...answer, body: scaleOf(target, answer.body) };
}

/** A Scale is decoded before it is looked at. */
function checkReplicas({ kind, request }: Target, scale: Json, replicas: unknown): void {
  const { verb, name = '' } = request;
  if (Number.isInteger(replicas)) {
    // A custom kind's own schema is the judge of its counts.
    if (kind.traits.custom || Number(replicas) >= 0) return;
    const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
  }
  const came = typeof replicas === 'number' ? `number ${replicas}` : typeof replicas;
  const problem = `json: cannot unmarshal ${came} into Go struct field ScaleSpec.spec.replicas of type int32`;
  throw undecodable({ kind: 'Scale', version: 'v1' }, verb, scale, problem);
}

function nextScale(request: StoreRequest, shown: KubeObject): unknown {
  if (request.verb === 'update') return copyJson(request.body);
  if (request.verb !== 'patch') throw methodNotAllowed();
  return request.patchType === 'json'
    ? applyJsonPatch(shown, request.body)
    : applyMergePatch(shown, request.body);
}

function nest(path: string, value: unknown): Json {
  const nested = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return record(nested);
}

function scaleOf({ version }: Target, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = version.scale;
  const wanted = at(object, paths?.specReplicas ?? '') ?? 0;
  const selector = paths?.labelSelector === undefined ? undefined : at(object, paths.labelSelector);
  return deepFreeze({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: {
      replicas: at(object, paths?.statusReplicas ?? '') ?? 0,
      ...(selector === undefined ? {} : { selector: selectorText(selector) }),
    },
  }) as unknown as KubeObject;
}

function selectorText(selector: unknown): string {
  if (!isRecord(selector)) return String(selector);
  return Object.entries(record(selector['matchLabels']))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** Who has a valid token may do everything here: each SelfSubjectAccessReview is answered with yes. */
export function accessReview(request: StoreRequest): StoreResponse | undefined {
  const { group, plural } = request.resource;
  if (group !== 'authorization.k8s.io' || plural !== 'selfsubjectaccessreviews') return undefined;
  if (request.verb !== 'create') throw methodNotAllowed();
  const body = {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: record(copyJson(request.body))['spec'] ?? {},
    status: { allowed: true },
  };
  return { code: 201, body: deepFreeze(body) as unknown as KubeObject };
}
