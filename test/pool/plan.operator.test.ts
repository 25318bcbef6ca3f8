import { describe, expect, it } from 'vitest';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Instance } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
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
  SECOND,
  STALE,
  surplus,
  THIS_PASS,
  told,
  troubled,
  type World,
  waiting,
  withdrawn,
} from './_world.ts';

const actionsOf = (slots: readonly Instance[], its?: Circumstances) => told(planOf(pool(slots, its)));
const withSlots = (world: World, slots: readonly Instance[]): World => ({
  ...world,
  observed: { ...world.observed, instances: slots },
});

describe('beside a running operator', () => {
  const alive = { operator: 'alive' } as const;

  it.each<{ title: string; its: Circumstances }>([
    { title: 'that just started', its: { operator: { startedAt: NOW - 5 * SECOND } } },
    { title: 'that just learned of a release', its: { ...alive, memory: { observedGeneration: 0 } } },
  ])('nothing but left-overs is touched while one $title has the first word', ({ its }) => {
    const slots = [instance('1', STALE), missing('2'), withdrawn('3', STALE), surplus('4'), emptied('5')];
    const plan = planOf(pool(slots, { ...its, leftovers: ['ide-9-emails'], ledger: [entry('3')] }));
    expect(told(plan)).toEqual(['discard ide-9-emails']);
    expect(heldBack(plan)).toEqual({ '*': 'settling' });
    expect(plan.status.ledger).toEqual([entry('3')]);
    expect(condition(plan.status, 'Progressing')).toBe('True Settling');
  });

  it('the first word is over after 15 seconds, and the next look is due then', () => {
    const world = pool(instances(4, STALE), { ...alive, memory: { observedGeneration: 0 } });
    const first = planOf(world);
    expect(first.nextCheckAt).toBe(NOW + 15 * SECOND);
    const at = (now: number) => told(planOf({ ...recorded(world, first.status), now }));
    expect(at(NOW + 15 * SECOND - 1)).toEqual([]);
    expect(at(NOW + 15 * SECOND)).toEqual(['withdraw 4: stale']);
  });

  it('a missing slot is the operator’s to fill for ten seconds', () => {
    const world = pool([instance('1'), missing('2')], alive);
    const first = planOf(world);
    expect([told(first), heldBack(first)]).toEqual([[], { 2: 'missing' }]);
    expect(first.nextCheckAt).toBe(NOW + 10 * SECOND);
    const at = (now: number) => told(planOf({ ...recorded(world, first.status), now }));
    expect([at(NOW + 10 * SECOND - 1), at(NOW + 10 * SECOND)]).toEqual([[], ['build 2']]);
  });

  it('a slot that its user left is the operator’s to clean for ten seconds', () => {
    const world = pool([instance('1'), instance('2', { dirt: 'used pod' })], alive);
    const first = planOf(world);
    expect([told(first), heldBack(first)]).toEqual([[], { 2: 'dirty' }]);
    const at = (now: number) => told(planOf({ ...recorded(world, first.status), now }));
    expect([at(NOW + 10 * SECOND - 1), at(NOW + 10 * SECOND)]).toEqual([[], ['withdraw 2: dirty']]);
  });

  it('a used one is not returned while the operator may still clean it', () => {
    const used = withdrawn('2', { dirt: 'used pod' }, OTHER_PASS);
    const plan = planOf(
      pool([instance('1'), used], { ...alive, ledger: [entry('2', { pass: OTHER_PASS })] }),
    );
    expect([told(plan), heldBack(plan)]).toEqual([[], { 2: 'dirty' }]);
  });

  it.each<{ title: string; slot: Instance; reason: string }>([
    { title: 'half made', slot: anchorless('2', { absent: true, phase: 'pending' }), reason: 'missing' },
    { title: 'half made, of an old revision', slot: anchorless('2', STALE), reason: 'missing' },
    { title: 'used, and stale', slot: instance('2', { ...STALE, dirt: 'used pod' }), reason: 'dirty' },
  ])('what the operator is at is left alone: $title', ({ slot, reason }) => {
    const plan = planOf(pool([instance('1'), slot], alive));
    expect([told(plan), heldBack(plan)]).toEqual([[], { 2: reason }]);
    expect(
      told(planOf({ ...recorded(pool([instance('1'), slot], alive), plan.status), now: NOW + 10 * SECOND })),
    ).toEqual([expect.stringContaining(' 2')]);
  });

  it('a stale one whose pod was just taken from its user is not withdrawn before the operator had its turn', () => {
    const its = { ...alive, waiting: [waiting('2', 'dirty', { since: NOW - SECOND })] };
    const cleaned = instance('2', { ...STALE, phase: 'pending' });
    expect(heldBack(planOf(pool([instance('1'), cleaned], its)))).toEqual({ 2: 'dirty' });
  });

  it('one that crashes after its user left is still the operator’s for ten seconds', () => {
    const its = { ...alive, waiting: [waiting('2', 'dirty', { since: NOW - SECOND })], ledger: [entry('2')] };
    const plan = planOf(pool([instance('1'), troubled('2', 'crash')], its));
    expect(plan.held).toContainEqual({ slot: '2', reason: 'dirty' });
    expect(told(plan)).toEqual([]);
  });

  it('without an operator nobody is waited for', () => {
    expect(actionsOf([missing('1'), instance('2', { dirt: 'used pod' })])).toEqual([
      'withdraw 2: dirty',
      'build 1',
    ]);
    expect(actionsOf([instance('1'), instance('2', { dirt: 'used pod' })])).toEqual(['withdraw 2: dirty']);
  });
});

describe('the instance that the operator hands out next', () => {
  const alive = { operator: 'alive' } as const;
  const last = [instance('1', STALE), instance('2'), instance('3')];

  it('is announced first, so that the withdrawal comes right after the reading of the claims', () => {
    const world = pool(last, alive);
    const first = planOf(world);
    expect([told(first), heldBack(first)]).toEqual([[], { 1: 'announced' }]);
    expect(first.status.ledger).toEqual([entry('1', { since: NOW, short: 0 })]);
    expect(told(planOf(recorded(world, first.status)))).toEqual(['withdraw 1: stale']);
  });

  it.each([
    { title: 'another pass', said: entry('1', { pass: OTHER_PASS }) },
    { title: 'another revision', said: entry('1', { revision: 'v1' }) },
  ])('is announced anew when $title was announced', ({ said }) => {
    const plan = planOf(pool(last, { ...alive, ledger: [said] }));
    expect(heldBack(plan)).toEqual({ 1: 'announced' });
    expect(plan.status.ledger).toMatchObject([{ pass: THIS_PASS, revision: 'v2' }]);
  });

  it('is not announced when there is no operator that could pick it', () => {
    expect(actionsOf(last)).toEqual(['withdraw 1: stale']);
  });

  it.each<{ title: string; its: Circumstances }>([
    { title: 'with an operator', its: alive },
    { title: 'announced before', its: { ...alive, ledger: [entry('1')] } },
    { title: 'with a dead one whose claim may be half done', its: {} },
  ])('is left alone while somebody is about to get it, $title', ({ its }) => {
    const plan = planOf(pool(last, { ...its, quiet: false }));
    expect([told(plan), heldBack(plan)]).toEqual([[], { 1: 'quiet' }]);
    expect(plan.nextCheckAt).toBe(NOW + 2 * SECOND);
  });

  it('asks for another look soon, but not later than what else is due', () => {
    const crash = [instance('1', STALE), ...instances(9).slice(1), troubled('10', 'crash')];
    const its = { quiet: false, waiting: [waiting('10', 'crash', { since: NOW - MINUTE + SECOND })] };
    expect(planOf(pool(crash, its)).nextCheckAt).toBe(NOW + SECOND);
    expect(planOf(pool(crash, { ...its, waiting: [] })).nextCheckAt).toBe(NOW + 2 * SECOND);
  });

  it('is the lowest that can be handed out: those above are taken in an unquiet hour, too', () => {
    const slots = [instance('1'), instance('2', STALE), instance('3', STALE)];
    expect(actionsOf(slots, { ...alive, quiet: false })).toEqual(['withdraw 3: stale']);
  });

  it('is the second when the first is a user’s', () => {
    const slots = [instance('1', { claimedBy: 'session-1' }), instance('2', STALE), instance('3')];
    expect(heldBack(planOf(pool(slots, { ...alive, quiet: false })))).toEqual({ 2: 'quiet' });
  });

  it('is the second when this very plan takes the first', () => {
    const slots = [instance('1', { ...STALE, phase: 'pending' }), instance('2', STALE), instance('3', STALE)];
    const plan = planOf(pool(slots, { maxUnavailable: 3 }));
    expect([...told(plan)].sort()).toEqual(['withdraw 1: stale', 'withdraw 2: stale', 'withdraw 3: stale']);
    expect(heldBack(planOf(pool(slots, { maxUnavailable: 3, quiet: false })))).toEqual({
      1: 'quiet',
      2: 'quiet',
      3: 'quiet',
    });
  });

  it('is the second as well when the first is announced', () => {
    const slots = [instance('1', { ...STALE, phase: 'pending' }), instance('2', STALE), instance('3', STALE)];
    const plan = planOf(pool(slots, { ...alive, maxUnavailable: 3 }));
    expect([told(plan), heldBack(plan)]).toEqual([['withdraw 3: stale'], { 1: 'announced', 2: 'announced' }]);
  });

  it('may be any that is touched: beside an operator that waits for a round with nothing to write in the status', () => {
    const world = pool(instances(2), { ...alive, ledger: [entry('2', { pass: OTHER_PASS })] });
    const first = planOf(world);
    expect([told(first), heldBack(first)]).toEqual([[], { 2: 'announced' }]);
    expect(told(planOf(recorded(world, first.status)))).toEqual(['touch 2: other-pass']);
  });

  it('is written to first, for its claims were read a moment ago', () => {
    const slots = [instance('1', { relabel: true }), instance('2', STALE)];
    expect(actionsOf(slots)).toEqual(['relabel 1', 'withdraw 2: stale']);
    expect(actionsOf([surplus('3'), instance('1', STALE)], { leftovers: ['x'], maxUnavailable: 3 })[0]).toBe(
      'withdraw 1: stale',
    );
  });

  it('does not even get a label in an unquiet hour', () => {
    const slots = ['1', '2', '3'].map((slot) => instance(slot, { relabel: true }));
    const plan = planOf(pool(slots, { quiet: false }));
    expect([told(plan), heldBack(plan)]).toEqual([['relabel 3'], { 1: 'quiet', 2: 'quiet' }]);
    expect(plan.nextCheckAt).toBe(NOW + 2 * SECOND);
  });

  it('may be the second, for the first may have been handed back a moment ago', () => {
    const slots = ['1', '2', '3', '4'].map((slot) => instance(slot, slot === '1' ? {} : STALE));
    const plan = planOf(pool(slots, { quiet: false, maxUnavailable: 2 }));
    expect([told(plan), heldBack(plan)]).toEqual([['withdraw 4: stale'], { 2: 'quiet', 3: 'quiet' }]);
  });

  it('is not touched in an unquiet hour, and the entry stays until it can be', () => {
    const its = { ledger: [entry('2', { pass: OTHER_PASS })], quiet: false };
    const plan = planOf(pool(instances(2), its));
    expect([told(plan), plan.status.ledger]).toEqual([[], its.ledger]);
  });

  it('one that nobody can be handed is replaced without asking', () => {
    const slots = [instance('1', { ...STALE, claimable: false }), instance('2')];
    expect(actionsOf(slots, { ...alive, quiet: false })).toEqual(['withdraw 1: stale']);
  });

  it('that crashes is replaced like any other', () => {
    const world = pool([troubled('1', 'crash'), instance('2')], {
      ...alive,
      waiting: [waiting('1', 'crash', { since: NOW - MINUTE })],
    });
    const first = planOf(world);
    expect(heldBack(first)).toEqual({ 1: 'announced' });
    expect(told(planOf(recorded(world, first.status)))).toEqual(['withdraw 1: broken']);
  });
});

describe('a paused pool', () => {
  const paused = { paused: true } as const;

  it.each<{ title: string; one: Instance }>([
    { title: 'stale', one: instance('2', STALE) },
    { title: 'used', one: instance('2', { dirt: 'used pod' }) },
    { title: 'surplus', one: surplus('2') },
    { title: 'to be refreshed', one: instance('2', { refresh: true }) },
    { title: 'broken', one: troubled('2', 'crash') },
  ])('loses no instance: $title', ({ one }) => {
    const its = { ...paused, waiting: [waiting('2', 'crash', { since: 0 })] };
    const plan = planOf(pool([instance('1'), one], its));
    expect([told(plan), heldBack(plan)]).toEqual([[], { 2: 'paused' }]);
  });

  it.each<{ title: string; one: Instance; its?: Circumstances; next: string }>([
    { title: 'emptied', one: withdrawn('2', STALE), its: { ledger: [entry('2')] }, next: 'empty 2: stale' },
    { title: 'taken over', one: withdrawn('2', STALE, OTHER_PASS), next: 'withdraw 2: stale' },
    { title: 'built', one: emptied('2'), next: 'build 2' },
    { title: 'returned', one: withdrawn('2'), next: 'return 2' },
  ])('finishes what is begun: $title', ({ one, its, next }) => {
    expect(actionsOf([instance('1', STALE), one], { ...paused, ...its })).toEqual([next]);
  });

  it('gives back what was announced but not yet withdrawn', () => {
    const its = { ...paused, ledger: [entry('2', { pass: OTHER_PASS })] };
    expect(actionsOf([instance('1'), instance('2', STALE)], its)).toEqual(['touch 2: other-pass']);
  });

  it('goes on where it stopped when it is resumed', () => {
    expect(actionsOf(instances(2, STALE))).toEqual(['withdraw 2: stale']);
  });
});

describe('leaving: a pool that is only observed from now on', () => {
  const leaving = { mode: 'observe' } as const;

  it('plans as ever where nothing was begun: the dry run of what would be done', () => {
    const plan = planOf(pool(instances(2, STALE), leaving));
    expect([told(plan), plan.leaving]).toEqual([['withdraw 2: stale'], false]);
    expect(condition(plan.status, 'Leaving')).toBe('not said');
  });

  it.each<{ title: string; slots: readonly Instance[]; its: Circumstances }>([
    { title: 'an instance is withdrawn', slots: [withdrawn('1')], its: {} },
    { title: 'the ledger has an entry', slots: [instance('1')], its: { ledger: [entry('1')] } },
    {
      title: 'one is held for its user',
      slots: [instance('1', { claimedBy: 'session-1', held: true })],
      its: {},
    },
    {
      title: 'it was said so before',
      slots: [instance('1')],
      its: { memory: { conditions: [leavingSince('True')] } },
    },
  ])('is going on while $title', ({ slots, its }) => {
    expect(planOf(pool(slots, { ...leaving, ...its })).leaving).toBe(true);
  });

  it.each<{ title: string; slots: readonly Instance[]; its: Circumstances }>([
    { title: 'a user is at work', slots: [instance('1', { claimedBy: 'session-1' })], its: {} },
    {
      title: 'it was said that it is over',
      slots: [instance('1')],
      its: { memory: { conditions: [leavingSince('False')] } },
    },
  ])('is over when $title', ({ slots, its }) => {
    expect(planOf(pool(slots, { ...leaving, ...its })).leaving).toBe(false);
  });

  it('is no matter of a pool that is guarded', () => {
    expect(planOf(pool([withdrawn('1')], { ledger: [entry('1')] })).leaving).toBe(false);
  });

  it('begins nothing: no replacement, no new instance, no part, no label', () => {
    const slots = [
      instance('1', STALE),
      missing('2'),
      instance('3', { absent: true, phase: 'pending' }),
      instance('4', { relabel: true }),
      surplus('5'),
      troubled('6', 'quota'),
      withdrawn('7', { terminating: true }),
    ];
    const its = { ...leaving, waiting: [waiting('6', 'quota', { since: 0 })], replicas: 9 };
    expect(actionsOf(slots, its)).toEqual([]);
  });

  it.each<{ title: string; one: Instance; next: string }>([
    { title: 'a ready one is returned', one: withdrawn('2'), next: 'return 2' },
    { title: 'an emptied one is built', one: emptied('2'), next: 'build 2' },
    { title: 'a stale one is replaced to the end', one: withdrawn('2', STALE), next: 'empty 2: stale' },
    {
      title: 'one that cannot get ready is returned as it is: nobody will come back for it',
      one: { ...troubled('2', 'unschedulable'), ...pick(withdrawn('2')) },
      next: 'return 2',
    },
  ])('finishes what is begun: $title', ({ one, next }) => {
    expect(actionsOf([instance('1', STALE), one], { ...leaving, ledger: [entry('2')] })).toEqual([next]);
  });

  it('waits for one that is starting', () => {
    expect(actionsOf([withdrawn('1', { phase: 'pending' })], leaving)).toEqual([]);
  });

  it('ends: it finishes, says so, and is silent from then on', () => {
    const world = pool([instance('1', STALE), withdrawn('2')], { ...leaving, ledger: [entry('2')] });
    const first = planOf(world);
    expect(condition(first.status, 'Leaving')).toBe('True Finishing');
    const anchor = { uid: 'anchor-2', resourceVersion: '3', pass: THIS_PASS };
    const returned = withSlots(recorded(world, first.status), [
      instance('1', STALE),
      instance('2', { anchor }),
    ]);
    const second = planOf(returned);
    expect([told(second), second.leaving, condition(second.status, 'Leaving')]).toEqual([
      [],
      true,
      'False Left',
    ]);
    const third = planOf(recorded(returned, second.status));
    expect(third.leaving).toBe(false);
    expect(third.changed && third.leaving).toBe(false);
  });

  it('of a pool that is current ends with an empty plan', () => {
    const world = pool([instance('1')], { ...leaving, memory: { conditions: [leavingSince('True')] } });
    const first = planOf(world);
    expect(isEmpty(planOf(recorded(world, first.status)))).toBe(true);
  });

  it('keeps parts without an anchor from being handed out half made', () => {
    expect(actionsOf([anchorless('1'), withdrawn('2')], leaving)).toEqual(['return 2', 'build 1']);
  });
});

function leavingSince(status: 'True' | 'False') {
  const lastTransitionTime = '2026-01-05T11:00:00Z';
  return { type: 'Leaving', status, reason: 'Finishing', message: 'slots 1', lastTransitionTime } as const;
}

function pick({ anchor, withdrawn: taken, claimable }: Instance): Partial<Instance> {
  return { ...(anchor && { anchor }), ...(taken && { withdrawn: taken }), claimable };
}
