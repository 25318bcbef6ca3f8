import type { KubeObject, Resource } from '../kube/api.ts';
import { BUILT_IN_KINDS } from './builtin/kinds.ts';
import { kindOfDefinition } from './custom-kind.ts';
import { type Kind, type KindVersion, kindKey } from './kind.ts';
import { METADATA } from './schema/metadata.ts';
import type { Schema } from './schema/schema.ts';

/** The kinds that are served now: the built-in ones and those of the CustomResourceDefinitions. */
export class Registry {
  readonly #kinds: Map<string, Kind>;

  constructor() {
    this.#kinds = new Map(BUILT_IN_KINDS.map((kind) => [kindKey(kind.resource), kind]));
  }

  get(group: string, plural: string): Kind | undefined {
    return this.#kinds.get(`${group}/${plural}`);
  }

  /** The kind with this name in a served version, as an ownerReference names it. */
  byKind(group: string, version: string, kind: string): Kind | undefined {
    return [...this.#kinds.values()].find(
      (candidate) =>
        candidate.resource.group === group &&
        candidate.resource.kind === kind &&
        candidate.versions.some(({ name }) => name === version),
    );
  }

  all(): readonly Kind[] {
    return [...this.#kinds.values()];
  }

  resources(): readonly Resource[] {
    return this.all().flatMap((kind) =>
      kind.versions.map(({ name }) => ({ ...kind.resource, version: name })),
    );
  }

  define(definition: KubeObject): Resource {
    const kind = kindOfDefinition(definition);
    this.#kinds.set(kindKey(kind.resource), kind);
    return kind.resource;
  }

  undefine(definition: KubeObject): void {
    this.#kinds.delete(kindKey(kindOfDefinition(definition).resource));
  }
}

const roots = new WeakMap<KindVersion, Schema>();

/** The schema of a whole object: a kind's own fields and the three that all have. */
export function rootSchema(version: KindVersion): Schema {
  let root = roots.get(version);
  if (root === undefined) {
    const { schema } = version;
    const properties = {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      ...schema.properties,
      metadata: METADATA,
    };
    root = { ...schema, properties };
    roots.set(version, root);
  }
  return root;
}
