import { describe, expect, it } from 'vitest';
import type { Instance } from '../../src/pool/types.ts';
import {
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
  refusal,
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

describe('what cannot be decided', () => {
  const slots = [
    instance('1', STALE),
    missing('2'),
    withdrawn('3', STALE),
    emptied('4'),
    withdrawn('5'),
    instance('6', { target: false }),
    troubled('7', 'crash'),
  ];
  const its = { leftovers: ['ide-9-emails'], ledger: [entry('3')], waiting: [crashedBefore('7')] };

  it('without a revision nothing is stale and nothing is done but for the left-overs', () => {
    const plan = planOf(pool(slots, { ...its, revision: 'unknown', memory: { revision: 'v1' } }));
    expect(told(plan)).toEqual(['discard ide-9-emails']);
    expect(plan.status).toMatchObject({
      revision: 'v1',
      ledger: its.ledger,
      counts: { stale: 0, current: 0 },
    });
    expect(condition(plan.status, 'Current')).toBe('False RevisionUnknown');
  });

  it('a problem of the pool stops it, by its name', () => {
    const problem = { reason: 'InvalidSpec', message: 'spec.minInstances is greater than spec.maxInstances' };
    const plan = planOf(pool(slots, { ...its, problem }));
    expect(told(plan)).toEqual(['discard ide-9-emails']);
    expect(plan.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'True', ...problem }),
    );
  });

  it('an instance that is stale right after its creation holds the pool, and the paths are named', () => {
    const unstable = instance('3', { drift: ['deployment: spec.a', 'deployment: spec.b'], unstable: true });
    const plan = planOf(pool([instance('1', STALE), missing('2'), unstable]));
    expect(plan.actions).toEqual([]);
    expect(plan.status.conditions).toContainEqual(
      expect.objectContaining({
        reason: 'UnstableRendering',
        message: 'slot 3 differs right after its creation: deployment: spec.a, deployment: spec.b',
      }),
    );
  });

  it('a claimed one that was rendered unstably holds nobody', () => {
    const unstable = instance('1', { ...STALE, unstable: true, claimedBy: 'session-1' });
    expect(actionsOf([unstable, instance('2', STALE)])).toEqual(['withdraw 2: stale']);
  });

  it('instances that could not be read leave everything as it was known', () => {
    const counts = { ...planOf(pool(instances(3))).status.counts, ready: 2 };
    const memory = { counts, waiting: [crashedBefore('7')] };
    const problem = { reason: 'Unreadable', message: 'listing Deployments: 500' };
    const plan = planOf(pool([], { unreadable: true, problem, memory }));
    expect([plan.actions, plan.status.counts, plan.status.waiting]).toEqual([[], counts, memory.waiting]);
  });
});

describe('a foreign object under one of our names', () => {
  it('gives its slot’s place in the ledger back: our anchor is touched, then the entry leaves', () => {
    const slots = [instance('1', STALE), instance('2', { ...STALE, foreign: 'ConfigMap/ide-2' })];
    const its = { ledger: [entry('2', { pass: OTHER_PASS })] };
    expect(actionsOf(slots, its)).toContain('touch 2: other-pass');
    const anchor = { uid: 'anchor-2', resourceVersion: '2', pass: OTHER_PASS };
    const touched = slots.map((one) => (one.slot === '2' ? { ...one, anchor } : one));
    expect(planOf(pool(touched, its)).status.ledger.map(({ slot }) => slot)).toEqual(['1']);
  });

  it.each<{ title: string; one: Instance }>([
    { title: 'stale', one: instance('2', STALE) },
    { title: 'in parts', one: instance('2', { absent: true, phase: 'pending' }) },
    { title: 'withdrawn', one: withdrawn('2', STALE) },
    { title: 'surplus', one: instance('2', { target: false }) },
    { title: 'dirty', one: instance('2', { dirt: 'used pod' }) },
  ])('is not touched, and blocks its slot alone: $title', ({ one }) => {
    const slots = [instance('1', STALE), { ...one, foreign: 'Service/ide-2' }, missing('3')];
    const plan = planOf(pool(slots, { maxUnavailable: 3, replicas: 4 }));
    expect(told(plan).filter((action) => action.includes(' 2'))).toEqual([]);
    expect(told(plan)).toEqual(['withdraw 1: stale', 'build 3']);
    expect(heldBack(plan)).toEqual({ 2: 'foreign object Service/ide-2' });
    expect(plan.status.conditions).toContainEqual(
      expect.objectContaining({ reason: 'ForeignObject', message: 'not ours, not touched: Service/ide-2' }),
    );
  });
});

describe('a refused create', () => {
  const its = { refusals: [refusal('quota')], quotas: 'pods=10' };

  it('is tried once, and then not before its time', () => {
    const plan = planOf(pool([instance('1'), missing('2'), missing('3')], its));
    expect(plan.actions).toEqual([]);
    expect(heldBack(plan)).toEqual({ 2: 'refused', 3: 'refused' });
    expect(plan.nextCheckAt).toBe(NOW + 10 * SECOND);
    expect(condition(plan.status, 'Degraded')).toBe('True Refused');
  });

  it.each<{ title: string; later: Circumstances; actions: readonly string[] }>([
    { title: 'not a moment before', later: { now: NOW + 10 * SECOND - 1, quotas: 'pods=10' }, actions: [] },
    { title: 'at its time', later: { now: NOW + 10 * SECOND, quotas: 'pods=10' }, actions: ['build 2'] },
    { title: 'at once when the quotas change', later: { quotas: 'pods=20' }, actions: ['build 2'] },
    {
      title: 'at once for another revision',
      later: { quotas: 'pods=10', revision: 'v3' },
      actions: ['build 2'],
    },
  ])('is tried again $title', ({ later, actions }) => {
    const { status } = planOf(pool([instance('1'), missing('2')], its));
    expect(actionsOf([instance('1'), missing('2')], { ...later, waiting: status.waiting })).toEqual(actions);
  });

  it('holds every create of the pool back, and every replacement: what is emptied could not be filled again', () => {
    const slots = [
      instance('1', STALE),
      missing('2'),
      instance('3', { absent: true, phase: 'pending' }),
      emptied('4'),
    ];
    const plan = planOf(pool(slots, { ...its, ledger: [entry('4')], maxUnavailable: 4 }));
    expect(plan.actions).toEqual([]);
    expect(heldBack(plan)).toEqual({ 1: 'refused', 2: 'refused', 3: 'refused', 4: 'refused' });
  });

  it('does not hold back what makes room: surplus ones go, ready ones are returned', () => {
    const slots = [missing('1'), withdrawn('2'), instance('3', { target: false })];
    expect(actionsOf(slots, { ...its, replicas: 3, ledger: [entry('2')] })).toEqual([
      'withdraw 3: surplus',
      'return 2',
    ]);
  });
});

describe('a refused write on one slot', () => {
  it.each(['forbidden', 'invalid', 'admission'] as const)(
    'that is %s holds that slot alone back',
    (cause) => {
      const slots = [missing('1'), instance('2'), instance('3', STALE)];
      const its = { refusals: [refusal(cause, '3')], maxUnavailable: 3 };
      const plan = planOf(pool(slots, its));
      expect(told(plan)).toEqual(['build 1']);
      expect(heldBack(plan)).toEqual({ 3: 'refused' });
      expect(condition(plan.status, 'Degraded')).toBe('True Refused');
      expect(
        actionsOf(slots, { ...its, refusals: [], waiting: plan.status.waiting, now: NOW + 10 * SECOND }),
      ).toEqual(['build 1', 'withdraw 3: stale']);
    },
  );

  it('does not hold the release back: what was refused is not on its way', () => {
    const its = { ledger: [entry('3', { anchor: 'anchor-3' })], refusals: [refusal('forbidden', '3')] };
    const plan = planOf(pool([instance('1'), instance('2', STALE), instance('3', STALE)], its));
    expect(told(plan)).toEqual(['withdraw 2: stale']);
    expect(heldBack(plan)).toEqual({ 3: 'refused' });
    // When its time has come and both are announced, both are given up before one of them goes.
    const ledger = [...plan.status.ledger].sort((a, b) => Number(a.slot) - Number(b.slot));
    const slots = [instance('1'), instance('2', STALE), instance('3', STALE)];
    const later = { ledger, waiting: plan.status.waiting, now: NOW + MINUTE, pass: 'next-pass' };
    expect(actionsOf(slots, later)).toEqual(['touch 2: this-pass', 'touch 3: this-pass']);
  });

  it('is not asked again by a touch', () => {
    const its = { ledger: [entry('3', { pass: OTHER_PASS })], refusals: [refusal('forbidden', '3')] };
    const plan = planOf(pool([instance('3')], its));
    expect([told(plan), plan.status.ledger]).toEqual([[], its.ledger]);
  });

  it.each(['forbidden', 'invalid'] as const)(
    'that would delete a left-over and is %s holds back that one alone',
    (cause) => {
      const leftovers = ['ide-7-emails', 'ide-8-emails'];
      const slots = [missing('1')];
      const plan = planOf(pool(slots, { leftovers, refusals: [refusal(cause, 'ide-7-emails')] }));
      expect(told(plan)).toEqual(['discard ide-8-emails', 'build 1']);
      expect(actionsOf(slots, { leftovers, waiting: plan.status.waiting, now: NOW + 10 * SECOND })).toContain(
        'discard ide-7-emails',
      );
    },
  );
});
