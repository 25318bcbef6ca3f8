import type { KubeObject } from '../kube/api.ts';
import { parseLabelSelector } from './label-selector.ts';
import { badRequest } from './status.ts';

/** Whether an object is selected. */
export type Selector = (object: KubeObject) => boolean;

/** Parses a label selector (`a=b,c!=d,e in (f,g),h,!i`); 400 for what is none. */
export function labelSelector(text: string | undefined): Selector | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = parseLabelSelector(text);
  return (object) => requirements.every((matches) => matches(object.metadata.labels ?? {}));
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
    custom || MORE_FIELDS[key] !== undefined
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
