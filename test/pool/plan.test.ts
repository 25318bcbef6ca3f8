import { describe, expect, it } from 'vitest';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Instance } from '../../src/pool/types.ts';
import {
  anchorless,
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
    expect(told(at(NOW - 10_000))).toEqual(['withdraw 8: stale', 'build 10']);
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
    expect(actionsOf(fresh, its)).toEqual(['withdraw 11: surplus', 'build 10']);
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

describe('a replacement, step by step', () => {
  const mine = { ledger: [entry('1')] };

  it('empties what this pass withdrew', () => {
    expect(actionsOf([withdrawn('1', STALE)], mine)).toEqual(['empty 1: stale']);
  });

  it.each<{ title: string; slots: readonly Instance[]; its: Circumstances }>([
    {
      title: 'another pass withdrew it',
      slots: [withdrawn('1', STALE, OTHER_PASS)],
      its: { ledger: [entry('1', { pass: OTHER_PASS })] },
    },
    { title: 'the ledger says nothing of it', slots: [withdrawn('1', STALE)], its: {} },
    {
      title: 'another pass took it over since',
      slots: [withdrawn('1', STALE, OTHER_PASS)],
      its: { ledger: [entry('1')] },
    },
    {
      title: 'the ledger was written by another pass since',
      slots: [withdrawn('1', STALE)],
      its: { ledger: [entry('1', { pass: OTHER_PASS })] },
    },
  ])('withdraws once more before anything is destroyed when $title', ({ slots, its }) => {
    const plan = planOf(pool(slots, its));
    expect(told(plan)).toEqual(['withdraw 1: stale']);
    expect(plan.status.ledger).toMatchObject([{ slot: '1', pass: 'this-pass', revision: WANTED }]);
  });

  it.each<{ title: string; one: Instance }>([
    { title: 'stale', one: withdrawn('1', STALE, OTHER_PASS) },
    { title: 'surplus', one: withdrawn('1', { target: false }, OTHER_PASS) },
    {
      title: 'for another revision',
      one: withdrawn('1', { withdrawn: { building: 'v1', pass: OTHER_PASS } }),
    },
  ])(
    'leaves a slot to the pass that withdrew it for four seconds, and then takes it over: $title',
    ({ one }) => {
      const at = (since: number) =>
        planOf(pool([one], { replicas: 1, ledger: [entry('1', { pass: OTHER_PASS, since })] }));
      const early = at(NOW - 3_999);
      expect([told(early), heldBack(early), early.nextCheckAt]).toEqual([[], { 1: 'another pass' }, NOW + 1]);
      expect(told(at(NOW - 4_000))).toEqual([expect.stringContaining('withdraw 1')]);
    },
  );

  it('waits until everything that was deleted is gone', () => {
    expect(actionsOf([withdrawn('1', { terminating: true, phase: 'deleting' })], mine)).toEqual([]);
  });

  it('builds what is missing', () => {
    expect(planOf(pool([emptied('1')], mine)).actions).toEqual([
      { kind: 'build', slot: '1', revision: WANTED },
    ]);
  });

  it('takes the slot over before it builds another revision than the one that is written there', () => {
    const slots = [withdrawn('1', { withdrawn: { building: 'v1', pass: 'this-pass' } })];
    expect(actionsOf(slots, mine)).toEqual(['withdraw 1: stale']);
  });

  it('waits for the new one to get ready', () => {
    expect(actionsOf([withdrawn('1', { phase: 'pending' })], mine)).toEqual([]);
  });

  it('returns it when it is ready, whoever withdrew it', () => {
    expect(actionsOf([withdrawn('1')], mine)).toEqual(['return 1']);
    expect(actionsOf([withdrawn('1', {}, OTHER_PASS)], mine)).toEqual(['return 1']);
  });

  it('drops the entry when it was returned', () => {
    const anchor = { uid: 'anchor-1', resourceVersion: '3', pass: 'this-pass' };
    const { actions, status } = planOf(pool([instance('1', { anchor })], mine));
    expect([actions, status.ledger]).toEqual([[], []]);
  });

  it('never returns one that is stale or used again by then', () => {
    expect(actionsOf([withdrawn('1', STALE)], mine)).toEqual(['empty 1: stale']);
    expect(actionsOf([withdrawn('1', { dirt: 'used pod' })], mine)).toEqual(['empty 1: dirty']);
    expect(actionsOf([withdrawn('1', { refresh: true })], mine)).toEqual(['empty 1: refresh']);
    expect(actionsOf([withdrawn('1', { dirt: 'used pod' })], { ...mine, operator: 'alive' })).not.toContain(
      'return 1',
    );
  });

  it('touches what need not go any more before its entry is dropped', () => {
    const its = { ledger: [entry('1', { pass: OTHER_PASS })] };
    const plan = planOf(pool([instance('1')], its));
    expect([told(plan), plan.status.ledger]).toEqual([['touch 1: other-pass'], its.ledger]);
    const anchor = { uid: 'anchor-1', resourceVersion: '3', pass: OTHER_PASS };
    const after = planOf(pool([instance('1', { anchor })], its));
    expect([told(after), after.status.ledger]).toEqual([[], []]);
  });

  it('finishes what was begun before it begins another', () => {
    const slots = [...instances(9, STALE), withdrawn('10', STALE)];
    const its = { ledger: [entry('10')], maxUnavailable: 1 };
    expect(actionsOf(slots, its)).toEqual(['empty 10: stale']);
  });

  it('begins no third slot beside two, although the third is broken', () => {
    const slots = [troubled('7', 'crash', STALE), instance('8'), emptied('9'), emptied('10')];
    const its = { ledger: [entry('9'), entry('10')], maxUnavailable: 2 };
    const plan = planOf(pool(slots, its));
    expect(told(plan)).toEqual(['build 10', 'build 9']);
    expect(heldBack(plan)).toEqual({ 7: 'budget' });
  });
});

describe('an empty slot', () => {
  it('is filled, the lowest first', () => {
    expect(actionsOf([instance('1'), missing('3'), missing('2')])).toEqual(['build 2', 'build 3']);
  });

  it('is not filled while too many unclaimed ones stand, surplus and terminating ones included', () => {
    const going = { terminating: true, phase: 'deleting' } as const;
    const slots = [missing('1'), instance('2'), withdrawn('3', going), surplus('4', going)];
    const plan = planOf(pool(slots));
    expect(told(plan)).not.toContain('build 1');
    expect(heldBack(plan)).toMatchObject({ 1: 'too many instances' });
  });

  it('is filled up to the wanted number, one by one', () => {
    const slots = [
      missing('1'),
      missing('2'),
      missing('3'),
      surplus('4', { terminating: true }),
      claimed('5'),
    ];
    const plan = planOf(pool(slots, { replicas: 3 }));
    expect(told(plan)).toEqual(['withdraw 4: surplus', 'build 1', 'build 2']);
    expect(heldBack(plan)).toEqual({ 3: 'too many instances' });
  });

  it('beyond the wanted number that is being removed does not get its anchor back', () => {
    const going = anchorless('2', { target: false, terminating: true, phase: 'deleting' });
    expect(actionsOf([instance('1'), going], { ledger: [entry('2')] })).toEqual([]);
  });

  it('beyond the wanted number stays empty', () => {
    expect(actionsOf([instance('1'), { ...missing('2'), target: false }], { replicas: 5 })).toEqual([]);
  });

  it('whose parts were left without an anchor keeps them if they are current, and gets the anchor last', () => {
    expect(actionsOf([anchorless('1')])).toEqual(['build 1']);
    expect(actionsOf([anchorless('1', { terminating: true })])).toEqual([]);
  });

  it('whose left parts are stale is withdrawn before they are deleted', () => {
    expect(actionsOf([anchorless('1', STALE)])).toEqual(['withdraw 1: stale']);
  });
});

describe('an instance that stands', () => {
  it('gets a part back that went missing', () => {
    expect(actionsOf([instance('1', { absent: true, phase: 'pending' })])).toEqual(['build 1']);
  });

  it('is left alone while a part of it is terminating', () => {
    expect(actionsOf([instance('1', { absent: true, terminating: true, phase: 'deleting' })])).toEqual([]);
  });

  it('gets its older label renewed, and nothing else', () => {
    expect(actionsOf([instance('1', { relabel: true }), instance('2')])).toEqual(['relabel 1']);
  });
});

describe('scaling down', () => {
  it('takes all that are too many at once, the unready first and then the highest', () => {
    const slots = [instance('1'), surplus('2', { phase: 'pending' }), surplus('3'), surplus('4')];
    expect(actionsOf(slots)).toEqual(['withdraw 2: surplus', 'withdraw 4: surplus', 'withdraw 3: surplus']);
  });

  it('costs the others no disruption: they are wanted by nobody', () => {
    const slots = [...instances(2, STALE), surplus('3')];
    expect(actionsOf(slots)).toEqual(['withdraw 3: surplus', 'withdraw 2: stale']);
  });

  it('removes what this pass withdrew, and only that', () => {
    expect(actionsOf([instance('1'), withdrawn('2', { target: false })], { ledger: [entry('2')] })).toEqual([
      'remove 2',
    ]);
    expect(actionsOf([instance('1'), withdrawn('2', { target: false })])).toEqual(['withdraw 2: surplus']);
  });

  it('withdraws what is left without an anchor before it removes it, but not while it is going', () => {
    const left = anchorless('2', { target: false });
    expect(actionsOf([instance('1'), left])).toEqual(['withdraw 2: surplus']);
    expect(actionsOf([instance('1'), { ...left, terminating: true }], { ledger: [entry('2')] })).toEqual([]);
  });

  it('keeps a claimed one until its user is gone, and then takes it away', () => {
    const others = instances(2);
    expect(actionsOf([...others, surplus('3', { claimedBy: 'session-3' })])).toEqual([]);
    expect(actionsOf([...others, surplus('3', { dirt: 'used pod' })])).toEqual(['withdraw 3: surplus']);
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

it('acts in the order that leaves a withheld slot wherever it ends: nothing is built before something was taken away', () => {
  const slots = [
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
    'touch 8: other-pass',
    'withdraw 7: surplus',
    'remove 6',
    'empty 5: stale',
    'return 4',
    'build 3',
    'nudge 2',
    'relabel 9',
  ]);
});
