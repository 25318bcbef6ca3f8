import {
  type Ailment,
  type Desired,
  type Instance,
  type Observed,
  type Policy,
  type WaitCause,
  type Waiting,
  WHOLE_POOL,
} from './types.ts';

/** Beside a running operator nobody races its own creation: it has the first word for this long. */
const SETTLING_MS = 15_000;
/** An empty slot is filled beside a running operator only after it was missing for this long. */
const MISSING_MS = 10_000;
/** A slot that its user just left is the operator's to clean for this long. */
const DIRTY_MS = 10_000;

/** Within this time the operator mends by itself what it notices. */
const AILING_MS = 15_000;
const REMEDY_BASE_MS = 20_000;
/** So often the last remedy is tried once more. */
const REPEATS_MAX = 2;

const RETRY_BASE_MS = 10_000;
const RENEW_BASE_MS = 60_000;
const RETRY_MAX_MS = 600_000;
const RENEW_MAX_MS = 3_600_000;

/** Epoch ms at which `entry` asks for another look; `undefined` when only a change outside can end it. */
export function dueAt(entry: Waiting): number | undefined {
  switch (entry.cause) {
    case 'settling':
      return entry.since + SETTLING_MS;
    case 'missing':
      return entry.since + MISSING_MS;
    case 'dirty':
      return entry.since + DIRTY_MS;
    case 'ailing':
      return (
        entry.since +
        (entry.tries === 0 ? AILING_MS : Math.min(RENEW_MAX_MS, REMEDY_BASE_MS * 2 ** (entry.tries - 1)))
      );
    case 'unschedulable':
    case 'storage':
    case 'imagePull':
      return undefined;
    case 'crash':
    case 'deadline':
      return entry.since + Math.min(RENEW_MAX_MS, RENEW_BASE_MS * 2 ** entry.tries);
    default:
      return entry.since + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** entry.tries);
  }
}

/** True while `entry` still holds its slot (or pool) back. */
export function isHeld(entry: Waiting, now: number): boolean {
  const due = dueAt(entry);
  return due === undefined || due > now;
}

/** Every remedy was tried and given its time, the last one repeatedly: now a person must look. */
export function isGivenUp({ remedies }: Ailment, entry: Waiting | undefined, now: number): boolean {
  return entry !== undefined && entry.tries >= remedies.length + REPEATS_MAX && !isHeld(entry, now);
}

/** The earliest due time that is still to come. A pure function of the entries. */
export function nextDue(waiting: readonly Waiting[], now: number): number | undefined {
  const dues = waiting.map(dueAt).filter((due) => due !== undefined && due > now) as number[];
  return dues.length === 0 ? undefined : Math.min(...dues);
}

/** What is waited for now: entries that stand on, keep their `since` and `tries`; the others begin or end here. */
export function reviewWaiting(
  desired: Desired,
  observed: Observed,
  policy: Policy,
  now: number,
): readonly Waiting[] {
  const prior = new Map<string, Waiting[]>();
  for (const entry of observed.memory.waiting)
    prior.set(entry.slot, [...(prior.get(entry.slot) ?? []), entry]);
  const review: Review = { desired, observed, mode: policy.mode, prior, now };
  const entries = [
    settling(review),
    ...observed.instances.flatMap((instance) => slotWaiting(review, instance)),
    ...refused(review),
  ];
  return entries.filter((entry) => entry !== undefined).sort(byName);
}

interface Review {
  readonly desired: Desired;
  readonly observed: Observed;
  readonly mode: Policy['mode'];
  /** The entries that stand, by slot. */
  readonly prior: ReadonlyMap<string, readonly Waiting[]>;
  readonly now: number;
}

/** The entry after one more try that did not help yet. */
export function tried(entry: Waiting, now: number): Waiting {
  return { ...entry, since: now, tries: entry.tries + 1 };
}

/** What a refused or blocked action is keyed by: another revision, or other quotas, start afresh. */
export function attempt(cause: WaitCause, desired: Desired, observed: Observed): string {
  const revision = desired.revision ?? '';
  return cause === 'quota' && observed.quotas !== '' ? `${revision}+${observed.quotas}` : revision;
}

function settling({ desired, observed, mode, prior, now }: Review): Waiting | undefined {
  if (!observed.operator.alive) return undefined;
  const revision = String(desired.sourceCounter);
  // In `observe` nothing is remembered: what was seen last is not known, and every look would begin anew.
  const changed = mode === 'guard' && observed.memory.observedGeneration !== desired.sourceCounter;
  const standing = find(prior, { slot: WHOLE_POOL, cause: 'settling', revision });
  const since = Math.max(observed.operator.startedAt, changed ? now : (standing?.since ?? 0));
  if (since + SETTLING_MS <= now) return undefined;
  return { slot: WHOLE_POOL, cause: 'settling', revision, since, tries: 0 };
}

function slotWaiting(review: Review, instance: Instance): readonly Waiting[] {
  const { slot, ailment, claimedBy } = instance;
  if (ailment === undefined) return madeWaiting(review, instance);
  const isTreatable = claimedBy === undefined && ailment.remedies.length > 0;
  return isTreatable ? [entry(review, slot, 'ailing', ailment.key)] : [];
}

function madeWaiting(review: Review, instance: Instance): readonly Waiting[] {
  const { desired, observed, prior } = review;
  const { slot, trouble } = instance;
  if (!instance.target || instance.claimedBy !== undefined) return [];
  const treated = (prior.get(slot) ?? []).filter((w) => isTreated(review, instance, w));
  if (treated.length > 0) return treated;
  if (observed.operator.alive && isUnmade(review, instance)) return [entry(review, slot, 'missing', '')];
  if (observed.operator.alive && isBeingCleaned(review, instance)) return [entry(review, slot, 'dirty', '')];
  if (!instance.exists || instance.dirt !== undefined) return [];
  if (instance.phase === 'ready' || instance.drift.length > 0) return [];

  const standing = (prior.get(slot) ?? []).filter((w) => sameRevision(w, desired));
  // Between a retry and its outcome the entry stands on, or the next retry would come as early as the first.
  if (trouble === undefined) return standing.filter(isRetry);
  // Other quotas keep the entry: the planner sees the old fingerprint in it and acts at once.
  const same = standing.find((w) => w.cause === trouble.cause);
  return [same ?? entry(review, slot, trouble.cause, attempt(trouble.cause, desired, observed))];
}

/** Until it is well and its time is over the entry stands on: what falls ill again does not begin with the first remedy. */
function isTreated({ now }: Review, { phase }: Instance, entry: Waiting): boolean {
  return entry.cause === 'ailing' && entry.tries > 0 && (phase !== 'ready' || isHeld(entry, now));
}

/**
 * Nothing stands, or only parts that nobody can be handed, or whoever began to make it has not had its time yet. What the
 * ledger holds is ours to finish.
 */
function isUnmade({ observed, prior, now }: Review, { slot, exists, anchor, absent }: Instance): boolean {
  if (!exists) return true;
  const begun = find(prior, { slot, cause: 'missing', revision: '' });
  if (absent && begun !== undefined && isHeld(begun, now)) return true;
  return anchor === undefined && !observed.memory.ledger.some((one) => one.slot === slot);
}

/** A release is over when the instance is ready again, not when its last trace is wiped off. */
function isBeingCleaned({ prior, now }: Review, { slot, dirt, phase }: Instance): boolean {
  if (dirt !== undefined) return true;
  const standing = find(prior, { slot, cause: 'dirty', revision: '' });
  return standing !== undefined && isHeld(standing, now) && phase !== 'ready';
}

/** The entry that stands, or one that begins now. */
function entry({ prior, now }: Review, slot: string, cause: WaitCause, revision: string): Waiting {
  return find(prior, { slot, cause, revision }) ?? { slot, cause, revision, since: now, tries: 0 };
}

function refused({ desired, observed, prior, now }: Review): readonly Waiting[] {
  const fresh = new Map<string, Waiting>();
  for (const { slot, cause: said } of observed.pass.refusals) {
    // Of one slot, quota and admission are the troubles of its own instance: what the API refuses there is forbidden.
    const cause = slot === WHOLE_POOL || said === 'invalid' ? said : 'forbidden';
    const revision = attempt(cause, desired, observed);
    const standing = find(prior, { slot, cause, revision });
    const tries = standing === undefined ? 0 : standing.tries + 1;
    fresh.set(`${slot}/${cause}`, { slot, cause, revision, since: now, tries });
  }
  const standing = observed.memory.waiting.filter(
    (w) =>
      isRefusal(w, observed) &&
      !fresh.has(`${w.slot}/${w.cause}`) &&
      w.revision === attempt(w.cause, desired, observed),
  );
  const stillNeeded = observed.instances.some(
    (i) => i.target && i.claimedBy === undefined && (i.absent || !i.exists || i.anchor === undefined),
  );
  return [...fresh.values(), ...standing].filter((w) =>
    w.slot === WHOLE_POOL ? stillNeeded : (dueAt(w) ?? 0) + RETRY_MAX_MS > now,
  );
}

/** Refusals are told from an instance's own trouble by their slot, or by a cause that no instance has by itself. */
function isRefusal(entry: Waiting, observed: Observed): boolean {
  if (entry.slot === WHOLE_POOL) return true;
  const known =
    observed.leftovers.includes(entry.slot) ||
    observed.instances.some(
      ({ slot, exists, needs }) =>
        (slot === entry.slot && exists) || needs.some(({ object }) => object === entry.slot),
    );
  return known && (entry.cause === 'forbidden' || entry.cause === 'invalid');
}

function isRetry(entry: Waiting): boolean {
  return entry.cause === 'crash' || entry.cause === 'deadline' || entry.cause === 'quota';
}

function sameRevision(entry: Waiting, desired: Desired): boolean {
  return entry.revision.split('+')[0] === desired.revision;
}

function find(
  prior: ReadonlyMap<string, readonly Waiting[]>,
  { slot, cause, revision }: Pick<Waiting, 'slot' | 'cause' | 'revision'>,
): Waiting | undefined {
  return prior.get(slot)?.find((w) => w.cause === cause && w.revision === revision);
}

function byName(a: Waiting, b: Waiting): number {
  return `${a.slot}/${a.cause}` < `${b.slot}/${b.cause}` ? -1 : 1;
}
