import { createHash } from 'node:crypto';
import { apiVersionOf, type Kind, type KindVersion } from '../kind.ts';
import { rootSchema } from '../registry.ts';
import type { Schema } from '../schema/schema.ts';
import type { EmbeddedStore } from '../store.ts';
import { groupVersions, isServed } from './discovery.ts';

/** OpenAPI v3, as far as kubectl reads it: the fields of each kind, and that writes take `fieldValidation`. */

/** The index: where the document of each group and version is, with a hash of its contents. */
export function openApiIndex(store: EmbeddedStore): unknown {
  const paths = [...groupVersions(store)].flatMap(([group, versions]) =>
    [...versions].map((version) => {
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
      const hash = hashOf(JSON.stringify(openApiDocument(store, group, version)));
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
    }),
  );
  return { paths: Object.fromEntries(paths) };
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32).toUpperCase();
}

/** The document of one version of a group; `undefined` when it is not served. */
export function openApiDocument(store: EmbeddedStore, group: string, version: string): unknown {
  if (!isServed(store, { group, version })) return undefined;
  const served = store
    .kinds()
    .filter(({ resource }) => resource.group === group)
    .flatMap((kind) =>
      kind.versions.filter(({ name }) => name === version).map((each) => ({ kind, version: each })),
    );
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.34.4' },
    paths: Object.fromEntries(served.map(({ kind, version: each }) => pathItem(kind, each))),
    components: {
      schemas: Object.fromEntries(served.map(({ kind, version: each }) => component(kind, each))),
    },
  };
}

function groupVersionKind({ resource }: Kind, { name: version }: KindVersion) {
  return { group: resource.group, version, kind: resource.kind };
}

function pathItem(kind: Kind, version: KindVersion): readonly [string, unknown] {
  const { group, plural, namespaced } = kind.resource;
  const root =
    group === '' ? `/api/${version.name}` : `/apis/${apiVersionOf({ group, version: version.name })}`;
  const place = namespaced ? '/namespaces/{namespace}' : '';
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
  }));
  const patch = {
    operationId: `patch${kind.resource.kind}`,
    parameters,
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': groupVersionKind(kind, version),
    responses: { 200: { description: 'OK' } },
  };
  return [`${root}${place}/${plural}/{name}`, { patch }];
}

function component(kind: Kind, version: KindVersion): readonly [string, unknown] {
  const schema = {
    ...publicSchema(rootSchema(version)),
    'x-kubernetes-group-version-kind': [groupVersionKind(kind, version)],
  };
  const { group, kind: name } = kind.resource;
  return [
    [...(group === '' ? ['core'] : group.split('.').toReversed()), version.name, name].join('.'),
    schema,
  ];
}

const OWN_FORMATS: readonly (string | undefined)[] = ['quantity', 'go-time', 'micro-time'];

/** A schema without the marks that only this server reads. */
function publicSchema(schema: Schema): Readonly<Record<string, unknown>> {
  const { drop: _, patchKey: __, properties, items, additionalProperties, format, ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([key, field]) => [key, publicSchema(field)]);
  const isTime = format === 'go-time' || format === 'micro-time';
  const shown = isTime ? 'date-time' : OWN_FORMATS.includes(format) ? undefined : format;
  return {
    ...rest,
    ...(shown === undefined ? {} : { format: shown }),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(items === undefined ? {} : { items: publicSchema(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object'
              ? publicSchema(additionalProperties)
              : additionalProperties,
        }),
  };
}
