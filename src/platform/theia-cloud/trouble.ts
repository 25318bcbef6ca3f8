import { z } from 'zod';
import type { KubeObject } from '../../kube/api.ts';
import type { Instance, Trouble } from '../../pool/types.ts';
import { APP_LABEL } from './labels.ts';
import { objectsOf } from './parts.ts';
import { isGoing, type SlotView } from './slot-view.ts';

const ConditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});
const DeploymentStatusSchema = z.object({
  observedGeneration: z.int().default(0),
  availableReplicas: z.int().default(0),
  conditions: z.array(ConditionSchema).default([]),
});
const PodStatusSchema = z.object({
  conditions: z.array(ConditionSchema).default([]),
  containerStatuses: z
    .array(
      z.object({
        state: z.object({ waiting: z.object({ reason: z.string().default('') }).optional() }).default({}),
      }),
    )
    .default([]),
});

const VolumeStatusSchema = z.object({ phase: z.string().optional() });

/** How long a volume may take to be bound, or to go. */
const VOLUME_MAX_MS = 60_000;

const PULL_REASONS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);

/** The Deployment has a pod that was ready, and its status speaks of its present spec. */
export function isAvailable(deployment: KubeObject): boolean {
  const status = statusOf(deployment);
  return (
    status.observedGeneration >= (deployment.metadata.generation ?? 0) &&
    status.availableReplicas >= 1 &&
    status.conditions.some((c) => c.type === 'Available' && c.status === 'True')
  );
}

/** Why the instance is not ready, as far as its Deployments, their pods and its volume tell. */
export function troubleIn({ parts, pods, sidecarPods, now }: SlotView): Instance['trouble'] {
  const all = [...pods, ...sidecarPods];
  const found = objectsOf(parts)
    .filter((part) => part.kind === 'Deployment' && !isGoing(part) && !isAvailable(part))
    .map((deployment) =>
      troubleOf(
        deployment,
        all.filter((pod) => belongsTo(pod, deployment)),
      ),
    )
    .filter((trouble) => trouble !== undefined);
  const [first] = [...found].sort((a, b) => Number(hidesVolume(a)) - Number(hidesVolume(b)));
  if (first !== undefined && !hidesVolume(first)) return first;
  return volumeTrouble(parts.volumeClaim, now) ?? first;
}

/** A pod without its volume finds no node, and no end: the volume tells more. */
function hidesVolume({ cause }: { readonly cause: Trouble }): boolean {
  return cause === 'unschedulable' || cause === 'deadline';
}

/** A claim that nobody bound, or that somebody keeps from going. */
function volumeTrouble(claim: KubeObject | undefined, now: number): Instance['trouble'] {
  if (claim === undefined) return undefined;
  const { name, creationTimestamp, deletionTimestamp } = claim.metadata;
  const { phase } = VolumeStatusSchema.safeParse(claim['status'] ?? {}).data ?? {};
  const isLate = (since: string | undefined) => Date.parse(since ?? '') + VOLUME_MAX_MS <= now;
  if (deletionTimestamp !== undefined) {
    if (!isLate(deletionTimestamp)) return undefined;
    const message = `PersistentVolumeClaim ${name} is being deleted since ${deletionTimestamp}: look for the pod that uses it, or the finalizer that holds it`;
    return { cause: 'storage', message };
  }
  if (phase !== 'Pending' || !isLate(creationTimestamp)) return undefined;
  const message = `PersistentVolumeClaim ${name} is Pending since ${creationTimestamp}: look at its events and its storage class`;
  return { cause: 'storage', message };
}

function belongsTo(pod: KubeObject, { spec }: KubeObject): boolean {
  const { matchLabels } = (spec as { selector?: { matchLabels?: Record<string, string> } }).selector ?? {};
  return pod.metadata.labels?.[APP_LABEL] === matchLabels?.[APP_LABEL];
}

/** Why the Deployment is not available, as far as it and its pods tell. */
function troubleOf(deployment: KubeObject, pods: readonly KubeObject[]): Instance['trouble'] {
  const { conditions } = statusOf(deployment);
  const refused = conditions.find((c) => c.type === 'ReplicaFailure' && c.status === 'True');
  if (refused !== undefined) {
    const message = refused.message ?? '';
    return { cause: message.includes('exceeded quota') ? 'quota' : 'admission', message };
  }
  const ofPod = pods.map(podTrouble).find((trouble) => trouble !== undefined);
  if (ofPod !== undefined) return ofPod;
  const late = conditions.find((c) => c.type === 'Progressing' && c.reason === 'ProgressDeadlineExceeded');
  return late === undefined ? undefined : { cause: 'deadline', message: late.message ?? '' };
}

function podTrouble(pod: KubeObject): Instance['trouble'] {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const status = PodStatusSchema.safeParse(pod['status'] ?? {}).data;
  const unschedulable = status?.conditions.find(
    (c) => c.type === 'PodScheduled' && c.reason === 'Unschedulable',
  );
  if (unschedulable !== undefined) return { cause: 'unschedulable', message: unschedulable.message ?? '' };
  const reasons = status?.containerStatuses.map(({ state }) => state.waiting?.reason ?? '') ?? [];
  const pull = reasons.find((reason) => PULL_REASONS.has(reason));
  if (pull !== undefined) return { cause: 'imagePull', message: pull };
  return reasons.includes('CrashLoopBackOff') ? { cause: 'crash', message: 'CrashLoopBackOff' } : undefined;
}

function statusOf(deployment: KubeObject): z.infer<typeof DeploymentStatusSchema> {
  return (
    DeploymentStatusSchema.safeParse(deployment['status'] ?? {}).data ?? DeploymentStatusSchema.parse({})
  );
}
