import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isServing } from '../../src/pool/budget.ts';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Plan } from '../../src/pool/types.ts';
import { type Fate, Model } from './_model.ts';
import { condition, HOUR, planOf, SECOND } from './_world.ts';

/** Something that happens to the world, in words that a shrunk counterexample can be read in. */
type Event = readonly [name: keyof typeof EVENTS, argument: number];

const EVENTS = {
  waits: (model, seconds) => model.advance(seconds * SECOND),
  claims: (model, user) => model.claim(`session-${user}`),
  releases: (model, nth) => model.release(nth),
  ships: (model, revision) => model.ship(`v${2 + (revision % 3)}`),
  'ships a typo': (model, revision) => model.ship(`typo-${revision % 2}`, true),
  'ships a misfit': (model) => {
    model.misfits.add('huge');
    model.ship('huge');
  },
  scales: (model, replicas) => model.scale(1 + (replicas % 8)),
  'loses a deployment': (model, slot) => model.harm(1 + (slot % 8), 'workload'),
  'loses an anchor': (model, slot) => model.harm(1 + (slot % 8), 'anchor'),
  breaks: (model, slot) => model.harm(1 + (slot % 8), 'crash'),
  'will crash': (model, slot) => model.crashes.set(1 + (slot % 8), 1 + (slot % 2)),
  'is busy': (model, odd) => Object.assign(model, { quiet: odd % 2 === 0 }),
  'is paused': (model, odd) => Object.assign(model, { paused: odd % 2 === 1 }),
  'is left': (model, odd) => Object.assign(model, { mode: odd % 2 === 1 ? 'observe' : 'guard' }),
  'is full': (model, odd) =>
    Object.assign(model, { roomFor: odd % 2 === 1 ? Math.max(1, model.replicas - 1) : Infinity }),
  'has quota': (model, which) =>
    Object.assign(model, { quota: (['none', 'pods', 'objects'] as const)[which % 3] }),
  'gets an operator': (model, odd) =>
    Object.assign(model, { operator: odd % 4 === 0 ? undefined : { startedAt: model.now } }),
  'is looked at': (model) => void model.pass(),
  'is looked at by one who dies': (model, steps) => void model.pass({ diesAfter: steps % 4 }),
} satisfies Readonly<Record<string, (model: Model, argument: number) => void>>;

const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<Event[0]>('is looked at', 'is looked at by one who dies', 'waits'),
  },
  { weight: 3, arbitrary: fc.constantFrom<Event[0]>('ships', 'claims', 'releases', 'breaks', 'scales') },
  { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(EVENTS) as Event[0][])) },
);
const event: fc.Arbitrary<Event> = fc.tuple(name, fc.nat({ max: 30 }));
const meanwhile = fc.option(
  fc.constantFrom<Event>(['claims', 1], ['releases', 0], ['ships', 1], ['breaks', 0]),
  {
    freq: 1,
  },
);

function happen(model: Model, [what, argument]: Event): void {
  EVENTS[what](model, argument);
}

/** Whatever stood in the way is over, and the last release can be pulled. */
function calm(model: Model): void {
  Object.assign(model, { quiet: true, paused: false, mode: 'guard', roomFor: Infinity, quota: 'none' });
  model.crashes.clear();
  if (model.typos.has(model.revision) || model.misfits.has(model.revision)) model.ship('v9');
}

function expectDesired(model: Model, rest: Plan): void {
  const wrong = model.instances.filter(({ claimedBy, ...one }) => {
    if (claimedBy !== undefined) return false;
    return !one.target || !isServing(one) || one.drift.length > 0;
  });
  expect(wrong).toEqual([]);
  expect({ ledger: rest.status.ledger, waiting: rest.status.waiting }).toEqual({ ledger: [], waiting: [] });
  expect(isEmpty(rest)).toBe(true);
  expect(condition(rest.status, 'Current')).toBe('True AllCurrent');
  expect(condition(rest.status, 'Progressing')).toBe('False AtRest');
}

describe('whatever happened to a pool', () => {
  it('it reaches what is wanted and then rests, and no promise is broken on the way', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom<number | string>('25%', 1, 2, '50%'),
        fc.array(fc.tuple(event, meanwhile), { minLength: 1, maxLength: 30 }),
        (replicas, max, events) => {
          const model = new Model(replicas);
          model.maxUnavailable = max;
          for (const [one, other] of events) {
            if (one[0] === 'is looked at' && other !== null)
              model.pass({ meanwhile: (it) => happen(it, other) } as Fate);
            else happen(model, one);
          }
          calm(model);
          const rest = model.settle();
          expect(model.violations).toEqual([]);
          expectDesired(model, rest);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('stories', () => {
  it('a release rolls through ten, two at a time, and the two that users hold follow when they are released', () => {
    const model = new Model(10);
    model.claim('ada');
    model.claim('bob');
    model.ship('v2');
    model.settle();
    expect(model.instances.filter(({ drift }) => drift.length > 0).map(({ slot }) => slot)).toEqual([
      '1',
      '2',
    ]);
    expect(planOf(model.look()).status.counts).toMatchObject({
      ready: 8,
      claimed: 2,
      claimedStale: 2,
      stale: 0,
    });
    model.release(0);
    model.release(0);
    expectDesired(model, model.settle());
    expect(model.violations).toEqual([]);
  });

  it('a full cluster gets the release, too, one at a time', () => {
    const model = new Model(10);
    model.roomFor = 8;
    model.ship('v2');
    model.settle();
    const { status } = planOf(model.look());
    expect(status.counts).toMatchObject({ ready: 8, stale: 0, blocked: 2 });
    expect(model.violations).toEqual([]);
  });

  it('a cluster that lost half of its room still gets the release through, one at a time', () => {
    const model = new Model(10);
    model.roomFor = 5;
    model.ship('v2');
    model.settle();
    expect(planOf(model.look()).status.counts).toMatchObject({ ready: 5, stale: 0, blocked: 5 });
    expect(model.violations).toEqual([]);
  });

  it('a release that fits on no node takes one more than may be away, to try, and stops', () => {
    const model = new Model(10);
    model.misfits.add('v2-huge');
    model.ship('v2-huge');
    model.settle();
    expect(planOf(model.look()).status.counts).toMatchObject({ ready: 7, stale: 7, blocked: 3 });
    model.ship('v3');
    expectDesired(model, model.settle());
  });

  it('a typo release takes two away and no more; its fix rolls through', () => {
    const model = new Model(10);
    model.ship('v2-typo', true);
    model.settle();
    expect(planOf(model.look()).status.counts).toMatchObject({ ready: 8, stale: 8, blocked: 2 });
    model.ship('v2');
    expectDesired(model, model.settle());
  });

  it('an instance that crashes twice is replaced twice, each time later', () => {
    const model = new Model(3);
    model.crashes.set(3, 1);
    model.harm(3, 'crash');
    const begun = model.now;
    expectDesired(model, model.settle());
    expect(model.now - begun).toBeGreaterThanOrEqual(180 * SECOND);
    expect(model.now - begun).toBeLessThan(HOUR);
  });

  it.each([1, 2, 3, 10])('all %i broken at once are made anew', (count) => {
    const model = new Model(count);
    for (let slot = 1; slot <= count; slot += 1) model.harm(slot, 'crash');
    expectDesired(model, model.settle());
  });

  it('a pool whose quota was lowered and lifted is whole again', () => {
    const model = new Model(10);
    model.quota = 'pods';
    model.ship('v2');
    model.settle();
    expect(planOf(model.look()).status.counts).toMatchObject({ blocked: 3, ready: 7 });
    model.quota = 'none';
    expectDesired(model, model.settle());
  });

  it.each(['paused', 'left'] as const)(
    'in the middle of a roll-out a pool that is %s finishes what it began, and rests',
    (how) => {
      const model = new Model(10);
      model.ship('v2');
      model.pass();
      if (how === 'paused') model.paused = true;
      else model.mode = 'observe';
      for (let turn = 0; turn < 20; turn += 1) {
        model.pass();
        model.advance(5 * SECOND);
      }
      const serving = model.instances.filter(isServing);
      expect(serving).toHaveLength(10);
      expect(serving.filter(({ drift }) => drift.length === 0)).toHaveLength(2);
      expect(model.memory.ledger).toEqual([]);
      expect(model.instances.filter(({ withdrawn }) => withdrawn !== undefined)).toEqual([]);
      expect(condition(model.memory, 'Leaving')).toBe(how === 'left' ? 'False Left' : 'not said');
    },
  );
});
