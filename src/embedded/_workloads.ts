import type { KubeObject, OwnerReference, Resource } from '../kube/api.ts';
import { type Json, record, text } from './json.ts';

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
export const REPLICA_SETS: Resource = { ...DEPLOYMENTS, kind: 'ReplicaSet', plural: 'replicasets' };
export const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** A condition in the status of a Deployment, ReplicaSet or Pod. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
}

interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: Json;
}
type Labels = Readonly<Record<string, string>>;

interface WorkloadSpec {
  readonly replicas: number;
  readonly selector: { readonly matchLabels?: Labels } & Json;
  readonly template: PodTemplate;
  readonly minReadySeconds?: number;
}

export interface Deployment extends KubeObject {
  readonly spec: WorkloadSpec & {
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: Json };
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: DeploymentStatus;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface ReplicaSet extends KubeObject {
  readonly spec: WorkloadSpec;
  readonly status?: {
    readonly replicas?: number;
    readonly fullyLabeledReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface Pod extends KubeObject {
  readonly spec: Json & { readonly nodeName?: string; readonly containers?: readonly Container[] };
  readonly status?: Json & { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export interface Container {
  readonly name: string;
  readonly image: string;
}

export const HASH_LABEL = 'pod-template-hash';

/** RFC 3339 to the second, as object times are written. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** `<namespace>/<name>`, the key of an object among those of its kind. */
export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** The one owner that manages an object, if it has one. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find((owner) => owner.controller === true);

/** The reference by which a workload owns what it makes. */
export const controllerReference = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** A pod that counts as a replica: neither finished nor on its way out. */
export const isActive = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed';

/** Since when a pod has been Ready, epoch ms; `undefined` while it is not. */
export function readySince(pod: Pod): number | undefined {
  const ready = pod.status?.conditions?.find((condition) => condition.type === 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') : undefined;
}

/** A template as its author wrote it: without the label that tells ReplicaSets apart. */
export function authoredTemplate(template: PodTemplate): Json {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** The name suffix of a ReplicaSet: equal templates hash alike, and `collisions` gives way to a name that is taken. */
export function templateHash(template: PodTemplate, collisions: number): string {
  const digits = String(fnv1a(`${canonical(authoredTemplate(template))}#${collisions}`));
  return [...digits].map((digit) => HASH_ALPHABET[Number(digit)]).join('');
}

/** No vowels and no look-alikes, so that no hash reads like a word. */
const HASH_ALPHABET = '456789bcdf';

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

function fnv1a(bytes: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i += 1) hash = Math.imul(hash ^ bytes.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The message of a refused request, for a condition. */
export const refusalOf = (body: KubeObject): string => text(record(body)['message']) ?? 'unknown';
