import type { KubeObject, Resource } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { deepFreeze, record } from './json.ts';
import { apiVersionOf, kindKey } from './kind.ts';
import { rootSchema } from './registry.ts';
import { scaleErrors } from './scale.ts';
import { goTypeError } from './schema/decode.ts';
import { unsupported } from './schema/field-error.ts';
import { METADATA, metadataErrors } from './schema/metadata.ts';
import { normalise } from './schema/normalise.ts';
import { validate, validateRules } from './schema/validate.ts';
import { badRequest, type FieldError, invalid, invalidOptions, StatusError } from './status.ts';
import type { StoreRequest, StoreResponse } from './types.ts';

/** What became of a body on its way into the store. */
export interface Decoded {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/**
 * Reads an object of the URL's version as the server's decoder does: typed, pruned, defaulted. Refuses what does not fit,
 * before anything else of the request is looked at. What is shared with `old`, the stored object, is not looked at again.
 */
export function decode(target: Target, object: KubeObject, old: KubeObject | undefined): Decoded {
  const { kind, version, resource, request } = target;
  const typeError = kind.traits.custom
    ? goTypeError(METADATA, object.metadata, old?.metadata, 'ObjectMeta')
    : goTypeError(rootSchema(version), object, old, resource.kind);
  if (typeError !== undefined) throw undecodable(resource, request.verb, object, typeError);

  const unknown: string[] = [];
  const decoded = normalise(rootSchema(version), object, old, unknown) as KubeObject;
  if (unknown.length === 0) return { object: decoded, warnings: [] };
  const problems = unknown.map((path) => `unknown field "${path}"`);
  if (kind.traits.custom) problems.sort();
  if (request.options?.fieldValidation === 'Strict') {
    const problem = `strict decoding error: ${problems.join(', ')}`;
    throw undecodable(resource, request.verb, object, problem);
  }
  return { object: decoded, warnings: request.options?.fieldValidation === 'Ignore' ? [] : problems };
}

/** Carries out a write whose body gave rise to `warnings`: they are told even when the write is refused. */
export function warned(warnings: readonly string[], write: () => StoreResponse): StoreResponse {
  try {
    return { ...write(), warnings };
  } catch (error) {
    if (error instanceof StatusError) return { code: error.code, body: error.body, warnings };
    throw error;
  }
}

/** Brings a decoded object into the form in which it is stored: completed, in the storage version. */
export function form(
  core: Core,
  target: Target,
  object: KubeObject,
  old: KubeObject | undefined,
): KubeObject {
  const stored = toStorage(target, object, old);
  const dryRun = target.request.options?.dryRun === true;
  const context = { nextClusterIp: () => core.nextClusterIp(), dryRun };
  return target.kind.traits.complete?.(stored, old, context) ?? stored;
}

/** A write's `fieldValidation` is looked at before its body and before the object. */
export function checkFieldValidation(target: Target): void {
  const given = target.request.options?.fieldValidation;
  if (given === undefined || ['', 'Ignore', 'Strict', 'Warn'].includes(given)) return;
  const kind = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' }[
    target.request.verb as 'create' | 'update' | 'patch'
  ];
  throw invalidOptions(kind, unsupported('fieldValidation', given, ['', 'Ignore', 'Strict', 'Warn']));
}

/** POST and PUT say 400; a patch says 422 and shows the whole object. */
export function undecodable(
  resource: Pick<Resource, 'kind' | 'version'>,
  verb: StoreRequest['verb'],
  object: unknown,
  problem: string,
): StatusError {
  if (verb !== 'patch') {
    return badRequest(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${problem}`,
    );
  }
  const message = `Invalid value: ${JSON.stringify(JSON.stringify(object))}: ${problem}`;
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'patch' }];
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${message}`, { details: { causes } });
}

function toStorage(target: Target, object: KubeObject, old: KubeObject | undefined): KubeObject {
  const { kind, resource } = target;
  if (resource.version === kind.resource.version) return object;
  const storage = kind.versions.find(({ name }) => name === kind.resource.version);
  const renamed = { ...object, apiVersion: apiVersionOf(kind.resource) };
  return storage === undefined ? renamed : (normalise(rootSchema(storage), renamed, old, []) as KubeObject);
}

const served = new WeakMap<KubeObject, Map<string, KubeObject>>();

/** A stored object as the URL's version shows it: an older version has dropped what it does not know. */
export function inVersion(
  target: Pick<Target, 'kind' | 'version' | 'resource'>,
  object: KubeObject,
): KubeObject {
  const { kind, version, resource } = target;
  if (resource.version === kind.resource.version) return object;
  let versions = served.get(object);
  if (versions === undefined) {
    versions = new Map();
    served.set(object, versions);
  }
  const key = `${kindKey(resource)}/${resource.version}`;
  let shown = versions.get(key);
  if (shown === undefined) {
    const renamed = { ...object, apiVersion: apiVersionOf(resource) };
    shown = deepFreeze(normalise(rootSchema(version), renamed, undefined, [])) as KubeObject;
    versions.set(key, shown);
  }
  return shown;
}

/** Checks a formed object; throws 422 with all that is wrong. */
export function check(target: Target, object: KubeObject, old: KubeObject | undefined): void {
  const { kind, resource } = target;
  const schema = storageSchema(target);
  const errors: FieldError[] = [
    ...metadataErrors(kind.traits, record(object.metadata), old && record(old.metadata)),
    ...withoutPrefix(target, validate(schema, object, old)),
    ...(kind.traits.check?.(object, old) ?? []),
    ...(kind.traits.custom ? scaleErrors(target, object) : []),
  ];
  errors.push(...validateRules(schema, object, old, errors));
  if (errors.length > 0) throw invalid(resource, object.metadata.name ?? '', errors);
}

/** What is wrong with a status that is written alone is told as if the status were everything. */
function withoutPrefix({ request }: Target, errors: readonly FieldError[]): readonly FieldError[] {
  if (request.subresource !== 'status') return errors;
  return errors.map((error) => ({ ...error, message: error.message.replace(': status.', ': ') }));
}

function storageSchema(target: Target) {
  const { kind, version } = target;
  return rootSchema(kind.versions.find(({ name }) => name === kind.resource.version) ?? version);
}
