import { describe, expect, it } from 'vitest';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Instance } from '../../src/pool/types.ts';
import {
  type Circumstances,
  claimed,
  condition,
  emptied,
  entry,
  heldBack,
  instance,
  instances,
  MINUTE,
  missing,
  NOW,
  OTHER_PASS,
  planOf,
  pool,
  recorded,
  STALE,
  surplus,
  told,
  troubled,
  WANTED,
  waiting,
  withdrawn,
} from './_world.ts';

const actionsOf = (slots: readonly Instance[], its?: Circumstances) => told(planOf(pool(slots, its)));

describe('a claimed instance', () => {
  it.each<{ title: string; differs: Partial<Instance> }>([
    { title: 'stale', differs: STALE },
    { title: 'surplus', differs: { target: false } },
    { title: 'crashing', differs: troubled('1', 'crash') },
    { title: 'waiting for quota', differs: troubled('1', 'quota') },
    { title: 'without one of its parts', differs: { absent: true, phase: 'pending' } },
    { title: 'terminating', differs: { terminating: true, phase: 'deleting' } },
    { title: 'withheld from others', differs: withdrawn('1') },
    { title: 'withheld, and stale', differs: withdrawn('1', STALE) },
    { title: 'to be refreshed', differs: { refresh: true } },
    { title: 'carrying an older label', differs: { relabel: true } },
    { title: 'used', differs: { dirt: 'used pod' } },
    { title: 'beside a foreign object', differs: { foreign: 'ConfigMap/ide-1' } },
    { title: 'rendered unstably', differs: { ...STALE, unstable: true } },
  ])('is never touched: $title', ({ differs }) => {
    const its = { ledger: [entry('1')], waiting: [waiting('1', 'crash', { since: 0 })] };
    const plan = planOf(pool([claimed('1', differs)], its));
    expect(plan.actions).toEqual([]);
    expect(plan.held).toEqual([]);
  });

  it('that is stale or surplus is counted and kept', () => {
    const slots = [claimed('1', STALE), instance('2'), surplus('3', { claimedBy: 'session-3' })];
    const { actions, status } = planOf(pool(slots));
    expect(actions).toEqual([]);
    expect(status.counts).toMatchObject({ claimed: 2, claimedStale: 1, claimedSurplus: 1, stale: 0 });
  });

  it('makes no room for others: with eight of ten claimed, the other two are replaced one by one', () => {
    const slots = [
      ...instances(8, { claimedBy: 'somebody', ...STALE }),
      instance('9', STALE),
      instance('10', STALE),
    ];
    const plan = planOf(pool(slots));
    expect(told(plan)).toEqual(['withdraw 10: stale']);
    expect(heldBack(plan)).toEqual({ 9: 'budget' });
  });
});

describe('a release', () => {
  it.each([
    { of: 1, goes: [1] },
    { of: 2, goes: [2] },
    { of: 3, goes: [3] },
    { of: 10, goes: [10, 9] },
  ])('takes no more than a quarter of $of away, at least one, the highest first', ({ of, goes }) => {
    expect(actionsOf(instances(of, STALE))).toEqual(goes.map((slot) => `withdraw ${slot}: stale`));
  });

  it.each([
    { max: 1, goes: ['10'] },
    { max: 3, goes: ['10', '9', '8'] },
    { max: '50%', goes: ['10', '9', '8', '7', '6'] },
    { max: 0, goes: ['10'] },
  ])('takes $max of ten away when that is allowed', ({ max, goes }) => {
    expect(actionsOf(instances(10, STALE), { maxUnavailable: max })).toEqual(
      goes.map((slot) => `withdraw ${slot}: stale`),
    );
  });

  it('takes the broken ones before the ready ones, and then the highest', () => {
    const slots = instances(10, STALE).map((one) =>
      one.slot === '2' ? { ...one, phase: 'pending' as const } : one,
    );
    const plan = planOf(pool(slots));
    expect(told(plan)).toEqual(['withdraw 2: stale', 'withdraw 10: stale']);
  });

  it('leaves current ones alone', () => {
    const slots = [instance('1', STALE), instance('2'), instance('3', STALE), instance('4')];
    expect(actionsOf(slots)).toEqual(['withdraw 3: stale']);
  });

  it('says why the others have to wait', () => {
    expect(heldBack(planOf(pool(instances(3, STALE))))).toEqual({ 1: 'budget', 2: 'budget' });
  });

  it('takes none away while as many as may be away are starting', () => {
    const slots = [
      ...instances(8, STALE),
      instance('9', { phase: 'pending' }),
      instance('10', { phase: 'pending' }),
    ];
    const plan = planOf(pool(slots));
    expect(plan.actions).toEqual([]);
    expect(heldBack(plan)).toMatchObject({ 8: 'budget', 1: 'budget' });
  });

  it('takes one more when only one of two is away', () => {
    const slots = [...instances(9, STALE), instance('10', { phase: 'pending' })];
    expect(actionsOf(slots)).toEqual(['withdraw 9: stale']);
  });

  it('counts an empty slot as away', () => {
    expect(actionsOf([...instances(3, STALE), missing('4')])).toEqual(['build 4']);
  });

  it('counts what another pass is about to withdraw as away', () => {
    const ledger = [entry('10', { pass: OTHER_PASS })];
    expect(actionsOf(instances(10, STALE), { ledger })).toEqual(['withdraw 10: stale', 'withdraw 9: stale']);
    expect(actionsOf(instances(10, STALE), { ledger, maxUnavailable: 1 })).toEqual(['withdraw 10: stale']);
  });

  it('goes in waves: the next begins when the last is over, or after ten seconds', () => {
    const slots = [...instances(8, STALE), instance('9'), emptied('10')];
    const at = (since: number) => planOf(pool(slots, { ledger: [entry('10', { since })] }));
    const early = at(NOW - 9_999);
    expect([told(early), heldBack(early)[8], early.nextCheckAt]).toEqual([['build 10'], 'batch', NOW + 1]);
    expect(told(at(NOW - 10_000))).toEqual(['build 10', 'withdraw 8: stale']);
  });

  it('goes on with the same wave when only a part of it was withdrawn', () => {
    const slots = [...instances(9, STALE), withdrawn('10', STALE)];
    const its = { ledger: [entry('9', { since: NOW }), entry('10', { since: NOW })] };
    expect(actionsOf(slots, its)).toEqual(['withdraw 9: stale', 'empty 10: stale']);
  });

  it('does not wait for what is in back-off, nor does scaling down wait', () => {
    const resting = {
      ...troubled('10', 'imagePull'),
      withdrawn: { building: WANTED, pass: OTHER_PASS },
      claimable: false,
    };
    const its = { ledger: [entry('10', { since: NOW })] };
    expect(actionsOf([...instances(9, STALE), resting], its)).toEqual(['withdraw 9: stale']);
    const fresh = [...instances(9), emptied('10'), surplus('11')];
    expect(actionsOf(fresh, its)).toEqual(['build 10', 'withdraw 11: surplus']);
  });

  it('does not take what was only announced for a wave', () => {
    const its = { ledger: [entry('10', { pass: OTHER_PASS, since: NOW })] };
    expect(actionsOf(instances(10, STALE), its)).toEqual(['withdraw 10: stale', 'withdraw 9: stale']);
  });

  it('keeps the ledger in the order of the slots, whatever the order in which they go', () => {
    const { status } = planOf(pool(instances(3, STALE), { maxUnavailable: 3 }));
    expect(status.ledger.map(({ slot }) => slot)).toEqual(['1', '2', '3']);
  });

  it('licenses every withdrawal in the status that is written first', () => {
    const { status } = planOf(pool(instances(10, STALE)));
    expect(status.ledger).toEqual([
      entry('10', { since: NOW, short: 0 }),
      entry('9', { since: NOW, short: 0 }),
    ]);
  });

  it('says on the anchor what is being built', () => {
    expect(planOf(pool([instance('1', STALE)])).actions).toEqual([
      { kind: 'withdraw', slot: '1', reason: 'stale', building: WANTED },
    ]);
  });

  it('replaces an instance that a person wants anew although it is current', () => {
    expect(actionsOf([instance('1', { refresh: true }), instance('2')])).toEqual(['withdraw 1: refresh']);
  });
});

describe('a pool at rest', () => {
  it('is not written to: the status that stands says it all', () => {
    const world = pool(instances(10));
    const first = planOf(world);
    expect([isEmpty(first), first.changed]).toEqual([false, true]);
    const later = { ...recorded(world, first.status), now: NOW + 60 * MINUTE };
    expect(isEmpty(planOf(later))).toBe(true);
    expect(planOf(later).nextCheckAt).toBeUndefined();
  });

  it('is empty only when nothing is to be done, also when the status is right', () => {
    const world = pool([instance('1')], { leftovers: ['ide-7-emails'] });
    expect(isEmpty(planOf(recorded(world, planOf(world).status)))).toBe(false);
  });

  it('has nothing to say about disruption: nothing is being built and nothing needs a person', () => {
    const { status } = planOf(pool(instances(3)));
    expect(
      ['Ready', 'Current', 'Progressing', 'Degraded', 'Leaving'].map((type) => condition(status, type)),
    ).toEqual(['True EnoughReady', 'True AllCurrent', 'False AtRest', 'False AsExpected', 'not said']);
  });
});

it('acts by harm to users: who has an instance, then who finds none, then who would find an old one', () => {
  const slots = [
    claimed('10', { needs: [{ object: 'ConfigMap/ide-10-emails', lacks: ['allow-list'] }] }),
    instance('1'),
    troubled('2', 'quota'),
    missing('3'),
    withdrawn('4'),
    withdrawn('5', STALE),
    withdrawn('6', { target: false }),
    surplus('7'),
    instance('8'),
    instance('9', { relabel: true }),
  ];
  const its = {
    replicas: 10,
    maxUnavailable: 10,
    leftovers: ['ide-9-emails'],
    ledger: [entry('5'), entry('6'), entry('8', { pass: OTHER_PASS })],
    waiting: [waiting('2', 'quota', { since: NOW - MINUTE })],
  };
  expect(actionsOf(slots, its)).toEqual([
    'discard ide-9-emails',
    'heal 10: ConfigMap/ide-10-emails lacks allow-list',
    'return 4',
    'build 3',
    'nudge 2',
    'touch 8: other-pass',
    'empty 5: stale',
    'relabel 9',
    'remove 6',
    'withdraw 7: surplus',
  ]);
});
