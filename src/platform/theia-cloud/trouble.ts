import { z } from 'zod';
import type { KubeObject } from '../../kube/api.ts';
import type { Instance } from '../../pool/types.ts';

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

/** Why the Deployment is not available, as far as it and its pods tell. */
export function troubleOf(deployment: KubeObject, pods: readonly KubeObject[]): Instance['trouble'] {
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
