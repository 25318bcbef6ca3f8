import { describe, expect, it } from 'vitest';
import type { Instance } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
  claimed,
  emptied,
  entry,
  heldBack,
  instance,
  instances,
  missing,
  NOW,
  OTHER_PASS,
  planOf,
  pool,
  STALE,
  surplus,
  told,
  troubled,
  WANTED,
  withdrawn,
} from './_world.ts';

const actionsOf = (slots: readonly Instance[], its?: Circumstances) => told(planOf(pool(slots, its)));

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

  it('touches in the order of the slots, whatever the order of the entries', () => {
    const ledger = ['2', '3', '1'].map((slot) => entry(slot, { pass: OTHER_PASS }));
    expect(actionsOf(instances(3), { ledger })).toEqual(
      ['1', '2', '3'].map((slot) => `touch ${slot}: other-pass`),
    );
  });

  it('deletes what else is stale while the rest is still going', () => {
    expect(actionsOf([withdrawn('1', { ...STALE, terminating: true, phase: 'deleting' })], mine)).toEqual([
      'empty 1: stale',
    ]);
  });

  it('gives the place to a slot that is begun and not in the ledger, before a broken one', () => {
    const slots = [
      instance('1'),
      withdrawn('2', STALE, OTHER_PASS),
      instance('3', { ...STALE, phase: 'pending' }),
    ];
    const plan = planOf(pool(slots, { maxUnavailable: 1 }));
    expect([told(plan), heldBack(plan)]).toEqual([['withdraw 2: stale'], { 3: 'budget' }]);
  });

  it('has no place for a slot that is begun and not in the ledger while another is being rebuilt', () => {
    const slots = [instance('1'), withdrawn('2', STALE, OTHER_PASS), emptied('3')];
    const plan = planOf(pool(slots, { maxUnavailable: 1, ledger: [entry('3')] }));
    expect([told(plan), heldBack(plan)]).toEqual([['build 3'], { 2: 'budget' }]);
  });

  it('takes a slot over at once when the entry is of a pass that has not withdrawn it', () => {
    const its = { ledger: [entry('1', { pass: OTHER_PASS, since: NOW })] };
    expect(actionsOf([withdrawn('1', STALE, 'a-third-pass')], its)).toEqual(['withdraw 1: stale']);
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

  it('is filled after those that stand got their parts back', () => {
    const slots = [instance('1', { absent: true, phase: 'pending' }), missing('2')];
    expect(actionsOf(slots)).toEqual(['build 1', 'build 2']);
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
    expect(actionsOf(slots)).toEqual(['withdraw 2: stale', 'withdraw 3: surplus']);
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
