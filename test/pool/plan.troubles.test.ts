import { describe, expect, it } from 'vitest';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Instance, Trouble, Waiting } from '../../src/pool/types.ts';
import {
  type Circumstances,
  condition,
  emptied,
  entry,
  heldBack,
  instance,
  instances,
  MINUTE,
  NOW,
  OTHER_PASS,
  planOf,
  pool,
  recorded,
  SECOND,
  STALE,
  told,
  troubled,
  waiting,
  withdrawn,
} from './_world.ts';

const actionsOf = (slots: readonly Instance[], its?: Circumstances) => told(planOf(pool(slots, its)));
const crashedBefore = (slot: string, tries = 0) =>
  waiting(slot, 'crash', { since: NOW - 60 * MINUTE, tries });

describe('an instance that crashes', () => {
  it('gets its back-off first', () => {
    const plan = planOf(pool([instance('1'), troubled('2', 'crash')]));
    expect(plan.actions).toEqual([]);
    expect(plan.nextCheckAt).toBe(NOW + MINUTE);
  });

  it.each<Trouble>(['crash', 'deadline'])('is replaced when the back-off after a %s is over', (cause) => {
    const its = (since: number) => ({ waiting: [waiting('2', cause, { since })] });
    const slots = [instance('1'), troubled('2', cause)];
    expect(actionsOf(slots, its(NOW - MINUTE + 1))).toEqual([]);
    expect(actionsOf(slots, its(NOW - MINUTE))).toEqual(['withdraw 2: broken']);
  });

  it('is emptied in the same pass, which counts as a try, and waits twice as long the next time', () => {
    const world = pool([instance('1'), troubled('2', 'crash')], { waiting: [crashedBefore('2')] });
    const first = planOf(world);
    expect(first.status.waiting).toEqual([crashedBefore('2')]);
    const slots = [instance('1'), { ...troubled('2', 'crash'), ...withdrawnBy('this-pass') }];
    const second = planOf(
      recorded({ ...world, observed: { ...world.observed, instances: slots } }, first.status),
    );
    expect(told(second)).toEqual(['empty 2: broken']);
    expect(second.status.waiting).toEqual([waiting('2', 'crash', { tries: 1 })]);
    // The replacement itself is followed up before.
    expect(second.status.nextCheckAt).toBe(NOW + 2 * MINUTE);
    expect(second.nextCheckAt).toBe(NOW + 10 * SECOND);
  });

  it('keeps its tries while the next one is starting', () => {
    const its = { waiting: [waiting('1', 'crash', { tries: 3 })], ledger: [entry('1')] };
    expect(planOf(pool([emptied('1')], its)).status.waiting).toEqual(its.waiting);
  });

  it('is replaced at once when a release comes: another revision may be the cure', () => {
    const its = { waiting: [waiting('2', 'crash', { tries: 5, revision: 'v1' })] };
    expect(actionsOf([instance('1'), troubled('2', 'crash', STALE)], its)).toEqual(['withdraw 2: stale']);
  });

  it('counts no try when it is emptied for another reason', () => {
    const taken = { ...troubled('1', 'crash', { refresh: true }), ...withdrawnBy('this-pass') };
    const plan = planOf(pool([taken], { ledger: [entry('1')], waiting: [crashedBefore('1')] }));
    expect(told(plan)).toEqual(['empty 1: refresh']);
    expect(plan.status.waiting).toEqual([crashedBefore('1')]);
  });

  it('is left alone when it got ready by itself', () => {
    const its = { waiting: [crashedBefore('1')] };
    expect(actionsOf([troubled('1', 'crash', { phase: 'ready' })], its)).toEqual([]);
  });

  it('in the middle of its replacement frees its place for another broken one', () => {
    const taken = { ...troubled('9', 'crash'), ...withdrawnBy(OTHER_PASS) };
    const slots = [troubled('8', 'crash'), taken];
    const its = {
      ledger: [entry('9')],
      waiting: [crashedBefore('8'), waiting('9', 'crash')],
      maxUnavailable: 1,
    };
    expect(actionsOf(slots, its)).toEqual(['withdraw 8: broken']);
  });
});

describe('all broken at once', () => {
  const all = Array.from({ length: 10 }, (_, at) => String(at + 1));
  const its = { waiting: all.map((slot) => crashedBefore(slot)) };

  it('are rebuilt no more than two at a time', () => {
    const plan = planOf(
      pool(
        all.map((slot) => troubled(slot, 'crash')),
        its,
      ),
    );
    expect(told(plan)).toEqual(['withdraw 10: broken', 'withdraw 9: broken']);
    expect(heldBack(plan)).toMatchObject({ 1: 'budget', 8: 'budget' });
  });

  it('are rebuilt no more than two at a time, also while the first two are about to be emptied', () => {
    const slots = all.map((slot) => ({
      ...troubled(slot, 'crash'),
      ...(Number(slot) > 8 ? withdrawnBy('this-pass') : {}),
    }));
    const plan = planOf(pool(slots, { ...its, ledger: [entry('10'), entry('9')] }));
    expect(told(plan)).toEqual(['empty 10: broken', 'empty 9: broken']);
  });

  it('are replaced at once by the fix of a release that cannot be pulled', () => {
    const slots = all.map((slot) => troubled(slot, 'imagePull', STALE));
    expect(actionsOf(slots)).toEqual(['withdraw 10: stale', 'withdraw 9: stale']);
  });
});

describe('a typo release', () => {
  const cannotPull = (slot: string) => ({ ...troubled(slot, 'imagePull'), ...withdrawnBy(OTHER_PASS) });
  const ledger = [entry('10', { pass: OTHER_PASS }), entry('9', { pass: OTHER_PASS })];
  const slots = [...instances(8, STALE), cannotPull('9'), cannotPull('10')];

  it('stops with the first two, and says why', () => {
    const plan = planOf(pool(slots, { ledger }));
    expect(plan.actions).toEqual([]);
    expect(heldBack(plan)).toMatchObject({ 8: 'budget', 1: 'budget' });
    expect(condition(plan.status, 'Degraded')).toBe('True Blocked');
    expect(plan.status.counts).toMatchObject({ blocked: 2, failed: 2, ready: 8, stale: 8 });
  });

  it('waits for the fix, not for a time', () => {
    const world = pool(slots, { ledger });
    const first = planOf(world);
    expect(first.nextCheckAt).toBeUndefined();
    expect(isEmpty(planOf({ ...recorded(world, first.status), now: NOW + 60 * MINUTE }))).toBe(true);
  });

  it('gives way to its fix at once: the two that cannot be pulled first', () => {
    const broken = slots.map((one) => ({ ...one, ...STALE }));
    expect(actionsOf(broken, { ledger, revision: 'v3' })).toEqual([
      'withdraw 10: stale',
      'withdraw 9: stale',
    ]);
  });
});

describe('a full cluster', () => {
  const noRoom = ['9', '10'].map((slot) => troubled(slot, 'unschedulable'));

  it('still rolls, one at a time, although as many are away as may be', () => {
    const plan = planOf(pool([...instances(8, STALE), ...noRoom]));
    expect(told(plan)).toEqual(['withdraw 8: stale']);
    expect(heldBack(plan)).toMatchObject({ 7: 'budget' });
  });

  it('goes on with that one when the withdrawal did not come about', () => {
    const world = pool([...instances(8, STALE), ...noRoom]);
    expect(told(planOf(recorded(world, planOf(world).status)))).toEqual(['withdraw 8: stale']);
  });

  it('waits for the one that is being rebuilt', () => {
    const slots = [...instances(7, STALE), emptied('8'), ...noRoom];
    expect(actionsOf(slots, { ledger: [entry('8')] })).toEqual(['build 8']);
  });

  it('makes room for a release with quota as well', () => {
    const slots = [...instances(8, STALE), troubled('9', 'quota'), troubled('10', 'unschedulable')];
    expect(actionsOf(slots)).toContain('withdraw 8: stale');
  });

  it('does not roll when one is away for another reason: that one comes back by itself', () => {
    const slots = [...instances(7, STALE), instance('8', { phase: 'pending' }), ...noRoom];
    expect(actionsOf(slots)).toEqual([]);
  });

  it('replaces the stale ones that wait for room before any other', () => {
    const slots = [...instances(8, STALE), ...noRoom.map((one) => ({ ...one, ...STALE }))];
    expect(actionsOf(slots)).toEqual(['withdraw 10: stale', 'withdraw 9: stale']);
  });

  it('is no reason to disturb anybody when nothing is stale', () => {
    expect(actionsOf([...instances(8), ...noRoom])).toEqual([]);
  });
});

describe('a worker that died after it announced', () => {
  const announced = (slot: string) => entry(slot, { pass: OTHER_PASS });

  it('does not keep a slot that broke since from being rebuilt', () => {
    const slots = [instance('1', STALE), troubled('2', 'crash'), instance('3', STALE)];
    const its = { ledger: [announced('3')], waiting: [crashedBefore('2')] };
    expect(actionsOf(slots, its)).toEqual(['touch 3: other-pass']);
    const anchor = { uid: 'anchor-3', resourceVersion: '2', pass: OTHER_PASS };
    const touched = slots.map((one) => (one.slot === '3' ? { ...one, anchor } : one));
    expect(actionsOf(touched, its)).toEqual(['withdraw 2: broken']);
  });

  it('does not stop the roll-out when claims left less room than it had announced', () => {
    const slots = [...instances(4, { claimedBy: 'somebody' }), ...instances(10, STALE).slice(4)];
    const its = { ledger: [announced('10'), announced('9')] };
    expect(actionsOf(slots, its)).toEqual(['touch 10: other-pass', 'touch 9: other-pass']);
    const touched = slots.map((one) =>
      Number(one.slot) > 8
        ? { ...one, anchor: { uid: `anchor-${one.slot}`, resourceVersion: '2', pass: OTHER_PASS } }
        : one,
    );
    expect(actionsOf(touched, its)).toEqual(['withdraw 10: stale']);
  });
});

describe('an instance that waits for quota', () => {
  const quotas = 'pods=10';
  const at = (revision: string, differs: Partial<Waiting> = {}) =>
    waiting('1', 'quota', { revision, ...differs });

  it('is held back until its time, then nudged, then held back twice as long', () => {
    const held = planOf(pool([troubled('1', 'quota')], { quotas }));
    expect([told(held), heldBack(held)]).toEqual([[], { 1: 'quota' }]);
    const due = { quotas, waiting: held.status.waiting, now: NOW + 10 * SECOND };
    const nudged = planOf(pool([troubled('1', 'quota')], due));
    expect(told(nudged)).toEqual(['nudge 1']);
    expect(nudged.status.waiting).toEqual([at('v2+pods=10', { since: NOW + 10 * SECOND, tries: 1 })]);
    expect(nudged.nextCheckAt).toBe(NOW + 30 * SECOND);
  });

  it.each([
    { title: 'standing', slot: troubled('1', 'quota') },
    { title: 'withdrawn', slot: { ...troubled('1', 'quota'), ...withdrawnBy(OTHER_PASS) } },
  ])('is nudged at once when the quotas change: $title', ({ slot }) => {
    const its = { quotas: 'pods=20', waiting: [at('v2+pods=10', { tries: 4 })] };
    const plan = planOf(pool([slot], its));
    expect(told(plan)).toEqual(['nudge 1']);
    expect(plan.status.waiting).toEqual([at('v2+pods=20', { tries: 5 })]);
  });

  it('is not nudged again while its pod is starting', () => {
    const its = { quotas, waiting: [at('v2+pods=10', { since: NOW - MINUTE })], ledger: [entry('1')] };
    expect(actionsOf([withdrawn('1', { phase: 'pending' })], its)).toEqual([]);
    expect(actionsOf([instance('1', { phase: 'pending' })], its)).not.toContain('nudge 1');
  });

  it.each<Trouble>(['imagePull', 'unschedulable', 'admission'])('is not nudged for %s', (cause) => {
    expect(actionsOf([troubled('1', cause)], { waiting: [waiting('1', cause, { since: 0 })] })).toEqual([]);
    const taken = { ...troubled('1', cause), ...withdrawnBy(OTHER_PASS) };
    expect(actionsOf([taken], { waiting: [waiting('1', cause, { since: 0 })] })).toEqual([]);
  });
});

function withdrawnBy(pass: string): Partial<Instance> {
  return { withdrawn: { building: 'v2', pass }, claimable: false };
}
