import type { KubeObject, Resource } from '../kube/api.ts';
import type { NameRule } from './schema/names.ts';
import type { Schema } from './schema/schema.ts';
import type { FieldError } from './status.ts';

/** Everything the server knows of a kind. */
export interface Kind {
  /** As it is stored: the version here is the storage version. */
  readonly resource: Resource;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** All served versions, the preferred one first. */
  readonly versions: readonly KindVersion[];
  readonly traits: Traits;
}

/** One served version of a kind. */
export interface KindVersion {
  readonly name: string;
  readonly schema: Schema;
  readonly columns: readonly Column[];
  readonly status: boolean;
  readonly scale?: ScalePaths;
}

/** Where the scale subresource reads and writes, as dotted paths. */
interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

/** A printer column: `cell` reads the value from the object. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly cell: (object: KubeObject, now: number) => unknown;
}

/** How a kind differs from the others in what the server does. */
export interface Traits {
  /** Made from a CustomResourceDefinition. */
  readonly custom: boolean;
  readonly nameRule: NameRule;
  /** What bumps `metadata.generation`: nothing, the spec, or (Deployments) annotations as well. */
  readonly generation: 'none' | 'spec' | 'specAndAnnotations';
  /** PUT of a missing object creates it. */
  readonly createsOnPut: boolean;
  /** PUT without a resourceVersion is accepted. */
  readonly unconditionalPut: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly deleteAnswersObject: boolean;
  /** How often an update looks at labels, annotations and owners; each time it reports what is wrong. */
  readonly metadataChecks: number;
  /** A finalizer must be a standard one or have a domain. */
  readonly strictFinalizers: boolean;
  /** A write on the status takes labels, annotations, owners and finalizers as well. */
  readonly statusTakesMetadata: boolean;
  /** Fills in what depends on other fields; `old` is the stored object on an update. */
  readonly complete?: (
    object: KubeObject,
    old: KubeObject | undefined,
    context: CompleteContext,
  ) => KubeObject;
  /** Rules that a schema cannot say. */
  readonly check?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];
}

/** What completing an object may use besides the object. */
export interface CompleteContext {
  /** A cluster IP that no other Service has had. */
  nextClusterIp(): string;
  readonly dryRun: boolean;
}

/** `group/plural`: a kind's name whatever the version. */
export function kindKey(resource: Pick<Resource, 'group' | 'plural'>): string {
  return `${resource.group}/${resource.plural}`;
}

export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
