import { isBlocked } from '../pool/budget.ts';
import { timestamp } from '../pool/status.ts';
import {
  type Condition,
  type Instance,
  type Memory,
  type Observed,
  type Plan,
  type PoolStatus,
  type Refusal,
  type WaitCause,
  type Waiting,
  WHOLE_POOL,
} from '../pool/types.ts';
import { inWords, type Turn } from './events.ts';

/** What a plan was made from, and the plan. */
interface Basis {
  readonly observed: Pick<Observed, 'instances' | 'memory'>;
  /** What was refused so far in this pass. */
  readonly refusals: readonly Refusal[];
  readonly plan: Plan;
}

/** What turned with this plan's status. */
export function turnsOf({ observed, refusals, plan: { status, leaving } }: Basis): readonly Turn[] {
  const { memory, instances } = observed;
  return [
    needOf(memory, status, { instances, refusals }),
    pauseOf(memory, status),
    departureOf(memory, status),
    leaving ? undefined : convergenceOf(memory, status),
  ].filter((turn) => turn !== undefined);
}

interface Evidence {
  readonly instances: readonly Instance[];
  readonly refusals: readonly Refusal[];
}

/** Degraded: something needs a person, something else does, or nothing does any more. */
function needOf(was: Memory, is: PoolStatus, evidence: Evidence): Turn | undefined {
  const [before, now] = [conditionOf(was, 'Degraded'), conditionOf(is, 'Degraded')];
  if (now?.status !== 'True') {
    if (before?.status !== 'True') return undefined;
    const text = `Nothing needs a person any more. From ${before.lastTransitionTime} on it was ${before.reason}: ${before.message}`;
    return { reason: 'Recovered', type: 'Normal', key: before.reason, text };
  }
  if (before?.status === 'True' && essenceOf(before, was) === essenceOf(now, is)) return undefined;
  const causes =
    now.reason === 'Refused'
      ? refusalsIn(is, evidence)
      : now.reason === 'Blocked'
        ? troublesIn(is, evidence)
        : [];
  return causes.length > 0
    ? {
        reason: 'Blocked',
        type: 'Warning',
        key: causes.map(({ cause }) => cause).join('+'),
        text: causes.map(sentenceOf).join(' '),
      }
    : { reason: 'Problem', type: 'Warning', key: now.reason, text: `${now.reason}: ${now.message}` };
}

/** What makes one need another one than before: not how often something was tried. */
function essenceOf({ reason, message }: Condition, { waiting }: Memory): string {
  if (reason !== 'Refused') return `${reason} ${message}`;
  return `${reason} ${waiting
    .filter(isRefusal)
    .map(({ slot, cause }) => `${slot}/${cause}`)
    .sort()
    .join()}`;
}

function isRefusal({ slot, cause }: Waiting): boolean {
  return slot === WHOLE_POOL ? cause !== 'settling' : cause === 'forbidden' || cause === 'invalid';
}

/** One cause, and what it holds up. */
interface Hold {
  readonly cause: WaitCause;
  readonly slots: readonly string[];
  readonly detail: string;
  /** Epoch ms, of the longest wait. */
  readonly since: number | undefined;
}

function troublesIn({ waiting }: PoolStatus, { instances }: Evidence): readonly Hold[] {
  const blocked = instances.filter((i) => i.target && i.claimedBy === undefined && isBlocked(i));
  const causes = [...new Set(blocked.map(({ trouble }) => trouble?.cause))].filter(
    (cause) => cause !== undefined,
  );
  return causes.sort().map((cause) => {
    const these = blocked.filter(({ trouble }) => trouble?.cause === cause);
    const slots = these.map(({ slot }) => slot);
    const detail = these[0]?.trouble?.message ?? '';
    return { cause, slots, detail, since: sinceOf(waiting, cause, slots) };
  });
}

function refusalsIn({ waiting }: PoolStatus, { refusals }: Evidence): readonly Hold[] {
  const held = waiting.filter(isRefusal);
  const causes = [...new Set(held.map(({ cause }) => cause))].sort();
  return causes.map((cause) => {
    const slots = held.filter((w) => w.cause === cause).map(({ slot }) => slot);
    const said = refusals.find((refusal) => refusal.cause === cause || slots.includes(refusal.slot));
    return { cause, slots, detail: said?.message ?? '', since: sinceOf(waiting, cause, slots) };
  });
}

function sinceOf(
  waiting: readonly Waiting[],
  cause: WaitCause,
  slots: readonly string[],
): number | undefined {
  const times = waiting.filter((w) => w.cause === cause && slots.includes(w.slot)).map(({ since }) => since);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** What each cause means, and what a person can do about it. */
const CAUSES: Readonly<Record<WaitCause, readonly [meaning: string, cure: string]>> = {
  quota: ['the quota is used up', 'Raise the ResourceQuota or lower the number of instances.'],
  unschedulable: ['no node has room', 'Add nodes or free room on those that are there.'],
  storage: ['its volume is not bound, or does not go', 'Look at the PersistentVolumeClaim that is named.'],
  imagePull: [
    'the image cannot be pulled',
    'Correct its name or publish it; a fix rolls over these instances.',
  ],
  admission: ['an admission policy refuses them', 'Change the policy or what it refuses.'],
  crash: ['the instance crashes', 'Read the log of its pod.'],
  deadline: ['the instance does not get ready in time', 'Read the log of its pod.'],
  forbidden: ['Everwarm lacks a right', 'Grant it to the account that Everwarm runs as.'],
  invalid: ['the API server finds it invalid', 'Correct the definition of the pool.'],
  settling: ['the platform operator has the first word', 'It takes 15 seconds.'],
  ailing: ['the platform operator is given time to mend it', 'Look again in a while.'],
  missing: ['the platform operator may still make it', 'It takes 10 seconds.'],
  dirty: ['the platform operator may still clean it', 'It takes 10 seconds.'],
};

function sentenceOf({ cause, slots, detail, since }: Hold): string {
  const [meaning, cure] = CAUSES[cause];
  const whose = slots.includes(WHOLE_POOL) ? 'New instances' : inWords('slot', slots);
  const from = since === undefined ? '' : ` since ${timestamp(since)}`;
  const said = detail === '' ? '' : ` (${detail})`;
  return `${capitalised(whose)} wait${from}: ${meaning}${said}. ${cure}`;
}

/** A pause is one only where it holds something back. */
function pauseOf(was: Memory, is: PoolStatus): Turn | undefined {
  const [before, now] = [isPaused(was), isPaused(is)];
  if (before === now) return undefined;
  return now
    ? {
        reason: 'Paused',
        type: 'Normal',
        key: '',
        text: `Stale and kept until the pool is resumed: ${is.counts.stale}`,
      }
    : { reason: 'Resumed', type: 'Normal', key: '', text: 'Nothing is held back by a pause any more' };
}

function isPaused(memory: Memory): boolean {
  return conditionOf(memory, 'Progressing')?.reason === 'Paused';
}

function departureOf(was: Memory, is: PoolStatus): Turn | undefined {
  const [before, now] = [conditionOf(was, 'Leaving')?.status === 'True', conditionOf(is, 'Leaving')];
  if (now === undefined || before === (now.status === 'True')) return undefined;
  return before
    ? {
        reason: 'Left',
        type: 'Normal',
        key: '',
        text: 'Everwarm has let go of this pool: nothing is withdrawn any more',
      }
    : {
        reason: 'Leaving',
        type: 'Normal',
        key: '',
        text: `Everwarm only observes from now on; it finishes first: ${now.message}`,
      };
}

/** The last replacement under way is done. Its revision is what everybody gets from now on. */
function convergenceOf(was: Memory, { ledger, counts, revision }: PoolStatus): Turn | undefined {
  if (was.ledger.length === 0 || ledger.length > 0 || counts.stale > 0 || revision === undefined)
    return undefined;
  const kept =
    counts.claimedStale === 0 ? '' : `; claimed and stale, kept for their users: ${counts.claimedStale}`;
  const text = `Every free instance is current (revision ${revision}): ${counts.ready} ready, ${counts.claimed} claimed${kept}`;
  return { reason: 'Converged', type: 'Normal', key: revision, text };
}

function conditionOf({ conditions }: Memory, type: Condition['type']): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
