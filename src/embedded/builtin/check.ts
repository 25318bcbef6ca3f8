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
  unsupported,
} from '../schema/field-error.ts';
import { nameProblems } from '../schema/names.ts';
import { parseQuantity } from '../schema/quantity.ts';
import type { Rule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { podSpecErrors, portNumberErrors, restartErrors } from './pod-checks.ts';

/** The rules of the built-in kinds that their schemas cannot say. `old` is the stored object on an update. */

const DATA_BYTES_MAX = 1_048_576;
const DATA_KEY = /^[-._a-zA-Z0-9]+$/;

export function checkConfigMap(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const [data, binary] = [record(object['data']), record(object['binaryData'])];
  const errors: FieldError[] = immutableErrors(object, old);
  for (const key of Object.keys(data)) {
    errors.push(...keyErrors('data', key));
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
  }
  for (const key of Object.keys(binary)) errors.push(...keyErrors('binaryData', key));
  const values = [...Object.values(data), ...Object.values(binary)];
  const bytes = values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0);
  return bytes > DATA_BYTES_MAX ? [...errors, tooLong('[]', DATA_BYTES_MAX)] : errors;
}

function immutableErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  if (old?.['immutable'] !== true) return [];
  const changed = ['data', 'binaryData'].filter((field) => !deepEqual(object[field], old[field]));
  const opened = object['immutable'] === true ? [] : ['immutable'];
  return [...opened, ...changed].map((field) =>
    fieldForbidden(field, 'field is immutable when `immutable` is set'),
  );
}

function keyErrors(field: string, key: string): readonly FieldError[] {
  const problem = keyProblem(key);
  return problem === undefined ? [] : [invalidValue(`${field}[${key}]`, key, problem)];
}

function keyProblem(key: string): string | undefined {
  if (!DATA_KEY.test(key)) return DATA_KEY_TEXT;
  if (key === '.' || key === '..') return `must not be '${key}'`;
  return key.startsWith('..') ? "must not start with '..'" : undefined;
}

const DATA_KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export function checkSecret(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const retyped = old !== undefined && object['type'] !== old['type'];
  const errors = retyped ? [immutable('type', object['type'])] : [];
  return [...errors, ...checkConfigMap(object, old)];
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
    const place = `spec.ports[${index}]`;
    const same = (fields: readonly string[]) =>
      ports.findIndex((other) => fields.every((field) => other[field] === port[field])) < index;
    errors.push(...portNameErrors(`${place}.name`, port, ports.length > 1, same(['name'])));
    errors.push(...portNumberErrors(`${place}.port`, port['port'] ?? 0));
    errors.push(...portNumberErrors(`${place}.targetPort`, port['targetPort'] ?? 0));
    if (same(['port', 'protocol'])) errors.push(duplicate(place, goPort(port)));
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

function portNameErrors(field: string, port: Json, needed: boolean, twice: boolean): readonly FieldError[] {
  const name = text(port['name']);
  if (name === undefined) return needed ? [required(field)] : [];
  if (twice) return [duplicate(field, name)];
  return nameProblems('label', name).map((problem) => invalidValue(field, name, problem));
}

/** A duplicate port is shown as Go's struct, with what makes it a duplicate. */
function goPort({ protocol, port }: Json): Json {
  return { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

export function checkWorkload(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  if (old !== undefined && spec === before) return [];
  const template = record(spec['template']);
  const podSpec = record(template['spec']);
  const errors: FieldError[] = ['replicas', 'minReadySeconds', 'revisionHistoryLimit'].flatMap((field) =>
    countErrors(`spec.${field}`, spec[field]),
  );
  errors.push(...selectorErrors(spec));
  if (old === undefined || template !== before['template']) {
    errors.push(...podSpecErrors('spec.template.spec', podSpec));
    errors.push(...restartErrors('spec.template.spec', podSpec));
  }
  if (object.kind === 'Deployment') errors.push(...rolloutErrors(spec));
  if (old !== undefined && !deepEqual(spec['selector'], before['selector'])) {
    errors.push(immutable('spec.selector', spec['selector'] ?? null));
  }
  return errors;
}

function countErrors(field: string, count: unknown): readonly FieldError[] {
  if (typeof count !== 'number' || count >= 0) return [];
  return [invalidValue(field, count, 'must be greater than or equal to 0')];
}

function rolloutErrors(spec: Json): readonly FieldError[] {
  const strategy = record(spec['strategy']);
  const errors: FieldError[] = [];
  if (strategy['type'] === 'Recreate' && strategy['rollingUpdate'] !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    errors.push(fieldForbidden('spec.strategy.rollingUpdate', detail));
  }
  if (strategy['type'] !== 'Recreate' && strategy['type'] !== 'RollingUpdate') {
    const shown = { Type: strategy['type'], RollingUpdate: null };
    errors.push(unsupported('spec.strategy', shown, ['Recreate', 'RollingUpdate']));
  }
  if (strategy['type'] === 'RollingUpdate') errors.push(...limitErrors(record(strategy['rollingUpdate'])));
  const [deadline, least] = [spec['progressDeadlineSeconds'], spec['minReadySeconds'] ?? 0];
  if (typeof deadline === 'number' && deadline <= Number(least)) {
    errors.push(
      invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'),
    );
  }
  return errors;
}

function limitErrors(limits: Json): readonly FieldError[] {
  const errors = ['maxUnavailable', 'maxSurge'].flatMap((name) => {
    const [field, limit] = [`spec.strategy.rollingUpdate.${name}`, limits[name]];
    if (typeof limit !== 'string') return countErrors(field, limit);
    return /^[0-9]+%$/.test(limit) ? [] : [invalidValue(field, limit, PERCENT_TEXT)];
  });
  if (errors.length > 0 || !isNothing(limits['maxUnavailable']) || !isNothing(limits['maxSurge']))
    return errors;
  const shown = limits['maxUnavailable'] ?? 0;
  return [
    invalidValue('spec.strategy.rollingUpdate.maxUnavailable', shown, 'may not be 0 when `maxSurge` is 0'),
  ];
}

function isNothing(limit: unknown): boolean {
  return Number.parseInt(String(limit ?? 0), 10) === 0;
}

const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function selectorErrors(spec: Json): readonly FieldError[] {
  const selector = record(spec['selector']);
  const wanted = record(selector['matchLabels']);
  const empty = Object.keys(wanted).length === 0 && list(selector['matchExpressions']).length === 0;
  if (empty && spec['selector'] !== undefined) {
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for deployment')];
  }
  const errors = spec['selector'] === undefined ? [required('spec.selector')] : [];
  const labels = record(record(record(spec['template'])['metadata'])['labels']);
  if (!empty && Object.entries(wanted).every(([key, value]) => labels[key] === value)) return errors;
  const shown = Object.keys(labels).length === 0 ? null : labels;
  const detail = '`selector` does not match template `labels`';
  return [...errors, invalidValue('spec.template.metadata.labels', shown, detail)];
}

export function checkPod(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  if (old !== undefined && spec === before) return [];
  const errors = podSpecErrors('spec', spec);
  if (old === undefined) return errors;
  const moved = ['containers', 'initContainers'].filter(
    (field) => list(spec[field]).length !== list(before[field]).length,
  );
  if (moved.length > 0) {
    const detail = 'pod updates may not add or remove containers';
    return [...errors, ...moved.map((field) => fieldForbidden(`spec.${field}`, detail))];
  }
  return deepEqual(fixedPart(spec, before), fixedPart(before, before))
    ? errors
    : [...errors, fieldForbidden('spec', POD_FIXED)];
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

export function checkClaim(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = record(object['spec']);
  if (old !== undefined && spec === record(old['spec'])) return [];
  const errors = claimErrors(spec);
  if (old === undefined) return errors;
  const before = record(old['spec']);
  // A binder may fill in the volume and the class; a grown request is an expansion.
  const bound = record(old['status'])['phase'] === 'Bound';
  const fixed = (part: Json) => {
    const own = without(without(part, 'volumeName'), 'storageClassName');
    return bound ? without(own, 'resources') : own;
  };
  const settled = ['volumeName', 'storageClassName'].every(
    (field) => before[field] === undefined || before[field] === spec[field],
  );
  if (settled && deepEqual(fixed(spec), fixed(before))) return [...errors, ...errors];
  const fixedSpec = fieldForbidden('spec', CLAIM_FIXED);
  // The real server looks twice, and reports each time.
  return [...errors, ...errors, fixedSpec, ...shrunkErrors(spec, before)];
}

/** A volume does not shrink. */
function shrunkErrors(spec: Json, before: Json): readonly FieldError[] {
  const [now, then] = [spec, before].map((part) => {
    const storage = record(record(part['resources'])['requests'])['storage'];
    return parseQuantity(String(storage ?? '0'))?.nano ?? 0n;
  });
  if ((now ?? 0n) >= (then ?? 0n)) return [];
  return [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

function claimErrors(spec: Json): readonly FieldError[] {
  const modes = list(spec['accessModes']);
  const errors: FieldError[] =
    modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : [];
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(String(mode)))
      errors.push(unsupported('spec.accessModes', mode, ACCESS_MODES));
  }
  const storage = record(record(spec['resources'])['requests'])['storage'];
  if (storage === undefined) errors.push(required('spec.resources[storage]'));
  else if ((parseQuantity(String(storage))?.nano ?? 0n) <= 0n) {
    errors.push(invalidValue('spec.resources[storage]', storage, 'must be greater than zero'));
  }
  const volumeMode = spec['volumeMode'];
  if (volumeMode === 'Block' || volumeMode === 'Filesystem') return errors;
  return [...errors, unsupported('spec.volumeMode', volumeMode, ['Block', 'Filesystem'])];
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** A quota's amounts are no less than nothing, and what is counted is counted in whole numbers. */
export function checkQuota(object: KubeObject): readonly FieldError[] {
  return Object.entries(record(record(object['spec'])['hard'])).flatMap(([name, amount]) => {
    const nano = parseQuantity(String(amount))?.nano ?? 0n;
    const field = `spec.hard[${name}]`;
    const problems = nano < 0n ? ['must be greater than or equal to 0'] : [];
    if (COUNTED.test(name) && nano % 1_000_000_000n !== 0n) problems.push('must be an integer');
    return problems.map((problem) => invalidValue(field, amount, problem));
  });
}

const COUNTED =
  /^(?:count\/.+|pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|services\.(?:nodeports|loadbalancers))$/;

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
