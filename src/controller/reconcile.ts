import type { Clock, Random } from '../clock.ts';
import type { KubeApi } from '../kube/api.ts';
import type { Observation, Platform, Request } from '../platform/platform.ts';
import { adoptWarmPool, createWarmPool, warmPoolReference, writeStatus } from '../platform/warm-pool.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';
import { isEmpty, planPool } from '../pool/plan.ts';
import type { Plan, Refusal } from '../pool/types.ts';
import { type ActResult, act, send } from './act.ts';
import { deedsOf } from './deeds.ts';
import type { Happening } from './events.ts';
import type { Report } from './outcome.ts';
import { turnsOf } from './turns.ts';
import { writeEvents } from './write-events.ts';

/** What a pass needs of the world; all of it is handed in. */
export interface ReconcileDeps {
  readonly api: KubeApi;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  /** Milliseconds that are left for this pass; unlimited by default. */
  readonly remainingMs?: () => number;
}

export interface Result {
  /** Look again after this long although nothing was said. */
  readonly requeueAfterMs?: number;
}

/** Between a fence and the first delete behind it: longer than the operator ever took between its list and its patch. */
const GRACE_MS = 2_000;
const ROUNDS_MAX = 12;
const CONFLICTS_MAX = 3;
const DEADLINE_RESERVE_MS = 5_000;
/** Of that reserve, what is left when the last Event is sent. */
const EVENTS_RESERVE_MS = 2_000;

/** One step towards the desired pool. Safe to run at any time, any number of times, beside itself. */
export async function reconcile(deps: ReconcileDeps, key: PoolKey): Promise<Result> {
  const pass = beginPass(deps);
  try {
    return await rounds(deps, key, pass);
  } finally {
    await tell(deps, key, pass);
  }
}

async function rounds(deps: ReconcileDeps, key: PoolKey, pass: Pass): Promise<Result> {
  let conflicts = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (!hasTime(deps)) return { requeueAfterMs: 0 };
    const look = await step(deps, key, pass);
    if (look.next === 'rest') return look.result;
    if (look.next === 'stop') return look.result.requeueAfterMs === undefined ? soon(deps) : look.result;
    if (look.next === 'conflict') conflicts += 1;
    if (conflicts > CONFLICTS_MAX) return soon(deps);
    pass.refusals = look.refusals;
  }
  return { requeueAfterMs: 0 };
}

/** What one pool's plan would be now, without writing anything. */
export async function planOnly(deps: Omit<ReconcileDeps, 'clock'>, key: PoolKey): Promise<Look | undefined> {
  const observation = await observeOne(deps, key, []);
  if (observation === undefined) return undefined;
  return { observation, plan: planOf(observation, beginPass(deps)) };
}

export interface Look {
  readonly observation: Observation;
  readonly plan: Plan;
}

interface Pass {
  readonly token: string;
  refusals: readonly Refusal[];
  /** What people are told of at its end. */
  readonly happenings: Happening[];
  /** The latest look at which something happened. */
  observation?: Observation;
}

interface Round {
  readonly next: ActResult['next'];
  readonly result: Result;
  readonly refusals: readonly Refusal[];
}

const REST: Round = { next: 'rest', result: {}, refusals: [] };

/** observe → plan → record → act. The status is written first: its ledger is what licenses the actions (P8). */
async function step(deps: ReconcileDeps, key: PoolKey, pass: Pass): Promise<Round> {
  const observation = await observeOne(deps, key, pass.refusals);
  if (observation === undefined) return REST;
  const plan = planOf(observation, pass);
  const result = requeueAt(plan, observation.now);
  const { warmPool, source, policy } = observation;
  if (policy.mode === 'guard' && !warmPool?.owners.includes(source.uid))
    return takeWarmPool(deps, observation);
  if (warmPool === undefined || !mayWrite(observation, plan)) return { ...REST, result };

  if (plan.changed) {
    const written = await record(deps, observation, writeStatus(key.namespace, warmPool, plan.status));
    if (written !== undefined) return written;
    announce(deps, observation, plan);
    note(pass, observation, turnsOf({ ...observation, refusals: pass.refusals, plan }));
  }
  return carryOut(deps, observation, plan, pass);
}

async function carryOut(
  deps: ReconcileDeps,
  observation: Observation,
  plan: Plan,
  pass: Pass,
): Promise<Round> {
  const { next, withdrew, refusals, done, retryAfterMs } = await act({
    api: deps.api,
    observation,
    plan,
    pass: pass.token,
    report: deps.report,
    hasTime: () => hasTime(deps),
  });
  note(pass, observation, deedsOf(done, { ...observation, plan }));
  if (next === 'stop')
    return { next, result: retryAfterMs === undefined ? {} : { requeueAfterMs: retryAfterMs }, refusals };
  if (withdrew) {
    if (!hasTime(deps, GRACE_MS)) return { ...REST, result: { requeueAfterMs: 0 } };
    await deps.clock.sleep(GRACE_MS);
  }
  const announced = next === 'rest' && plan.held.some(({ reason }) => reason === 'announced');
  return { next: announced ? 'again' : next, result: requeueAt(plan, observation.now), refusals };
}

function planOf({ desired, observed, policy, now }: Observation, pass: Pass): Plan {
  return planPool(desired, { ...observed, pass }, policy, now);
}

/** Nothing is written in `observe`, but what was begun is finished first (P21). */
function mayWrite({ policy }: Observation, plan: Plan): boolean {
  return !isEmpty(plan) && (policy.mode === 'guard' || plan.leaving);
}

/**
 * Makes the pool's WarmPool, or makes the source own the one that a person made. Without one nothing can be withdrawn, so
 * nothing is done: where none can be made, the pool is only observed (P21).
 */
async function takeWarmPool(deps: ReconcileDeps, { key, source, warmPool }: Observation): Promise<Round> {
  const { namespace, name } = key;
  const request =
    warmPool === undefined
      ? createWarmPool(namespace, name, source)
      : adoptWarmPool(namespace, warmPool, source);
  const failure = await send(deps.api, request);
  const pool = formatKey(key);
  if (failure === undefined) {
    deps.report({ type: 'PoolCreated', pool });
    return { ...REST, next: 'again' };
  }
  if (failure.kind === 'exists' || failure.kind === 'conflict') return { ...REST, next: 'conflict' };
  deps.report({
    type: 'PoolBlocked',
    pool,
    reason: 'ObserveOnly',
    message: `no WarmPool can be made: ${failure.message}`,
  });
  return failure.kind === 'notFound' || failure.kind === 'forbidden' ? REST : { ...REST, next: 'stop' };
}

async function record(
  deps: ReconcileDeps,
  { key }: Observation,
  request: Request,
): Promise<Round | undefined> {
  const failure = await send(deps.api, request);
  if (failure === undefined) return undefined;
  if (failure.kind === 'conflict' || failure.kind === 'notFound') return { ...REST, next: 'conflict' };
  const message = `writing the status: ${failure.kind}, ${failure.message}`;
  deps.report({ type: 'PassFailed', pool: formatKey(key), message });
  return {
    ...REST,
    next: 'stop',
    result: failure.kind === 'throttled' ? { requeueAfterMs: failure.retryAfterMs } : {},
  };
}

/** Says once, with the status write, what a person would ask about. */
function announce({ report }: ReconcileDeps, { key, observed }: Observation, { status }: Plan): void {
  const pool = formatKey(key);
  const was = (type: string) => observed.memory.conditions.find((c) => c.type === type);
  const is = (type: string) => status.conditions.find((c) => c.type === type);
  const degraded = is('Degraded');
  if (degraded?.status === 'True' && was('Degraded')?.message !== degraded.message) {
    report({ type: 'PoolBlocked', pool, reason: degraded.reason, message: degraded.message });
  }
  if (
    is('Progressing')?.status === 'False' &&
    was('Progressing')?.status === 'True' &&
    status.counts.stale === 0
  ) {
    report({ type: 'PoolConverged', pool, ready: status.counts.ready, claimed: status.counts.claimed });
  }
}

function note(pass: Pass, observation: Observation, happenings: readonly Happening[]): void {
  pass.happenings.push(...happenings);
  pass.observation = observation;
}

/** Kubernetes Events come last: whatever becomes of them, the pass is over and its result stands. */
async function tell(deps: ReconcileDeps, key: PoolKey, { happenings, observation }: Pass): Promise<void> {
  if (happenings.length === 0 || observation?.warmPool === undefined) return;
  const { source, warmPool, now } = observation;
  const subject = {
    namespace: key.namespace,
    pool: key.name,
    objects: [source, warmPoolReference(warmPool)],
    now,
  };
  const hasTimeLeft = () => deps.remainingMs === undefined || deps.remainingMs() > EVENTS_RESERVE_MS;
  const failure = await writeEvents(deps.api, subject, happenings, hasTimeLeft);
  if (failure === undefined) return;
  const { kind, message } = failure;
  deps.report({ type: 'EventsLost', pool: formatKey(key), kind, message });
}

async function observeOne(
  { api, platform }: Pick<ReconcileDeps, 'api' | 'platform'>,
  key: PoolKey,
  refusals: readonly Refusal[],
): Promise<Observation | undefined> {
  const { cluster, namespace, name } = key;
  const quota = refusals.some(({ cause }) => cause === 'quota');
  const [observation] = await platform.observe(api, { cluster, namespace, name }, { quota });
  return observation;
}

function requeueAt(plan: Plan, now: number): Result {
  return plan.nextCheckAt === undefined ? {} : { requeueAfterMs: Math.max(0, plan.nextCheckAt - now) };
}

function hasTime({ remainingMs }: ReconcileDeps, needMs = 0): boolean {
  return remainingMs === undefined || remainingMs() > DEADLINE_RESERVE_MS + needMs;
}

function soon({ random }: ReconcileDeps): Result {
  return { requeueAfterMs: 1_000 + Math.floor(random() * 4_000) };
}

function beginPass({ random }: Pick<ReconcileDeps, 'random'>): Pass {
  return { token: passToken(random), refusals: [], happenings: [] };
}

/** Tells this pass from every other one; no secret, only unlikely to come twice. */
function passToken(random: Random): string {
  return Array.from({ length: 10 }, () => Math.floor(random() * 36).toString(36)).join('');
}
