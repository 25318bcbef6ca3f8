import fc from 'fast-check';
import type { Instance, LedgerEntry, Slot, Trouble, WaitCause, Waiting } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
  emptied,
  entry,
  HOUR,
  instance,
  MINUTE,
  missing,
  NOW,
  OTHER_PASS,
  pool,
  refusal,
  SECOND,
  STALE,
  THIS_PASS,
  troubled,
  type World,
  waiting,
  withdrawn,
} from './_world.ts';

/**
 * Pools in the middle of things. The weights matter: left to themselves, generators make worlds in which nearly every slot is
 * claimed, odd or blocked, and no property about serving instances ever has anything to bite on.
 */

const pass = fc.constantFrom(THIS_PASS, THIS_PASS, OTHER_PASS);
const trouble = fc.constantFrom<Trouble>(
  'crash',
  'crash',
  'deadline',
  'quota',
  'unschedulable',
  'imagePull',
  'admission',
);
const ageMs = fc.constantFrom(0, SECOND, 9 * SECOND, 10 * SECOND, MINUTE, 3 * MINUTE, 2 * HOUR);

/** One instance, by what a person would call its state. */
function anInstance(slot: Slot): fc.Arbitrary<Instance> {
  const maybeStale = fc.constantFrom<Partial<Instance>>({}, {}, STALE);
  const one = (weight: number, arbitrary: fc.Arbitrary<Instance>) => ({ weight, arbitrary });
  const odd = fc.constantFrom<Partial<Instance>>(
    { refresh: true },
    { relabel: true },
    { dirt: 'used pod' },
    { absent: true, phase: 'pending' },
    { absent: true, phase: 'deleting', terminating: true },
    { claimable: false },
    { ...STALE, claimable: false, phase: 'pending' },
  );
  const begun = fc.constantFrom<Partial<Instance>>(
    {},
    {},
    STALE,
    STALE,
    { phase: 'pending' },
    { phase: 'deleting', terminating: true, absent: true },
    { dirt: 'allow-list' },
    { refresh: true },
  );
  return fc.oneof(
    one(3, fc.constant(instance(slot))),
    one(7, fc.constant(instance(slot, STALE))),
    one(
      1,
      maybeStale.map((differs) => instance(slot, { ...differs, phase: 'pending' })),
    ),
    one(
      2,
      fc.tuple(trouble, maybeStale).map(([cause, differs]) => troubled(slot, cause, differs)),
    ),
    one(
      2,
      odd.map((differs) => instance(slot, differs)),
    ),
    one(
      3,
      fc.tuple(begun, pass).map(([differs, by]) => withdrawn(slot, differs, by)),
    ),
    one(
      1,
      pass.map((by) => emptied(slot, by)),
    ),
    one(
      1,
      fc.tuple(trouble, pass).map(([cause, by]) => {
        const { phase, trouble: seen } = troubled(slot, cause);
        return withdrawn(slot, { phase, ...(seen && { trouble: seen }) }, by);
      }),
    ),
    one(
      1,
      pass.map((by) => withdrawn(slot, { withdrawn: { building: 'v1', pass: by } }, by)),
    ),
    one(1, fc.constantFrom(anchorless(slot), anchorless(slot, STALE), anchorless(slot, { absent: true }))),
    one(2, fc.constant(missing(slot))),
    one(2, inUse(slot)),
  );
}

/** Somebody holds it; whatever it is like, it may lack something, and may not look taken. */
function inUse(slot: Slot): fc.Arbitrary<Instance> {
  const email = { object: `ConfigMap/ide-${slot}-emails`, lacks: ['allow-list'] };
  const proxy = { object: `ConfigMap/ide-${slot}-proxy`, lacks: ['object'], made: true } as const;
  const needs = fc.constantFrom<Instance['needs']>([], [], [email], [proxy], [email, proxy]);
  const found = fc.constantFrom(
    instance(slot, STALE),
    instance(slot),
    instance(slot, { held: true }),
    troubled(slot, 'crash'),
  );
  const claimedBy = `session-${slot}`;
  return fc.tuple(found, needs, rarely(true, false)).map(([it, lacking, claimable]) => {
    return { ...it, claimedBy, claimable: claimable && !it.held, needs: lacking };
  });
}

const rarely = <T>(value: T, usually: T, often = 8): fc.Arbitrary<T> =>
  fc.oneof({ weight: often, arbitrary: fc.constant(usually) }, { weight: 1, arbitrary: fc.constant(value) });

/** A slot as found, with what the ledger and the waiting list say about it. */
interface Place {
  readonly instance: Instance;
  readonly entries: readonly LedgerEntry[];
  readonly waits: readonly Waiting[];
}

function aPlace(slot: Slot, target: boolean): fc.Arbitrary<Place> {
  const foreign = rarely<Partial<Instance>>({ foreign: `ConfigMap/ide-${slot}` }, {}, 20);
  const touched = fc.constantFrom<Partial<Instance>>(
    {},
    {},
    {
      anchor: { uid: `anchor-${slot}`, resourceVersion: '2', pass: OTHER_PASS },
    },
  );
  const found = fc.tuple(anInstance(slot), foreign, touched).map(([it, strange, seen]): Instance => {
    const standing = it.anchor !== undefined && it.withdrawn === undefined;
    return { ...it, target, ...(it.exists ? strange : {}), ...(standing ? seen : {}) };
  });
  return found.chain((it) => {
    const by = it.withdrawn?.pass;
    const mentioned = fc.tuple(
      by === undefined ? pass : fc.constantFrom(by, by, OTHER_PASS),
      fc.constantFrom('v2', 'v2', 'v1'),
      ageMs,
    );
    const some = mentioned.map(([by, revision, age]) => [
      entry(slot, { pass: by, revision, since: NOW - age }),
    ]);
    const weight = it.withdrawn === undefined ? 1 : 10;
    const entries = fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight, arbitrary: some });
    return fc.record({ instance: fc.constant(it), entries, waits: waitsOf(it) });
  });
}

/** What a slot waits for already, with a revision and a time that may or may not be over. */
function waitsOf({ slot, trouble: seen, exists, dirt }: Instance): fc.Arbitrary<readonly Waiting[]> {
  const cause: WaitCause | undefined = exists ? (dirt === undefined ? seen?.cause : 'dirty') : 'missing';
  if (cause === undefined) return rarely([waiting(slot, 'crash', { tries: 2 })], [] as Waiting[]);
  const revision = exists && dirt === undefined ? fc.constantFrom('v2', 'v2', 'v2', 'v1') : fc.constant('');
  const quotas = cause === 'quota' ? fc.constantFrom('', '+pods=10', '+pods=20') : fc.constant('');
  const list = fc
    .tuple(revision, quotas, ageMs, fc.nat({ max: 3 }))
    .map(([of, under, age, tries]) => [
      waiting(slot, cause, { revision: of + under, since: NOW - age, tries }),
    ]);
  return fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: list });
}

const circumstances: fc.Arbitrary<Circumstances> = fc
  .record({
    maxUnavailable: fc.constantFrom<number | string>('25%', '25%', 1, 2, 3, '50%', '100%'),
    operator: rarely<Circumstances['operator'] | 'dead'>({ startedAt: NOW - 5 * SECOND }, 'alive', 6).chain(
      (it) => fc.constantFrom(it, it, 'dead' as const),
    ),
    quiet: rarely(false, true, 3),
    paused: rarely(true, false),
    mode: rarely<'observe' | 'guard'>('observe', 'guard'),
    revision: rarely('unknown', 'v2', 25),
    leftovers: rarely<readonly string[]>(['ide-98-emails', 'ide-99'], []),
    quotas: fc.constantFrom('', 'pods=10', 'pods=20'),
    observedGeneration: rarely(0, 1, 20),
    refused: fc.constantFrom<WaitCause | undefined>(...Array(12).fill(undefined), 'quota', 'forbidden'),
    leavingBefore: rarely(true, false),
  })
  .map(({ operator, observedGeneration, refused, leavingBefore, ...its }) => {
    const lastTransitionTime = '2026-01-05T11:00:00Z';
    const said = {
      type: 'Leaving',
      status: 'True',
      reason: 'Finishing',
      message: '',
      lastTransitionTime,
    } as const;
    return {
      ...its,
      ...(operator === 'dead' || operator === undefined ? {} : { operator }),
      memory: { observedGeneration, conditions: leavingBefore ? [said] : [] },
      waiting:
        refused === undefined
          ? []
          : [waiting('*', refused, { revision: `v2${refused === 'quota' ? '+pods=10' : ''}` })],
    };
  });

/** A pool of up to twelve slots, a few of them surplus, in any state that a crash, a user or a release can leave. */
export const world: fc.Arbitrary<World> = fc
  .tuple(fc.integer({ min: 1, max: 10 }), fc.constantFrom(0, 0, 0, 1, 2))
  .chain(([replicas, extra]) => {
    const slots = Array.from({ length: replicas + extra }, (_, at) => aPlace(String(at + 1), at < replicas));
    return fc.tuple(fc.constant(replicas), fc.tuple(...slots), circumstances, refusedNow(replicas));
  })
  .map(([replicas, places, its, refusals]) => {
    const standing = places.flatMap((place) => (place.instance.exists ? [place.instance.slot] : []));
    const known = new Set(['*', ...standing, ...(its.leftovers ?? [])]);
    return pool(
      places.map((place) => place.instance),
      {
        ...its,
        replicas,
        refusals: refusals.filter(({ slot }) => known.has(slot)),
        ledger: places.flatMap(({ entries }) => entries),
        waiting: [...(its.waiting ?? []), ...places.flatMap(({ waits }) => waits)],
      },
    );
  });

/** What was refused a moment ago in this very pass: mostly nothing. */
function refusedNow(slots: number) {
  const slot = fc.integer({ min: 1, max: slots }).map(String);
  const some = fc.oneof(
    fc.constantFrom('quota', 'admission', 'forbidden').map((cause) => refusal(cause as 'quota')),
    fc
      .tuple(slot, fc.constantFrom('invalid', 'forbidden', 'admission'))
      .map(([at, cause]) => refusal(cause as 'invalid', at)),
    fc.constant(refusal('forbidden', 'ide-99')),
  );
  return fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: some.map((one) => [one]) },
  );
}
