import { z } from 'zod';
import type { KubeObject, OwnerReference, Resource } from '../kube/api.ts';
import { timestamp } from '../pool/status.ts';
import type { Memory, Policy, PoolStatus, Release } from '../pool/types.ts';
import type { Request, WarmPool } from './platform.ts';
import { wrongIn } from './wrong.ts';

export const WARM_POOLS: Resource = {
  group: 'everwarm.dev',
  version: 'v1alpha1',
  kind: 'WarmPool',
  plural: 'warmpools',
  namespaced: true,
};
const API_VERSION = 'everwarm.dev/v1alpha1';

/** Annotations of ours, on anchors and on the WarmPool. */
export const BUILDING_ANNOTATION = 'everwarm.dev/building';
export const PASS_ANNOTATION = 'everwarm.dev/pass';
export const EMPTIED_ANNOTATION = 'everwarm.dev/emptied';
export const REFRESH_ANNOTATION = 'everwarm.dev/refresh';
/** uids of what served a user and must not stand when the slot is handed out again. */
export const USED_ANNOTATION = 'everwarm.dev/used';
export const NUDGE_ANNOTATION = 'everwarm.dev/nudge';
/** On the WarmPool: a release that is being prepared, as `<generation of its source>/<until, RFC 3339>`. */
export const RELEASE_ANNOTATION = 'everwarm.dev/release';
/** On a definition or its WarmPool: a difference between the operator's templates and ours that a person accepted. */
export const ACCEPT_ANNOTATION = 'everwarm.dev/accept-template';
/** Labels of ours, on parts: the revision they were rendered for, the pass that took them over. */
export const REVISION_LABEL = 'everwarm.dev/revision';
export const PASS_LABEL = 'everwarm.dev/pass';

const TimeSchema = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const MemorySchema = z.looseObject({
  observedGeneration: z.int().optional(),
  revision: z.string().optional(),
  adopted: z.boolean().optional(),
  counts: z
    .object({
      desired: z.int(),
      ready: z.int(),
      current: z.int(),
      stale: z.int(),
      claimed: z.int(),
      claimedStale: z.int(),
      claimedSurplus: z.int(),
      failed: z.int(),
      blocked: z.int(),
    })
    .optional(),
  ledger: z
    .array(
      z.object({
        slot: z.string(),
        anchor: z.string().optional(),
        workload: z.string().optional(),
        revision: z.string(),
        pass: z.string(),
        since: TimeSchema,
        short: z.int().min(0).optional(),
      }),
    )
    .default([]),
  waiting: z
    .array(
      z.object({
        slot: z.string(),
        cause: z.enum([
          'quota',
          'unschedulable',
          'storage',
          'imagePull',
          'admission',
          'crash',
          'deadline',
          'settling',
          'missing',
          'dirty',
          'ailing',
          'forbidden',
          'invalid',
        ]),
        revision: z.string(),
        since: TimeSchema,
        tries: z.int().min(0),
      }),
    )
    .default([]),
  nextCheckAt: TimeSchema.optional(),
  conditions: z
    .array(
      z.object({
        type: z.enum(['Ready', 'Current', 'Progressing', 'Degraded', 'Leaving']),
        status: z.enum(['True', 'False']),
        reason: z.string(),
        message: z.string(),
        lastTransitionTime: z.string(),
      }),
    )
    .default([]),
});

const SpecSchema = z.looseObject({
  mode: z.enum(['observe', 'guard']).optional(),
  paused: z.boolean().default(false),
  staleness: z.enum(['fields', 'generation']).default('fields'),
  claims: z.looseObject({ hold: z.boolean().default(true) }).default({ hold: true }),
  rollout: z
    .looseObject({
      maxUnavailable: z.union([z.int().min(1), z.string().regex(/^(100|[1-9]?[0-9])%$/)]).default('25%'),
    })
    .default({ maxUnavailable: '25%' }),
});

/** A WarmPool as read: its policy and memory, or the reason why it does not parse. */
export interface ReadWarmPool {
  readonly ref: WarmPool;
  readonly policy: Policy;
  readonly staleness: 'fields' | 'generation';
  /** Claimed instances keep our reference, so that a released one is handed out only when it is fresh. */
  readonly hold: boolean;
  readonly memory: Memory;
  /** The difference between templates that a person accepted. */
  readonly accepted?: string;
  /** When a person asked for new instances, by slot; `*` for all. Epoch ms. */
  readonly refresh: ReadonlyMap<string, number>;
  readonly problem?: string;
}

export const NO_MEMORY: Memory = { ledger: [], waiting: [], conditions: [] };

/**
 * The mode of pools whose WarmPool names none. `asFound`, for who only passes by: guarded is where somebody has written a status
 * and has not left.
 */
export type UnnamedMode = Policy['mode'] | 'asFound';

function foundMode({ observedGeneration, conditions }: Memory): Policy['mode'] {
  const isLeft = conditions.some(({ type }) => type === 'Leaving');
  return observedGeneration === undefined || isLeft ? 'observe' : 'guard';
}

/** What is assumed of a pool that has no WarmPool yet. */
export function defaultPolicy(unnamed: UnnamedMode): Policy {
  const mode = unnamed === 'asFound' ? 'observe' : unnamed;
  return { mode, paused: false, maxUnavailable: '25%' };
}

/** Reads a WarmPool; one that does not parse keeps its ledger if it can and carries the first problem. */
export function readWarmPool(object: KubeObject, unnamed: UnnamedMode): ReadWarmPool {
  const spec = SpecSchema.safeParse(object['spec'] ?? {});
  const memory = MemorySchema.safeParse(object['status'] ?? {});
  const { metadata } = object;
  const accepted = metadata.annotations?.[ACCEPT_ANNOTATION];
  const base = {
    ref: {
      name: metadata.name,
      uid: metadata.uid ?? '',
      resourceVersion: metadata.resourceVersion ?? '',
      owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
    },
    memory: memory.success ? (memory.data as Memory) : NO_MEMORY,
    refresh: refreshTimes(metadata.annotations ?? {}),
    ...(accepted === undefined ? {} : { accepted }),
  };
  const mode = unnamed === 'asFound' ? foundMode(base.memory) : unnamed;
  if (!spec.success) {
    const [issue] = spec.error.issues;
    const problem = `spec.${(issue?.path ?? []).map(String).join('.')} ${wrongIn(issue)}`;
    return { ...base, policy: defaultPolicy(mode), staleness: 'fields', hold: true, problem };
  }
  const { data } = spec;
  const release = releaseOf(metadata.annotations?.[RELEASE_ANNOTATION]);
  const policy: Policy = {
    mode: data.mode ?? mode,
    paused: data.paused,
    maxUnavailable: data.rollout.maxUnavailable,
    ...(release === undefined ? {} : { release }),
  };
  return { ...base, policy, staleness: data.staleness, hold: data.claims.hold };
}

/** The request that makes a pool's WarmPool, beside its source and owned by it. */
export function createWarmPool(namespace: string, name: string, source: OwnerReference): Request {
  const body = {
    apiVersion: API_VERSION,
    kind: 'WarmPool',
    metadata: { name, namespace, ownerReferences: [source] },
    spec: {},
  };
  return { verb: 'create', resource: WARM_POOLS, namespace, body };
}

/** The request that makes the source own a WarmPool which a person made: it is the pool's policy (P13). */
export function adoptWarmPool(namespace: string, pool: WarmPool, source: OwnerReference): Request {
  const first = pool.owners.length === 0;
  return {
    verb: 'patch',
    resource: WARM_POOLS,
    namespace,
    name: pool.name,
    resourceVersion: pool.resourceVersion,
    patch: [
      { op: 'test', path: '/metadata/resourceVersion', value: pool.resourceVersion },
      { op: 'add', path: `/metadata/ownerReferences${first ? '' : '/-'}`, value: first ? [source] : source },
    ],
  };
}

/** The compare-and-swap on the pool's status, ledger included (P8). */
export function writeStatus(namespace: string, pool: WarmPool, status: PoolStatus): Request {
  return {
    verb: 'patch',
    resource: WARM_POOLS,
    namespace,
    name: pool.name,
    subresource: 'status',
    resourceVersion: pool.resourceVersion,
    patch: [
      { op: 'test', path: '/metadata/resourceVersion', value: pool.resourceVersion },
      { op: 'add', path: '/status', value: statusBody(status) },
    ],
  };
}

/** A WarmPool as an owner: what withdraws an anchor. */
export function warmPoolReference({ name, uid }: WarmPool): OwnerReference {
  return { apiVersion: API_VERSION, kind: 'WarmPool', name, uid };
}

function statusBody({ nextCheckAt, ledger, waiting, ...rest }: PoolStatus): unknown {
  const dated = <T extends { readonly since: number }>(entry: T) => ({
    ...entry,
    since: timestamp(entry.since),
  });
  return {
    ...rest,
    ledger: ledger.map(dated),
    waiting: waiting.map(dated),
    ...(nextCheckAt === undefined ? {} : { nextCheckAt: timestamp(nextCheckAt) }),
  };
}

/** The value of the annotation that begins a release. */
export function releaseMark({ counter, until }: Release): string {
  return `${counter}/${timestamp(until)}`;
}

/** What cannot be read is as good as none: nobody is kept waiting by a slip of the pen. */
function releaseOf(text: string | undefined): Release | undefined {
  const [, counter = '', until = ''] = /^([0-9]{1,15})\/(.+)$/.exec(text ?? '') ?? [];
  const time = Date.parse(until);
  return Number.isFinite(time) ? { counter: Number(counter), until: time } : undefined;
}

function refreshTimes(annotations: Readonly<Record<string, string>>): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [name, value] of Object.entries(annotations)) {
    const slot =
      name === REFRESH_ANNOTATION
        ? '*'
        : name.startsWith(`${REFRESH_ANNOTATION}-`)
          ? name.slice(REFRESH_ANNOTATION.length + 1)
          : undefined;
    const time = Date.parse(value);
    if (slot !== undefined && Number.isFinite(time)) times.set(slot, time);
  }
  return times;
}
