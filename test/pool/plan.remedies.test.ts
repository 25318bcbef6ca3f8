import { describe, expect, it } from 'vitest';
import type { Ailment, Instance, Plan, Remedy } from '../../src/pool/types.ts';
import {
  type Circumstances,
  condition,
  heldBack,
  instance,
  instances,
  MINUTE,
  NOW,
  planOf,
  pool,
  recorded,
  SECOND,
  waiting,
} from './_world.ts';

const WAKE: Remedy = { name: 'wake it', on: 'it', takes: false };
const ANEW: Remedy = { name: 'make it anew', on: 'pool', takes: true };

/** Not ready, and only its platform's operator can mend it. */
function ailing(slot: string, differs: Partial<Ailment> = {}, its: Partial<Instance> = {}): Instance {
  const ailment = { key: 'k', message: 'it sleeps', afterMs: 0, remedies: [WAKE, WAKE, ANEW], ...differs };
  return instance(slot, { phase: 'pending', claimable: false, ailment, ...its });
}

/** The same, but it can still be handed out. */
function serving(slot: string, remedies: readonly Remedy[]): Instance {
  return ailing(slot, { remedies }, { phase: 'ready', claimable: true });
}

const tried = (slot: string, tries: number, differs = {}) =>
  waiting(slot, 'ailing', { revision: 'k', tries, ...differs });
const prompts = ({ actions }: Plan): readonly string[] =>
  actions.map((action) => (action.kind === 'prompt' ? `${action.slot}: ${action.remedy}` : action.kind));
const plan = (slots: readonly Instance[], its: Circumstances = {}) => planOf(pool(slots, its));

describe('the first remedy', () => {
  it('comes at once where the operator does not mend it by itself', () => {
    expect(prompts(plan([ailing('1'), instance('2')]))).toEqual(['1: wake it']);
  });

  it('comes after 15 s where the operator may', () => {
    const slots = [ailing('1', { afterMs: 15 * SECOND })];
    const first = plan(slots);
    expect(prompts(first)).toEqual([]);
    expect(first.status.waiting).toEqual([tried('1', 0)]);
    expect(first.nextCheckAt).toBe(NOW + 15 * SECOND);
    const its = (now: number) => ({ waiting: first.status.waiting, now });
    expect(prompts(plan(slots, its(NOW + 15 * SECOND - 1)))).toEqual([]);
    expect(prompts(plan(slots, its(NOW + 15 * SECOND)))).toEqual(['1: wake it']);
  });

  it('stands in the status before it is tried, so that nobody tries it a second time', () => {
    const world = pool([ailing('1')]);
    const first = planOf(world);
    expect(first.status.waiting).toEqual([tried('1', 1)]);
    expect(first.changed).toBe(true);
    const second = planOf(recorded(world, first.status));
    expect(second.actions).toEqual([]);
    expect(second.changed).toBe(false);
    expect(heldBack(second)).toEqual({ 1: 'ailing' });
  });
});

describe('the next remedy', () => {
  it.each([
    [1, 20, 'wake it'],
    [2, 40, 'make it anew'],
    [3, 80, 'make it anew'],
    [4, 160, 'make it anew'],
  ])('after %i tries comes %i s after the last: %s', (tries, seconds, remedy) => {
    const its = (now: number) => ({ waiting: [tried('1', tries)], now });
    expect(prompts(plan([ailing('1')], its(NOW + seconds * SECOND - 1)))).toEqual([]);
    expect(prompts(plan([ailing('1')], its(NOW + seconds * SECOND)))).toEqual([`1: ${remedy}`]);
  });

  it('never comes when the last one was repeated twice: a person is told what was tried', () => {
    const given = (now: number) => plan([ailing('1')], { waiting: [tried('1', 5)], now });
    expect(condition(given(NOW + MINUTE).status, 'Degraded')).toBe('False AsExpected');
    const late = given(NOW + 60 * MINUTE);
    expect(late.actions).toEqual([]);
    expect(heldBack(late)).toEqual({ 1: 'given up' });
    expect(late.nextCheckAt).toBeUndefined();
    expect(late.status.conditions.find(({ type }) => type === 'Degraded')).toMatchObject({
      reason: 'GivenUp',
      message: '1: it sleeps (tried 5 times: wake it, make it anew)',
    });
  });

  it('is the first again for what was changed since', () => {
    const its = { waiting: [tried('1', 5)], now: NOW + 60 * MINUTE };
    const next = plan([ailing('1', { key: 'corrected' })], its);
    expect(prompts(next)).toEqual(['1: wake it']);
    expect(next.status.waiting).toEqual([tried('1', 1, { revision: 'corrected', since: its.now })]);
  });

  it('is still the next one when it fell ill again before its time was over', () => {
    const its = { waiting: [tried('1', 2)], now: NOW + 10 * SECOND };
    expect(plan([instance('1')], its).status.waiting).toEqual([tried('1', 2)]);
    expect(plan([instance('1', { phase: 'pending' })], { ...its, now: NOW + MINUTE }).status.waiting).toEqual(
      [tried('1', 2)],
    );
    expect(plan([instance('1')], { ...its, now: NOW + MINUTE }).status.waiting).toEqual([]);
  });
});

describe('what takes an instance away', () => {
  const ready = (from: number, to: number) => instances(to).slice(from - 1);

  it('takes no more than may be away: 2 of 8, and no third while they are not back', () => {
    const other = (slot: string) => ({ ...ANEW, on: `entry ${slot}` });
    const stale = (slot: string) => serving(slot, [other(slot)]);
    const slots = instances(8).map(({ slot }) => stale(slot));
    const first = plan(slots);
    expect(prompts(first)).toEqual(['8: make it anew', '7: make it anew']);
    // Prompted, and nothing has happened yet.
    const its = { waiting: first.status.waiting };
    expect(prompts(plan(slots, its))).toEqual([]);
    // They are on their way.
    const underWay = [
      ...slots.slice(0, 6),
      instance('7', { phase: 'pending' }),
      instance('8', { phase: 'pending' }),
    ];
    expect(prompts(plan(underWay, its))).toEqual([]);
    // One is back.
    const back = [...slots.slice(0, 6), instance('7', { phase: 'pending' }), instance('8')];
    expect(prompts(plan(back, its))).toEqual(['6: make it anew']);
  });

  it('takes no more broken ones either', () => {
    const slots = ['1', '2', '3', '4'].map((slot) =>
      ailing(slot, { remedies: [{ ...ANEW, on: `entry ${slot}` }] }),
    );
    expect(prompts(plan(slots))).toHaveLength(1);
  });

  it('waits while the pool is paused; what takes nothing does not', () => {
    const slots = [serving('1', [ANEW]), ailing('2'), ...ready(3, 8)];
    const paused = plan(slots, { paused: true });
    expect(prompts(paused)).toEqual(['2: wake it']);
    expect(heldBack(paused)).toEqual({ 1: 'paused' });
  });

  it('is one write on one object at a time', () => {
    const both = plan([ailing('1'), ailing('2'), ...ready(3, 8)]);
    expect(prompts(both)).toEqual(['2: wake it']);
    expect(both.status.waiting.map(({ slot, tries }) => [slot, tries])).toEqual([
      ['1', 0],
      ['2', 1],
    ]);
  });
});

describe('nothing is tried', () => {
  it.each<[string, Instance, Circumstances]>([
    ['on what a user holds', ailing('1', {}, { claimedBy: 'ada' }), {}],
    ['where only a person can help', ailing('1', { remedies: [] }), {}],
    ['in observe', ailing('1'), { mode: 'observe', memory: { conditions: [leaving()] } }],
    ['while the API refuses it', ailing('1'), { waiting: [waiting('1', 'forbidden', {})] }],
  ])('%s', (_, slot, its) => {
    const { actions } = plan([slot, instance('2')], its);
    expect(actions).toEqual([]);
  });

  it('and what nothing helps keeps nobody else waiting', () => {
    const lost = ailing('1', { remedies: [] });
    expect(prompts(plan([lost, serving('2', [ANEW]), instance('3')]))).toEqual(['2: make it anew']);
  });
});

function leaving() {
  return {
    type: 'Leaving',
    status: 'True',
    reason: 'Finishing',
    message: '',
    lastTransitionTime: '',
  } as const;
}
