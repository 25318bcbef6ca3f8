import type { KubeObject } from '../../kube/api.ts';
import { deepEqual, type Json, list, record, text, without } from '../json.ts';
import { ruleProblem } from '../schema/cel.ts';
import {
  duplicate,
  fieldForbidden,
  immutable,
  invalidValue,
  required,
  tooLong,
} from '../schema/field-error.ts';
import { parseQuantity } from '../schema/quantity.ts';
import type { Rule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';

/** The rules of the built-in kinds that their schemas cannot say. `old` is the stored object on an update. */

const DATA_BYTES_MAX = 1_048_576;
const DATA_KEY = /^[-._a-zA-Z0-9]+$/;

export function checkConfigMap(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const data = { ...record(object['data']), ...record(object['binaryData']) };
  const bytes = Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0);
  const errors: FieldError[] = Object.keys(data)
    .filter((key) => !DATA_KEY.test(key))
    .map((key) =>
      invalidValue(
        `data[${key}]`,
        key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ),
    );
  if (bytes > DATA_BYTES_MAX) errors.push({ ...tooLong('[]', DATA_BYTES_MAX) });
  if (old?.['immutable'] !== true) return errors;
  if (object['immutable'] !== true) {
    errors.push(fieldForbidden('immutable', 'field is immutable when `immutable` is set'));
  }
  for (const field of ['data', 'binaryData']) {
    if (deepEqual(object[field], old[field])) continue;
    errors.push(fieldForbidden(field, 'field is immutable when `immutable` is set'));
  }
  return errors;
}

export function checkService(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  if (spec === before) return [];
  const ports = list(spec['ports']).map(record);
  const errors: FieldError[] = [];
  if (ports.length === 0 && spec['clusterIP'] !== 'None' && spec['type'] !== 'ExternalName') {
    errors.push(required('spec.ports'));
  }
  ports.forEach((port, index) => {
    if (ports.length > 1 && text(port['name']) === undefined)
      errors.push(required(`spec.ports[${index}].name`));
    const twin = ports.findIndex(
      (other) => other['port'] === port['port'] && other['protocol'] === port['protocol'],
    );
    if (twin < index) {
      errors.push(duplicate(`spec.ports[${index}]`, { protocol: port['protocol'], port: port['port'] }));
    }
  });
  if (
    before['clusterIP'] !== undefined &&
    before['type'] === spec['type'] &&
    spec['clusterIP'] !== before['clusterIP']
  ) {
    errors.push(invalidValue('spec.clusterIPs[0]', [spec['clusterIP']], 'may not change once set'));
  }
  return errors;
}

export function checkWorkload(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  if (spec === before) return [];
  const selector = record(spec['selector']);
  const errors = [...selectorErrors(spec, selector)];
  if (old !== undefined && !deepEqual(spec['selector'], before['selector'])) {
    errors.push(immutable('spec.selector', spec['selector']));
  }
  const strategy = record(spec['strategy']);
  if (strategy['type'] === 'Recreate' && strategy['rollingUpdate'] !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    errors.push(fieldForbidden('spec.strategy.rollingUpdate', detail));
  }
  const template = record(spec['template']);
  if (template === before['template']) return errors;
  return [...errors, ...podSpecErrors('spec.template.spec', record(template['spec']))];
}

function selectorErrors(spec: Json, selector: Json): readonly FieldError[] {
  const expressions = list(selector['matchExpressions']);
  const wanted = record(selector['matchLabels']);
  if (Object.keys(wanted).length === 0 && expressions.length === 0) {
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for deployment')];
  }
  const labels = record(record(record(spec['template'])['metadata'])['labels']);
  if (Object.entries(wanted).every(([key, value]) => labels[key] === value)) return [];
  return [
    invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'),
  ];
}

export function checkPod(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  if (spec === before) return [];
  const errors = podSpecErrors('spec', spec);
  if (old === undefined || errors.length > 0) return errors;
  return deepEqual(fixedPart(spec, before), fixedPart(before, before))
    ? []
    : [fieldForbidden('spec', POD_FIXED)];
}

const POD_FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** What must stay. A pod may be given its node (the real server wants the binding subresource for that). */
function fixedPart(spec: Json, before: Json): Json {
  const unbound = before['nodeName'] === undefined ? without(spec, 'nodeName') : spec;
  const plain = without(without(unbound, 'activeDeadlineSeconds'), 'tolerations');
  const imageless = (field: string) =>
    list(plain[field]).map((container) => without(record(container), 'image'));
  return { ...plain, containers: imageless('containers'), initContainers: imageless('initContainers') };
}

function podSpecErrors(path: string, spec: Json): readonly FieldError[] {
  const volumes = new Set(list(spec['volumes']).map((volume) => record(volume)['name']));
  const containers = list(spec['containers']).map(record);
  const errors: FieldError[] = containers.length === 0 ? [required(`${path}.containers`)] : [];
  const names = new Set<unknown>();
  containers.forEach((container, index) => {
    const place = `${path}.containers[${index}]`;
    if (names.has(container['name'])) errors.push(duplicate(`${place}.name`, container['name']));
    names.add(container['name']);
    errors.push(...mountErrors(place, container, volumes), ...resourceErrors(place, container));
  });
  return errors;
}

function mountErrors(place: string, container: Json, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  return list(container['volumeMounts']).flatMap((mount, index) => {
    const name = record(mount)['name'];
    if (volumes.has(name)) return [];
    const field = `${place}.volumeMounts[${index}].name`;
    return [{ field, reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(name)}` }];
  });
}

function resourceErrors(place: string, container: Json): readonly FieldError[] {
  const resources = record(container['resources']);
  const limits = record(resources['limits']);
  return Object.entries(record(resources['requests'])).flatMap(([name, request]) => {
    const limit = limits[name];
    if (limit === undefined) return [];
    const asked = parseQuantity(String(request))?.nano ?? 0n;
    const allowed = parseQuantity(String(limit))?.nano ?? 0n;
    if (asked <= allowed) return [];
    const detail = `must be less than or equal to ${name} limit of ${limit}`;
    return [invalidValue(`${place}.resources.requests`, request, detail)];
  });
}

export function checkClaim(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  if (old === undefined) {
    const modes =
      list(spec['accessModes']).length === 0
        ? [required('spec.accessModes', 'at least 1 access mode is required')]
        : [];
    const storage = record(record(spec['resources'])['requests'])['storage'];
    return storage === undefined ? [...modes, required('spec.resources[storage]')] : modes;
  }
  const before = record(old['spec']);
  if (spec === before) return [];
  // A binder may fill in the volume and the class; a grown request is an expansion.
  const fixed = (part: Json) =>
    without(without(without(part, 'resources'), 'volumeName'), 'storageClassName');
  const settled = ['volumeName', 'storageClassName'].every(
    (field) => before[field] === undefined || before[field] === spec[field],
  );
  if (settled && deepEqual(fixed(spec), fixed(before))) return [];
  return [
    fieldForbidden(
      'spec',
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    ),
  ];
}

export function checkEvent(object: KubeObject): readonly FieldError[] {
  const namespace = text(record(object['involvedObject'])['namespace']) ?? '';
  const expected = object.metadata.namespace ?? '';
  if (namespace === expected || (namespace === '' && expected === 'default')) return [];
  return [invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

export function checkLease(object: KubeObject): readonly FieldError[] {
  const spec = record(object['spec']);
  const errors: FieldError[] = [];
  const duration = spec['leaseDurationSeconds'];
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = spec['leaseTransitions'];
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

export function checkDefinition(object: KubeObject): readonly FieldError[] {
  const spec = record(object['spec']);
  const expected = `${record(spec['names'])['plural']}.${spec['group']}`;
  const errors: FieldError[] = [];
  if (object.metadata.name !== expected) {
    errors.push(
      invalidValue('metadata.name', object.metadata.name, 'must be spec.names.plural+"."+spec.group'),
    );
  }
  const versions = list(spec['versions']).map(record);
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    errors.push(
      invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'),
    );
  }
  const conversion = record(spec['conversion']);
  if (conversion['strategy'] !== 'None') {
    errors.push({
      field: 'spec.conversion.strategy',
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(conversion['strategy'])}: supported values: "None"`,
    });
  }
  versions.forEach((version, index) => {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = record(version['schema'])['openAPIV3Schema'];
    if (schema === undefined) errors.push(required(path, 'schemas are required'));
    else errors.push(...schemaRuleErrors(schema, path));
  });
  return errors;
}

const checkedSchemas = new Set<string>();

/** CEL rules that do not compile are refused with the definition. What was fine once is not compiled again. */
function schemaRuleErrors(schema: unknown, path: string): readonly FieldError[] {
  const key = JSON.stringify(schema);
  if (checkedSchemas.has(key)) return [];
  const errors = ruleErrorsBelow(schema, path);
  if (errors.length === 0 && checkedSchemas.size < CHECKED_SCHEMAS_MAX) checkedSchemas.add(key);
  return errors;
}

const CHECKED_SCHEMAS_MAX = 200;

function ruleErrorsBelow(value: unknown, path: string): readonly FieldError[] {
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => ruleErrorsBelow(element, `${path}[${index}]`));
  }
  return Object.entries(record(value)).flatMap(([key, field]) => {
    if (key !== 'x-kubernetes-validations') return ruleErrorsBelow(field, `${path}.${key}`);
    return list(field).flatMap((rule, index) => {
      const problem = ruleProblem(record(rule) as unknown as Rule);
      if (problem === undefined) return [];
      const place = `${path}.x-kubernetes-validations[${index}].rule`;
      return [invalidValue(place, record(rule)['rule'], `compilation failed: ${problem}`)];
    });
  });
}
