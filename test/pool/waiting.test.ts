import { describe, expect, it } from 'vitest';
import type { Instance, WaitCause, Waiting } from '../../src/pool/types.ts';
import { attempt, dueAt, isHeld, nextDue, reviewWaiting, tried } from '../../src/pool/waiting.ts';
import {
  anchorless,
  type Circumstances,
  claimed,
  entry,
  HOUR,
  instance,
  MINUTE,
  missing,
  NOW,
  pool,
  refusal,
  SECOND,
  STALE,
  surplus,
  troubled,
  waiting,
  withdrawn,
} from './_world.ts';

function waitsFor(slots: readonly Instance[], its: Circumstances = {}): readonly Waiting[] {
  const { desired, observed, policy, now } = pool(slots, its);
  return reviewWaiting(desired, observed, policy, now);
}

const sinceThen = NOW - MINUTE;

it.each<{ cause: WaitCause; first: number; second: number; most: number }>([
  { cause: 'crash', first: MINUTE, second: 2 * MINUTE, most: HOUR },
  { cause: 'deadline', first: MINUTE, second: 2 * MINUTE, most: HOUR },
  { cause: 'quota', first: 10 * SECOND, second: 20 * SECOND, most: 10 * MINUTE },
  { cause: 'admission', first: 10 * SECOND, second: 20 * SECOND, most: 10 * MINUTE },
  { cause: 'forbidden', first: 10 * SECOND, second: 20 * SECOND, most: 10 * MINUTE },
  { cause: 'invalid', first: 10 * SECOND, second: 20 * SECOND, most: 10 * MINUTE },
])('the back-off after $cause doubles with every try, up to a limit', ({ cause, first, second, most }) => {
  const after = (tries: number) => (dueAt(waiting('1', cause, { tries })) ?? 0) - NOW;
  expect([after(0), after(1), after(30)]).toEqual([first, second, most]);
});

it.each<{ cause: WaitCause; ms: number }>([
  { cause: 'settling', ms: 15 * SECOND },
  { cause: 'missing', ms: 10 * SECOND },
  { cause: 'dirty', ms: 10 * SECOND },
])('$cause has one fixed time, however often it was tried', ({ cause, ms }) => {
  expect(dueAt(waiting('1', cause))).toBe(NOW + ms);
  expect(dueAt(waiting('1', cause, { tries: 5 }))).toBe(NOW + ms);
});

it.each<WaitCause>(['unschedulable', 'imagePull'])('only a change outside ends %s', (cause) => {
  expect(dueAt(waiting('1', cause))).toBeUndefined();
  expect(isHeld(waiting('1', cause), NOW + HOUR)).toBe(true);
});

it('a slot is held back until its time, and not at its time any more', () => {
  const one = waiting('1', 'missing');
  expect([isHeld(one, NOW), isHeld(one, NOW + 10 * SECOND - 1), isHeld(one, NOW + 10 * SECOND)]).toEqual([
    true,
    true,
    false,
  ]);
});

it('the next look is due when the first of those that still wait is', () => {
  const list = [
    waiting('1', 'crash'),
    waiting('2', 'missing'),
    waiting('3', 'imagePull'),
    waiting('4', 'missing', { since: NOW - 10 * SECOND }),
  ];
  expect(nextDue(list, NOW)).toBe(NOW + 10 * SECOND);
  expect(nextDue([waiting('3', 'imagePull')], NOW)).toBeUndefined();
  expect(nextDue([], NOW)).toBeUndefined();
});

it('one more try begins the time anew and counts', () => {
  expect(tried(waiting('1', 'crash', { since: sinceThen, tries: 2 }), NOW)).toEqual(
    waiting('1', 'crash', { tries: 3 }),
  );
});

it('a try is keyed by the revision, and one for quota by the quotas in force as well', () => {
  const { desired, observed } = pool([], { quotas: 'pods=10' });
  expect(attempt('crash', desired, observed)).toBe('v2');
  expect(attempt('quota', desired, observed)).toBe('v2+pods=10');
  expect(attempt('quota', desired, pool([]).observed)).toBe('v2');
  expect(attempt('quota', pool([], { revision: 'unknown' }).desired, pool([]).observed)).toBe('');
});

it.each<{ title: string; slots: readonly Instance[]; its?: Circumstances }>([
  { title: 'an instance that is as it should be', slots: [instance('1')] },
  { title: 'one that starts without trouble', slots: [instance('1', { phase: 'pending' })] },
  {
    title: 'a claimed one, whatever its trouble',
    slots: [troubled('1', 'crash', { claimedBy: 'session-1' })],
  },
  { title: 'a surplus one, whatever its trouble', slots: [troubled('1', 'crash', { target: false })] },
  {
    title: 'a stale one: its replacement is not held back by its own pod',
    slots: [troubled('1', 'crash', STALE)],
  },
  { title: 'a ready one whose trouble is over', slots: [troubled('1', 'crash', { phase: 'ready' })] },
  { title: 'an empty slot when there is no operator that could fill it', slots: [missing('1')] },
  {
    title: 'a dirty one when there is no operator that could clean it',
    slots: [instance('1', { dirt: 'used pod' })],
  },
])('nobody waits for $title', ({ slots, its }) => {
  expect(waitsFor(slots, its)).toEqual([]);
});

it.each<{ title: string; one: Instance; its?: Circumstances; entry: Waiting }>([
  { title: 'a crash', one: troubled('1', 'crash'), entry: waiting('1', 'crash') },
  {
    title: 'an image that cannot be pulled',
    one: troubled('1', 'imagePull'),
    entry: waiting('1', 'imagePull'),
  },
  {
    title: 'a quota, with the quotas that stood in the way',
    one: troubled('1', 'quota'),
    its: { quotas: 'pods=10' },
    entry: waiting('1', 'quota', { revision: 'v2+pods=10' }),
  },
  {
    title: 'an empty slot that a running operator may fill',
    one: missing('1'),
    its: { operator: 'alive' },
    entry: waiting('1', 'missing'),
  },
  {
    title: 'a dirty one that a running operator may clean',
    one: instance('1', { dirt: 'used pod' }),
    its: { operator: 'alive' },
    entry: waiting('1', 'dirty'),
  },
])('waiting for $title begins when it is seen, and keeps its beginning', ({ one, its, entry }) => {
  expect(waitsFor([one], its)).toEqual([entry]);
  const prior = { ...entry, since: sinceThen, tries: 3 };
  expect(waitsFor([one], { ...its, waiting: [prior] })).toEqual([prior]);
});

const alive = { operator: 'alive' } as const;

it('a slot that the operator is just making counts as missing until its anchor stands', () => {
  const half = anchorless('1', { absent: true, phase: 'pending' });
  expect(waitsFor([half], alive)).toEqual([waiting('1', 'missing')]);
  const prior = waiting('1', 'missing', { since: sinceThen });
  expect(waitsFor([half], { ...alive, waiting: [prior] })).toEqual([prior]);
  expect(waitsFor([instance('1')], { ...alive, waiting: [prior] })).toEqual([]);
});

it('a slot that the operator began to make is its to finish for ten seconds, also when the anchor stands first', () => {
  const half = instance('1', { absent: true, phase: 'pending' });
  const its = { ...alive, waiting: [waiting('1', 'missing', { since: NOW - 9 * SECOND })] };
  expect(waitsFor([half], its)).toEqual(its.waiting);
  expect(waitsFor([half], { ...its, now: NOW + SECOND })).toEqual([]);
  expect(waitsFor([instance('1', { phase: 'pending' })], its)).toEqual([]);
  expect(waitsFor([half], alive)).toEqual([]);
});

it('a slot without an anchor that we withdrew is ours to finish, and not missing', () => {
  const half = anchorless('1', { absent: true, phase: 'pending' });
  expect(waitsFor([half], { ...alive, ledger: [entry('1')] })).toEqual([]);
  expect(waitsFor([half], { ...alive, ledger: [entry('2')] })).toEqual([waiting('1', 'missing')]);
  expect(waitsFor([half])).toEqual([]);
});

it('a slot is being cleaned until its new pod is ready, but no longer than ten seconds', () => {
  const prior = waiting('1', 'dirty', { since: NOW - 9 * SECOND });
  const its = { ...alive, waiting: [prior] };
  const starting = instance('1', { phase: 'pending' });
  expect(waitsFor([starting], its)).toEqual([prior]);
  expect(waitsFor([instance('1', { ...STALE, phase: 'pending' })], its)).toEqual([prior]);
  expect(waitsFor([instance('1')], its)).toEqual([]);
  expect(waitsFor([starting], { ...its, now: NOW + SECOND })).toEqual([]);
  expect(waitsFor([starting], { waiting: [prior] })).toEqual([]);
  expect(waitsFor([starting], alive)).toEqual([]);
});

it('one that is still dirty after ten seconds keeps its entry: it says that the time is over', () => {
  const prior = waiting('1', 'dirty', { since: sinceThen });
  expect(waitsFor([instance('1', { dirt: 'used pod' })], { ...alive, waiting: [prior] })).toEqual([prior]);
});

it.each<{ title: string; slot: Instance }>([
  { title: 'is gone', slot: missing('1') },
  { title: 'is used', slot: troubled('1', 'crash', { dirt: 'used pod' }) },
])('the tries of an instance that $title are forgotten when nobody else cares for the slot', ({ slot }) => {
  expect(waitsFor([slot], { waiting: [waiting('1', 'crash', { tries: 3 })] })).toEqual([]);
});

it('a new revision starts the back-off afresh', () => {
  const prior = waiting('1', 'crash', { since: sinceThen, tries: 5, revision: 'v1' });
  expect(waitsFor([troubled('1', 'crash')], { waiting: [prior] })).toEqual([waiting('1', 'crash')]);
});

it('another cause starts afresh, and the old one is forgotten', () => {
  const prior = waiting('1', 'imagePull', { since: sinceThen });
  expect(waitsFor([troubled('1', 'crash')], { waiting: [prior] })).toEqual([waiting('1', 'crash')]);
});

it('the trouble of one slot says nothing about another', () => {
  const prior = waiting('2', 'crash', { since: sinceThen, tries: 5 });
  expect(waitsFor([troubled('1', 'crash'), instance('2')], { waiting: [prior] })).toEqual([
    waiting('1', 'crash'),
  ]);
});

it.each<WaitCause>(['crash', 'deadline', 'quota'])(
  'between a try and its outcome the tries after %s are remembered',
  (cause) => {
    const prior = waiting('1', cause, { since: sinceThen, tries: 2 });
    const starting = withdrawn('1', { phase: 'pending', absent: true });
    expect(waitsFor([starting], { waiting: [prior] })).toEqual([prior]);
    expect(waitsFor([instance('1')], { waiting: [prior] })).toEqual([]);
    expect(waitsFor([starting], { waiting: [{ ...prior, revision: 'v1' }] })).toEqual([]);
  },
);

it('a trouble that is over and needs no try is forgotten at once', () => {
  const prior = waiting('1', 'unschedulable', { since: sinceThen });
  expect(waitsFor([instance('1', { phase: 'pending' })], { waiting: [prior] })).toEqual([]);
});

it('other quotas keep the entry as it is: its old fingerprint tells the planner to try at once', () => {
  const prior = waiting('1', 'quota', { since: sinceThen, tries: 4, revision: 'v2+pods=10' });
  expect(waitsFor([troubled('1', 'quota')], { waiting: [prior], quotas: 'pods=20' })).toEqual([prior]);
});

it('entries stand in the order of their slots and causes, whatever the order in which they came', () => {
  const slots = [troubled('3', 'crash'), missing('2'), troubled('1', 'imagePull')];
  const refusals = [refusal('quota'), refusal('forbidden', '3')];
  const its = { operator: 'alive', refusals } as const;
  const names = (list: readonly Waiting[]) => list.map(({ slot, cause }) => `${slot}/${cause}`);
  const inOrder = ['*/quota', '1/imagePull', '2/missing', '3/crash', '3/forbidden'];
  expect(names(waitsFor(slots, its))).toEqual(inOrder);
  expect(names(waitsFor([...slots].reverse(), its))).toEqual(inOrder);
});

describe('what the API refused', () => {
  it('a refused create is remembered for the pool as long as something has to be created', () => {
    const first = waitsFor([missing('1')], { refusals: [refusal('quota')], quotas: 'pods=10' });
    expect(first).toEqual([waiting('*', 'quota', { revision: 'v2+pods=10' })]);
    const later = { waiting: first, quotas: 'pods=10', now: NOW + MINUTE };
    expect(waitsFor([missing('1')], later)).toEqual(first);
    expect(waitsFor([instance('1', { absent: true, phase: 'pending' })], later)).toEqual(first);
    expect(waitsFor([anchorless('1')], later)).toEqual(first);
    expect(waitsFor([instance('1')], later)).toEqual([]);
    expect(waitsFor([instance('1'), surplus('2', { absent: true })], later)).toEqual([]);
    expect(waitsFor([claimed('1', { absent: true })], later)).toEqual([]);
  });

  it('refused again, the time begins anew and doubles', () => {
    const prior = waiting('*', 'quota', { since: sinceThen, tries: 2 });
    expect(waitsFor([missing('1')], { waiting: [prior], refusals: [refusal('quota')] })).toEqual([
      waiting('*', 'quota', { tries: 3 }),
    ]);
  });

  it.each<{ title: string; its: Circumstances }>([
    { title: 'other quotas', its: { quotas: 'pods=20' } },
    { title: 'a new revision', its: { quotas: 'pods=10', revision: 'v3' } },
  ])('$title end a refusal', ({ its }) => {
    const prior = waiting('*', 'quota', { since: sinceThen, revision: 'v2+pods=10' });
    expect(waitsFor([missing('1')], { waiting: [prior], ...its })).toEqual([]);
  });

  it.each(['forbidden', 'invalid'] as const)(
    'a write on one slot that is %s is remembered for ten minutes over its time, then forgotten',
    (cause) => {
      const first = waitsFor([instance('3'), instance('4')], { refusals: [refusal(cause, '3')] });
      expect(first).toEqual([waiting('3', cause)]);
      const at = (ms: number, slots = [instance('3')]) => waitsFor(slots, { waiting: first, now: NOW + ms });
      expect(at(10 * MINUTE + 10 * SECOND - 1)).toEqual(first);
      expect(at(10 * MINUTE + 10 * SECOND)).toEqual([]);
      expect(at(SECOND, [])).toEqual([]);
      expect(waitsFor([missing('3')], { waiting: first })).toEqual([]);
    },
  );

  it.each(['quota', 'admission'] as const)(
    'a write on one slot that is denied by %s counts as forbidden: it is no trouble of the instance itself',
    (cause) => {
      const refusals = [refusal(cause, '3')];
      const first = waitsFor([instance('3')], { refusals });
      expect(first).toEqual([waiting('3', 'forbidden')]);
      expect(waitsFor([instance('3')], { waiting: first, now: NOW + SECOND })).toEqual(first);
      expect(waitsFor([instance('3')], { waiting: first, refusals })).toEqual([
        waiting('3', 'forbidden', { tries: 1 }),
      ]);
    },
  );

  it('a left-over that may not be deleted is remembered while it stands', () => {
    const leftovers = ['ide-9-emails'];
    const first = waitsFor([instance('1')], { leftovers, refusals: [refusal('forbidden', 'ide-9-emails')] });
    expect(first).toEqual([waiting('ide-9-emails', 'forbidden')]);
    expect(waitsFor([instance('1')], { leftovers, waiting: first })).toEqual(first);
    expect(waitsFor([instance('1')], { waiting: first })).toEqual([]);
  });
});

describe('the first word of the operator', () => {
  const settling = (since: number, sourceCounter = 1) =>
    waiting('*', 'settling', { since, revision: String(sourceCounter) });

  it.each<{ title: string; its: Circumstances; entries: readonly Waiting[] }>([
    {
      title: 'an operator that just started has the first word',
      its: { operator: { startedAt: NOW - 5 * SECOND } },
      entries: [settling(NOW - 5 * SECOND)],
    },
    {
      title: 'one that started 15 seconds ago has had it',
      its: { operator: { startedAt: NOW - 15 * SECOND } },
      entries: [],
    },
    {
      title: 'a changed definition gives it the first word again',
      its: { operator: 'alive', sourceCounter: 2, memory: { observedGeneration: 1 } },
      entries: [settling(NOW, 2)],
    },
    {
      title: 'a definition that nobody looked at before does, too',
      its: { operator: 'alive', memory: { observedGeneration: undefined as never } },
      entries: [settling(NOW)],
    },
    {
      title: 'looking again does not begin the time anew',
      its: { operator: 'alive', waiting: [settling(NOW - 9 * SECOND)] },
      entries: [settling(NOW - 9 * SECOND)],
    },
    {
      title: 'after 15 seconds it is over',
      its: { operator: 'alive', waiting: [settling(NOW - 15 * SECOND)] },
      entries: [],
    },
    {
      title: 'an operator that restarts in between begins it anew',
      its: { operator: { startedAt: NOW - 2 * SECOND }, waiting: [settling(NOW - 9 * SECOND)] },
      entries: [settling(NOW - 2 * SECOND)],
    },
    {
      title: 'in observe a change begins nothing: no look remembers what the last one saw',
      its: { operator: 'alive', sourceCounter: 2, memory: { observedGeneration: 1 }, mode: 'observe' },
      entries: [],
    },
    {
      title: 'in observe an operator that just started has the first word all the same',
      its: { operator: { startedAt: NOW - SECOND }, mode: 'observe' },
      entries: [settling(NOW - SECOND)],
    },
    {
      title: 'a dead operator has no word',
      its: { sourceCounter: 2, memory: { observedGeneration: 1 } },
      entries: [],
    },
  ])('$title', ({ its, entries }) => {
    expect(waitsFor([instance('1')], its)).toEqual(entries);
  });
});
