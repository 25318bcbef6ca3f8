import type { KubeObject, Resource } from '../kube/api.ts';

/** Objects of one kind, by name. */
export type Objects = ReadonlyMap<string, KubeObject>;
/** The objects of a kind, by name. */
export type Kinds = (resource: Pick<Resource, 'plural'>) => Objects;

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What the object's controller says of it. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  return ((object['status'] ?? {}) as { conditions?: readonly Condition[] }).conditions ?? [];
}

/** The Deployment has a pod that serves, and its controller has seen its latest spec. */
export function isAvailable(deployment: KubeObject): boolean {
  const status = (deployment['status'] ?? {}) as { observedGeneration?: number; availableReplicas?: number };
  const available = conditionsOf(deployment).some((c) => c.type === 'Available' && c.status === 'True');
  const generation = deployment.metadata.generation ?? 0;
  return available && (status.availableReplicas ?? 0) >= 1 && (status.observedGeneration ?? 0) >= generation;
}

/** The containers of a Deployment's pods. */
export function containersOf(deployment: KubeObject): readonly { readonly image?: string }[] {
  const { spec } = deployment as unknown as {
    spec?: { template?: { spec?: { containers?: readonly { image?: string }[] } } };
  };
  return spec?.template?.spec?.containers ?? [];
}

/** It was deleted, and waits for something before it is gone. */
export function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A field's text, one level down. */
export function text(object: KubeObject, parent: string, name: string): string | undefined {
  const value = object[parent];
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** An AppDefinition as far as names are made of it. */
export function named({ metadata }: KubeObject): { metadata: { uid: string }; spec: { name: string } } {
  return { metadata: { uid: metadata.uid ?? '' }, spec: { name: metadata.name } };
}
