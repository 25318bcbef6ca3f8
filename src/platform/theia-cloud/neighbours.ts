import { z } from 'zod';
import type { KubeObject } from '../../kube/api.ts';
import { revisionOf } from '../../pool/revision.ts';
import type { Observed } from '../../pool/types.ts';
import type { Snapshot } from './read.ts';

const LeaseSchema = z.object({
  spec: z.object({
    holderIdentity: z.string().nullish(),
    acquireTime: z.string().nullish(),
    renewTime: z.string().nullish(),
    leaseDurationSeconds: z.int().default(15),
  }),
});
const SessionSchema = z.object({
  metadata: z.object({ creationTimestamp: z.string().optional() }),
  spec: z.object({ appDefinition: z.string() }),
  status: z.object({ operatorStatus: z.string().optional() }).default({}),
});
const QuotaSchema = z.object({
  spec: z
    .object({ hard: z.record(z.string(), z.union([z.string(), z.number()])).default({}) })
    .default({ hard: {} }),
  status: z
    .object({ used: z.record(z.string(), z.union([z.string(), z.number()])).default({}) })
    .default({ used: {} }),
});

/** A Session that was not settled for this long is stuck: nobody is about to be handed anything for it. */
const UNSETTLED_MAX_MS = 30_000;

/** The Java operator, by its Lease. */
export function operatorOf({ lease, leaseReadAt }: Snapshot): Observed['operator'] {
  const spec = LeaseSchema.safeParse(lease).data?.spec;
  const renewedAt = Date.parse(spec?.renewTime ?? '');
  const held = (spec?.holderIdentity ?? '') !== '';
  if (spec === undefined || !held || Number.isNaN(renewedAt)) return { alive: false, startedAt: 0 };
  const startedAt = Date.parse(spec.acquireTime ?? '');
  const alive = renewedAt + spec.leaseDurationSeconds * 1_000 > leaseReadAt;
  return { alive, startedAt: Number.isNaN(startedAt) ? 0 : startedAt };
}

/** No Session of the pool is on its way to an instance. */
export function isQuiet({ sessions, now }: Snapshot, appDefinition: string, operatorAlive: boolean): boolean {
  if (!operatorAlive) return true;
  return ![...sessions.values()].some((object) => {
    const session = SessionSchema.safeParse(object).data;
    if (session?.spec.appDefinition !== appDefinition) return false;
    const settled = ['HANDLED', 'ERROR'].includes(session.status.operatorStatus ?? '');
    const createdAt = Date.parse(session.metadata.creationTimestamp ?? '');
    return !settled && createdAt + UNSETTLED_MAX_MS > now;
  });
}

/** Changes when a quota is set anew, or when one that was used up has room again. */
export function quotaFingerprint(quotas: readonly KubeObject[]): string {
  if (quotas.length === 0) return '';
  const essence = quotas.map((quota) => {
    const { spec, status } = QuotaSchema.parse(quota);
    const full = Object.entries(spec.hard).filter(
      ([name, hard]) => String(status.used[name] ?? '') === String(hard),
    );
    return [quota.metadata.name, spec.hard, full.map(([name]) => name)];
  });
  return revisionOf(essence).slice(-6);
}
