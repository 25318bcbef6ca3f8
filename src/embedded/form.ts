import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { deepFreeze, record } from './json.ts';
import { apiVersionOf, kindKey } from './kind.ts';
import { rootSchema } from './registry.ts';
import { goTypeError } from './schema/decode.ts';
import { unsupported } from './schema/field-error.ts';
import { METADATA, metadataErrors } from './schema/metadata.ts';
import { normalise } from './schema/normalise.ts';
import { validate } from './schema/validate.ts';
import { badRequest, type FieldError, invalid, invalidOptions, StatusError } from './status.ts';

/** What became of an object on its way into the store. */
export interface Formed {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/**
 * Brings an object of the URL's version into the form in which it is stored: decoded, pruned, defaulted, completed, in
 * the storage version. `old` is the stored object on an update; what is shared with it is not looked at again.
 */
export function form(core: Core, target: Target, object: KubeObject, old: KubeObject | undefined): Formed {
  const { kind, version, resource, request } = target;
  checkFieldValidation(target);
  const typeError = kind.traits.custom
    ? goTypeError(METADATA, object.metadata, old?.metadata, 'ObjectMeta')
    : goTypeError(rootSchema(version), object, old, resource.kind);
  if (typeError !== undefined) throw undecodable(target, object, typeError);

  const unknown: string[] = [];
  const inVersion = normalise(rootSchema(version), object, old, unknown) as KubeObject;
  if (unknown.length > 0 && request.options?.fieldValidation === 'Strict') {
    const list = unknown.map((path) => `unknown field "${path}"`).join(', ');
    throw undecodable(target, object, `strict decoding error: ${list}`);
  }
  const stored = toStorage(target, inVersion, old);
  const context = { nextClusterIp: () => core.nextClusterIp(), dryRun: request.options?.dryRun === true };
  const completed = kind.traits.complete?.(stored, old, context) ?? stored;
  const silent = request.options?.fieldValidation === 'Ignore';
  return { object: completed, warnings: silent ? [] : unknown.map((path) => `unknown field "${path}"`) };
}

function checkFieldValidation(target: Target): void {
  const given = target.request.options?.fieldValidation;
  if (given === undefined || ['', 'Ignore', 'Strict', 'Warn'].includes(given)) return;
  const kind = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' }[
    target.request.verb as 'create' | 'update' | 'patch'
  ];
  throw invalidOptions(kind, unsupported('fieldValidation', given, ['', 'Ignore', 'Strict', 'Warn']));
}

/** POST and PUT say 400; a patch says 422 and shows the whole object. */
function undecodable(target: Target, object: KubeObject, problem: string): StatusError {
  const { resource, request } = target;
  if (request.verb !== 'patch') {
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
  const errors: FieldError[] = [
    ...metadataErrors(kind.traits.nameRule, record(object.metadata), old && record(old.metadata)),
    ...validate(storageSchema(target), object, old),
    ...(kind.traits.check?.(object, old) ?? []),
  ];
  if (errors.length > 0) throw invalid(resource, object.metadata.name ?? '', errors);
}

function storageSchema(target: Target) {
  const { kind, version } = target;
  return rootSchema(kind.versions.find(({ name }) => name === kind.resource.version) ?? version);
}
