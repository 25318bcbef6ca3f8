import type { KubeObject } from '../kube/api.ts';
import { age } from './age.ts';
import { type Json, list, record, text } from './json.ts';
import { jsonPath } from './json-path.ts';
import type { Column, Kind, KindVersion } from './kind.ts';
import type { Schema } from './schema/schema.ts';
import { compareVersions } from './version-order.ts';

/** One definition is used by thousands of short-lived stores: what was made of it is kept by its text. */
const CACHE_MAX = 200;
const cache = new Map<string, Kind>();

/** The kind that a CustomResourceDefinition describes. */
export function kindOfDefinition(definition: KubeObject): Kind {
  const key = JSON.stringify(definition['spec']);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const kind = makeKind(record(definition['spec']));
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(key, kind);
  return kind;
}

function makeKind(spec: Json): Kind {
  const names = record(spec['names']);
  const versions = list(spec['versions']).map(record);
  const storage = versions.find((version) => version['storage'] === true);
  const kind = String(names['kind']);
  return {
    resource: {
      group: String(spec['group']),
      version: String(storage?.['name']),
      kind,
      plural: String(names['plural']),
      namespaced: spec['scope'] === 'Namespaced',
    },
    singular: text(names['singular']) ?? kind.toLowerCase(),
    listKind: text(names['listKind']) ?? `${kind}List`,
    shortNames: list(names['shortNames']).map(String),
    categories: list(names['categories']).map(String),
    versions: versions
      .filter((version) => version['served'] === true)
      .map(makeVersion)
      .sort((a, b) => compareVersions(a.name, b.name)),
    traits: {
      custom: true,
      nameRule: 'subdomain',
      generation: 'spec',
      createsOnPut: false,
      unconditionalPut: false,
      deleteAnswersObject: false,
      metadataChecks: 3,
      strictFinalizers: false,
      statusTakesMetadata: false,
    },
  };
}

function makeVersion(version: Json): KindVersion {
  const subresources = record(version['subresources']);
  const scale = subresources['scale'];
  return {
    name: String(version['name']),
    // The store validates a CRD only as far as it reads it; the schema inside is the author's.
    schema: record(record(version['schema'])['openAPIV3Schema']) as Schema,
    columns: makeColumns(list(version['additionalPrinterColumns']).map(record)),
    status: subresources['status'] !== undefined,
    ...(scale === undefined ? {} : { scale: makeScale(record(scale)) }),
  };
}

function makeScale(scale: Json): NonNullable<KindVersion['scale']> {
  const strip = (path: unknown) => String(path).replace(/^\./, '');
  const labelSelector = text(scale['labelSelectorPath']);
  return {
    specReplicas: strip(scale['specReplicasPath']),
    statusReplicas: strip(scale['statusReplicasPath']),
    ...(labelSelector === undefined ? {} : { labelSelector: strip(labelSelector) }),
  };
}

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  cell: ({ metadata }) => metadata.name,
};
const AGE: Column = {
  name: 'Age',
  type: 'date',
  priority: 0,
  cell: ({ metadata }, now) => age(metadata.creationTimestamp, now),
};

function makeColumns(columns: readonly Json[]): readonly Column[] {
  if (columns.length === 0) return [NAME, AGE];
  return [NAME, ...columns.map(makeColumn)];
}

function makeColumn(column: Json): Column {
  const read = jsonPath(String(column['jsonPath']));
  const type = String(column['type']);
  const [format, description] = [text(column['format']), text(column['description'])];
  return {
    name: String(column['name']),
    type,
    priority: typeof column['priority'] === 'number' ? column['priority'] : 0,
    ...(format === undefined ? {} : { format }),
    description:
      description ?? `Custom resource definition column (in JSONPath format): ${column['jsonPath']}`,
    cell: (object, now) => cellValue(type, read(object), now),
  };
}

function cellValue(type: string, values: readonly unknown[], now: number): unknown {
  const [value] = values;
  if (value === undefined || value === null) return null;
  if (type === 'date') return age(String(value), now);
  if (type !== 'string') return typeof value === 'object' ? null : value;
  return values.map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each))).join(',');
}
