import type { KubeObject } from '../kube/api.ts';
import { badRequest } from './status.ts';

/** Whether an object is selected. */
export type Selector = (object: KubeObject) => boolean;

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const COMPARISON = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/;

/** Parses a label selector (`a=b,c!=d,e in (f,g),h,!i`); 400 for what is none. */
export function labelSelector(text: string | undefined): Selector | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = split(text).map(requirement);
  return (object) => requirements.every((matches) => matches(object.metadata.labels ?? {}));
}

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

/** Splits at commas that are not inside parentheses. */
function split(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim());
}

function requirement(part: string): Requirement {
  const set = SET.exec(part);
  if (set !== null) return setRequirement(checkedKey(set[1] ?? ''), set[2] === 'in', set[3] ?? '');
  const comparison = COMPARISON.exec(part);
  if (comparison !== null) {
    const key = checkedKey(comparison[1] ?? '');
    const value = checkedValue(comparison[3] ?? '');
    return comparison[2] === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  if (part.startsWith('!')) {
    const key = checkedKey(part.slice(1).trim());
    return (labels) => !Object.hasOwn(labels, key);
  }
  const key = checkedKey(part);
  return (labels) => Object.hasOwn(labels, key);
}

function setRequirement(key: string, isIn: boolean, values: string): Requirement {
  const choices = new Set(values.split(',').map((value) => checkedValue(value.trim())));
  return (labels) => {
    const value = labels[key];
    return (value !== undefined && choices.has(value)) === isIn;
  };
}

function checkedKey(key: string): string {
  if (KEY.test(key)) return key;
  throw badRequest(`unable to parse requirement: found '${key}', expected: ',', ')' or identifier`);
}

function checkedValue(value: string): string {
  if (VALUE.test(value)) return value;
  throw badRequest(`unable to parse requirement: values[0][${value}]: Invalid value: "${value}"`);
}

/** Reads one selectable field of an object. */
type FieldReader = (object: KubeObject) => string;

const READERS: Readonly<Record<string, FieldReader>> = {
  'metadata.name': (object) => object.metadata.name,
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
};

/** The fields that a selector may name for the kinds that have more than name and namespace. */
const MORE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/events': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  '/secrets': ['type'],
  '/namespaces': ['status.phase'],
  'apps/replicasets': ['status.replicas'],
};

/** Parses a field selector (`metadata.name=a,status.phase!=Running`) for the kind `key`; 400 for an unknown field. */
export function fieldSelector(text: string | undefined, key: string, custom: boolean): Selector | undefined {
  if (text === undefined || text === '') return undefined;
  const tests = text.split(',').map((part) => fieldTest(part, key, custom));
  return (object) => tests.every((matches) => matches(object));
}

function fieldTest(part: string, key: string, custom: boolean): Selector {
  const match = /^(.*?)(==|=|!=)(.*)$/.exec(part);
  if (match === null) {
    throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`);
  }
  const [, field = '', operator, value = ''] = match;
  const read = fieldReader(field, key, custom);
  return operator === '!=' ? (object) => read(object) !== value : (object) => read(object) === value;
}

function fieldReader(field: string, key: string, custom: boolean): FieldReader {
  const reader = READERS[field];
  if (reader !== undefined) return reader;
  if (MORE_FIELDS[key]?.includes(field) === true) return (object) => String(at(object, field) ?? '');
  throw badRequest(
    custom
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** The value at a dotted path, if there is one. */
export function at(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Readonly<Record<string, unknown>>)[key];
  }, object);
}
