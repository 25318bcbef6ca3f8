import { describe, expect, it } from 'vitest';
import { type Instance, KEPT, type Plan } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
  claimed,
  condition,
  emptied,
  heldBack,
  instance,
  missing,
  NOW,
  planOf,
  pool,
  SECOND,
  STALE,
  surplus,
  told,
  WANTED,
  waiting,
  withdrawn,
} from './_world.ts';

const UNTIL = NOW + 600 * SECOND;

/** What a pool plans while a release of its definition, whose counter is 5, is asked for. */
function plan(
  slots: readonly Instance[],
  its: Circumstances & { until?: number; counter?: number } = {},
): Plan {
  const { until = UNTIL, counter = 5, ...circumstances } = its;
  const world = pool(slots, { sourceCounter: 5, memory: { observedGeneration: 5 }, ...circumstances });
  return planOf({ ...world, policy: { ...world.policy, release: { counter, until } } });
}

/** Kept for a release: on its anchor, and on as many of its other parts. */
const kept = (slot: string, pinned: Instance['pinned'], differs: Partial<Instance> = {}) =>
  withdrawn(slot, {
    withdrawn: { building: KEPT, pass: 'any' },
    ...(pinned === undefined ? {} : { pinned }),
    ...differs,
  });

describe('while a release is prepared', () => {
  it('everything unclaimed is kept, from the highest down, whatever the budget', () => {
    const slots = [instance('1'), instance('2', STALE), instance('3'), claimed('4')];
    const first = plan(slots);
    expect(told(first)).toEqual(['pin 3 anchor', 'pin 2 anchor']);
    expect(heldBack(first)).toEqual({ '1': 'announced' });
    const then = [instance('1'), kept('2', undefined, STALE), kept('3', undefined), claimed('4')];
    expect(told(plan(then))).toEqual(['pin 1 anchor', 'pin 3 parts', 'pin 2 parts']);
  });

  it('what is handed out next is kept last, and not while somebody is on the way to it', () => {
    const held = plan([instance('1'), kept('2', 'all')], { quiet: false, operator: 'alive' });
    expect(told(held)).toEqual([]);
    expect(heldBack(held)['1']).toBe('quiet');
  });

  it('the other parts follow once the anchor is withheld, and then it rests until the time is over', () => {
    expect(told(plan([kept('1', undefined), kept('2', 'some')]))).toEqual(['pin 2 parts', 'pin 1 parts']);
    const rest = plan([kept('1', 'all'), kept('2', 'all')]);
    expect(told(rest)).toEqual([]);
    expect(rest.nextCheckAt).toBe(UNTIL);
    expect(condition(rest.status, 'Progressing')).toBe('True Releasing');
  });

  it.each([
    { what: 'is stale and being replaced', slot: withdrawn('3', STALE), does: [] },
    { what: 'is empty', slot: emptied('3'), does: ['build 3'] },
    { what: 'is new and ready', slot: withdrawn('3'), does: ['pin 3 anchor'] },
    { what: 'is not wanted any more', slot: surplus('3'), does: ['withdraw 3: surplus'] },
    { what: 'is half', slot: anchorless('3'), does: ['build 3'] },
  ])('what $what is not kept but finished, or kept when it is', ({ slot, does }) => {
    const actions = told(plan([kept('1', 'all'), kept('2', 'all'), slot], { replicas: 3 }));
    for (const one of does) expect(actions.join()).toContain(one);
    expect(actions.filter((one) => /^(pin|unpin) 3/.test(one))).toEqual(
      does.filter((one) => one.startsWith('pin')),
    );
  });

  it.each([
    { what: 'its time is over', its: { until: NOW } },
    { what: 'the definition is another one', its: { counter: 4 } },
    { what: 'the pool is paused', its: { paused: true } },
    { what: 'Everwarm leaves', its: { mode: 'observe' } },
  ] as const)('nothing is kept when $what', ({ its }) => {
    expect(told(plan([instance('1'), instance('2')], its))).toEqual([]);
  });
});

describe('when a release is over', () => {
  const over = { counter: 4 } as const;

  it('parts first, the anchor last; stale ones too', () => {
    const slots = [kept('1', 'all', STALE), kept('2', 'some'), kept('3', undefined, STALE)];
    expect(told(plan(slots, over)).filter((one) => one.startsWith('unpin'))).toEqual([
      'unpin 3 anchor',
      'unpin 2 parts',
      'unpin 1 parts',
    ]);
  });

  it.each([
    { what: 'lost a part meanwhile', slot: kept('1', 'all', { absent: true }) },
    { what: 'is not ready', slot: kept('1', undefined, { phase: 'pending', ...STALE }) },
    { what: 'was used', slot: kept('1', 'all', { dirt: 'used pod' }) },
  ])('one that $what is not handed out but made anew', ({ slot }) => {
    expect(told(plan([slot, instance('2')], { ...over })).join()).not.toContain('unpin');
  });

  it('the operator first has five seconds to come to the change, and then nobody waits for the other ten', () => {
    const settles = (since: number) => {
      const entry = waiting('*', 'settling', { revision: '5', since });
      return plan([kept('1', 'all'), kept('2', undefined)], { ...over, operator: 'alive', waiting: [entry] });
    };
    const early = settles(NOW - 4 * SECOND);
    expect(told(early)).toEqual([]);
    expect(early.nextCheckAt).toBe(NOW + SECOND);
    expect(told(settles(NOW - 5 * SECOND))).toEqual(['unpin 1 parts', 'unpin 2 anchor']);
  });

  it('also where nothing else can be planned, and while Everwarm leaves', () => {
    const problem = { reason: 'InvalidDefinition', message: 'spec.image is empty' };
    expect(told(plan([kept('1', 'all')], { ...over, problem }))).toEqual(['unpin 1 parts']);
    expect(told(plan([kept('1', undefined)], { ...over, mode: 'observe' }))).toEqual(['unpin 1 anchor']);
    expect(told(plan([kept('1', 'all')], { problem }))).toEqual([]);
  });

  it('a pin that is left on a replaced instance goes before it is handed out', () => {
    expect(told(plan([withdrawn('1', { pinned: 'some' }), instance('2')], over))).toEqual(['unpin 1 parts']);
    expect(told(plan([withdrawn('1'), instance('2')], over))).toEqual(['return 1']);
    expect(told(plan([instance('1'), instance('2', { pinned: 'some', claimable: false })], over))).toEqual([
      'unpin 2 parts',
    ]);
  });

  it('what a user holds is none of its business', () => {
    const slots = [claimed('1', { pinned: 'all', held: true }), missing('2')];
    expect(told(plan(slots, over)).filter((one) => one.includes('pin'))).toEqual([]);
    expect(WANTED).not.toBe(KEPT);
  });
});
