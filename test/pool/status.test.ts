import { describe, expect, it } from 'vitest';
import { countsOf } from '../../src/pool/status.ts';
import type { Condition, Counts, Instance, Trouble } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
  condition,
  emptied,
  entry,
  instance,
  instances,
  MINUTE,
  missing,
  NOW,
  planOf,
  pool,
  recorded,
  refusal,
  STALE,
  surplus,
  troubled,
  waiting,
  withdrawn,
} from './_world.ts';

const statusOf = (slots: readonly Instance[], its?: Circumstances) => planOf(pool(slots, its)).status;
const said = (slots: readonly Instance[], type: Condition['type'], its?: Circumstances) => {
  const { status, reason, message } = statusOf(slots, its).conditions.find((c) => c.type === type) ?? {};
  return [status, reason, message];
};

describe('the counts', () => {
  const none: Counts = {
    desired: 1,
    ready: 0,
    current: 0,
    stale: 0,
    claimed: 0,
    claimedStale: 0,
    claimedSurplus: 0,
    failed: 0,
    blocked: 0,
  };
  it.each<{ title: string; one: Instance; counts: Partial<Counts> }>([
    { title: 'a warm instance is ready and current', one: instance('1'), counts: { ready: 1, current: 1 } },
    { title: 'a stale one is ready all the same', one: instance('1', STALE), counts: { ready: 1, stale: 1 } },
    {
      title: 'one to be refreshed counts as stale',
      one: instance('1', { refresh: true }),
      counts: { ready: 1, stale: 1 },
    },
    {
      title: 'one that starts is current, not ready',
      one: instance('1', { phase: 'pending' }),
      counts: { current: 1 },
    },
    { title: 'a withdrawn one is on its way: neither', one: withdrawn('1'), counts: {} },
    { title: 'nor is a withdrawn one stale', one: withdrawn('1', STALE), counts: {} },
    { title: 'a half one is neither', one: emptied('1'), counts: {} },
    { title: 'one that is going is neither', one: withdrawn('1', { terminating: true }), counts: {} },
    { title: 'one without anchor is neither', one: anchorless('1'), counts: {} },
    { title: 'an empty slot counts as nothing', one: missing('1'), counts: {} },
    { title: 'one beyond the wanted number counts as nothing', one: surplus('1'), counts: {} },
    { title: 'a claimed one counts apart', one: instance('1', { claimedBy: 'a' }), counts: { claimed: 1 } },
    {
      title: 'a claimed stale one, too',
      one: instance('1', { claimedBy: 'a', ...STALE }),
      counts: { claimed: 1, claimedStale: 1 },
    },
    {
      title: 'a claimed one beyond the wanted number, too',
      one: surplus('1', { claimedBy: 'a' }),
      counts: { claimed: 1, claimedSurplus: 1 },
    },
    {
      title: 'a crash is a failure and blocks',
      one: troubled('1', 'crash'),
      counts: { current: 1, failed: 1, blocked: 1 },
    },
    {
      title: 'a crash that it got over is none',
      one: troubled('1', 'crash', { phase: 'ready' }),
      counts: { ready: 1, current: 1 },
    },
    {
      title: 'no room blocks, and is no failure',
      one: troubled('1', 'quota'),
      counts: { current: 1, blocked: 1 },
    },
    {
      title: 'a stale one that fails is not blocked',
      one: troubled('1', 'imagePull', STALE),
      counts: { stale: 1, failed: 1 },
    },
  ])('$title', ({ one, counts }) => {
    expect(countsOf(pool([one], { replicas: 1 }).desired, [one])).toEqual({ ...none, ...counts });
  });

  it.each<Trouble>(['crash', 'deadline', 'imagePull'])('%s is a failure', (cause) => {
    expect(countsOf(pool([]).desired, [troubled('1', cause)]).failed).toBe(1);
  });

  it('nothing is stale or current while it is not known what is wanted', () => {
    const { desired } = pool([], { revision: 'unknown' });
    const slots = [instance('1', STALE), instance('2'), instance('3', { claimedBy: 'a', ...STALE })];
    expect(countsOf(desired, slots)).toMatchObject({
      stale: 0,
      current: 0,
      claimedStale: 0,
      ready: 2,
      claimed: 1,
    });
  });

  it('tell of the withdrawals that this status licenses: it is written once for both', () => {
    expect(statusOf(instances(4, STALE)).counts).toMatchObject({ ready: 3, stale: 3 });
  });
});

describe('Ready', () => {
  it('holds while no more are away than may be', () => {
    const away = (count: number) => instances(10).map((one, at) => (at < count ? withdrawn(one.slot) : one));
    expect(said(away(2), 'Ready')).toEqual(['True', 'EnoughReady', '8 of 10 unclaimed instances are ready']);
    expect(said(away(3), 'Ready')).toEqual(['False', 'TooFewReady', '7 of 10 unclaimed instances are ready']);
  });

  it('asks nothing of claimed and surplus ones', () => {
    const slots = [instance('1', { claimedBy: 'a' }), withdrawn('2'), surplus('3')];
    expect(said(slots, 'Ready')).toEqual(['True', 'EnoughReady', '0 of 1 unclaimed instances are ready']);
  });

  it('asks nothing of a slot that somebody else’s object blocks', () => {
    const blocked = instance('2', { foreign: 'Service/ide-2', phase: 'pending' });
    expect(said([instance('1'), blocked], 'Ready')).toEqual([
      'True',
      'EnoughReady',
      '1 of 1 unclaimed instances are ready',
    ]);
  });

  it('holds when all are claimed', () => {
    expect(said([instance('1', { claimedBy: 'a' })], 'Ready').slice(0, 2)).toEqual(['True', 'EnoughReady']);
  });

  it('counts empty slots as away', () => {
    expect(said([missing('1'), missing('2')], 'Ready')[0]).toBe('False');
  });
});

describe('Current', () => {
  it.each<{ title: string; slots: readonly Instance[]; its?: Circumstances; words: readonly string[] }>([
    {
      title: 'nothing is stale',
      slots: [instance('1')],
      words: ['True', 'AllCurrent', 'no unclaimed instance is stale'],
    },
    {
      title: 'a user keeps a stale one',
      slots: [instance('1', { claimedBy: 'a', ...STALE })],
      words: [
        'True',
        'AllCurrent',
        'no unclaimed instance is stale; claimed and stale, kept until released: 1',
      ],
    },
    {
      title: 'some are stale',
      slots: instances(3, STALE),
      words: ['False', 'Stale', '2 unclaimed instances are stale'],
    },
    {
      title: 'one is stale',
      slots: instances(2, STALE),
      words: ['False', 'Stale', '1 unclaimed instance is stale'],
    },
    {
      title: 'nobody knows',
      slots: [instance('1')],
      its: { revision: 'unknown' },
      words: ['False', 'RevisionUnknown', 'what is wanted cannot be computed'],
    },
  ])('says that $title', ({ slots, its, words }) => {
    expect(said(slots, 'Current', its)).toEqual(words);
  });
});

describe('Progressing', () => {
  it.each<{ title: string; slots: readonly Instance[]; its?: Circumstances; words: readonly string[] }>([
    {
      title: 'nothing is being built',
      slots: instances(2),
      words: ['False', 'AtRest', 'nothing is being built'],
    },
    {
      title: 'slots are being built, in the order of their numbers',
      slots: [emptied('10'), emptied('9'), missing('2'), instance('1')],
      words: ['True', 'Building', 'being built or replaced: slots 2, 9, 10'],
    },
    {
      title: 'slots are being built, in the order of their names where they have some',
      slots: ['web', 'api', 'db'].map((slot, rank) => ({ ...emptied(slot), rank })),
      words: ['True', 'Building', 'being built or replaced: slots api, db, web'],
    },
    {
      title: 'slots are being built, also when their parts are refused',
      slots: [emptied('1'), instance('2')],
      its: { refusals: [refusal('quota')] },
      words: ['True', 'Building', 'being built or replaced: slots 1'],
    },
    {
      title: 'one was announced',
      slots: [instance('1', STALE), instance('2')],
      its: { ledger: [entry('1')], quiet: false },
      words: ['True', 'Building', 'being built or replaced: slots 1'],
    },
    {
      title: 'one that is blocked is not being built',
      slots: [troubled('1', 'imagePull'), instance('2')],
      words: ['False', 'AtRest', 'nothing is being built'],
    },
    {
      title: 'foreign, claimed and surplus ones are not being built',
      slots: [
        instance('1', { phase: 'pending', foreign: 'Service/x' }),
        instance('2', { phase: 'pending', claimedBy: 'a' }),
        instance('3', { phase: 'pending', target: false, claimedBy: 'b' }),
      ],
      words: ['False', 'AtRest', 'nothing is being built'],
    },
    {
      title: 'a paused pool is not at rest while something is stale',
      slots: [instance('1', STALE)],
      its: { paused: true },
      words: ['False', 'Paused', 'nothing new is withdrawn until the pool is resumed'],
    },
    {
      title: 'a paused pool is at rest when all is current',
      slots: [instance('1')],
      its: { paused: true },
      words: ['False', 'AtRest', 'nothing is being built'],
    },
    {
      title: 'nothing is being built in a pool with a problem',
      slots: [missing('1')],
      its: { problem: { reason: 'Unsupported', message: 'nothing is handed out' } },
      words: ['False', 'AtRest', 'nothing is being built'],
    },
    {
      title: 'the operator has the first word',
      slots: [emptied('1')],
      its: { operator: { startedAt: NOW } },
      words: ['True', 'Settling', 'the platform operator has the first word for 15 seconds'],
    },
  ])('says that $title', ({ slots, its, words }) => {
    expect(said(slots, 'Progressing', its)).toEqual(words);
  });
});

describe('Degraded', () => {
  const foreign = instance('1', { foreign: 'Service/ide-1' });
  const problem = { reason: 'InvalidSpec', message: 'spec.image is empty' };
  const blocked = troubled('2', 'crash');
  it.each<{ title: string; slots: readonly Instance[]; its?: Circumstances; words: readonly string[] }>([
    {
      title: 'nothing',
      slots: [instance('1')],
      words: ['False', 'AsExpected', 'nothing needs a person'],
    },
    {
      title: 'the problem of the pool before anything else',
      slots: [foreign, blocked, missing('3')],
      its: { problem, refusals: [refusal('quota')] },
      words: ['True', 'InvalidSpec', 'spec.image is empty'],
    },
    {
      title: 'what is missing around the pool before what is wrong in it',
      slots: [foreign, blocked],
      its: { concern: { reason: 'RouteMissing', message: 'there is no route' } },
      words: ['True', 'RouteMissing', 'there is no route'],
    },
    {
      title: 'a problem before what is missing around the pool',
      slots: [instance('1')],
      its: { problem, concern: { reason: 'RouteMissing', message: 'there is no route' } },
      words: ['True', 'InvalidSpec', 'spec.image is empty'],
    },
    {
      title: 'foreign objects before refusals',
      slots: [foreign, blocked, missing('3')],
      its: { refusals: [refusal('quota')] },
      words: ['True', 'ForeignObject', 'not ours, not touched: Service/ide-1'],
    },
    {
      title: 'every foreign object',
      slots: [foreign, instance('2', { foreign: 'ConfigMap/ide-2' })],
      words: ['True', 'ForeignObject', 'not ours, not touched: Service/ide-1, ConfigMap/ide-2'],
    },
    {
      title: 'refused creates before refused writes on a slot',
      slots: [instance('1'), blocked, missing('3')],
      its: {
        refusals: [refusal('quota'), refusal('forbidden', '1')],
        waiting: [waiting('*', 'quota', { tries: 1 })],
      },
      words: ['True', 'Refused', 'creates are refused: quota (try 3)'],
    },
    {
      title: 'all causes for which creates are refused',
      slots: [missing('3')],
      its: { refusals: [refusal('quota'), refusal('admission')] },
      words: ['True', 'Refused', 'creates are refused: admission (try 1), quota (try 1)'],
    },
    {
      title: 'refused writes on a slot before blocked ones',
      slots: [instance('1'), blocked],
      its: { refusals: [refusal('forbidden', '1'), refusal('invalid', '2')] },
      words: ['True', 'Refused', 'slot 1: forbidden, slot 2: invalid'],
    },
    {
      title: 'the blocked ones by their cause',
      slots: [
        troubled('1', 'imagePull'),
        blocked,
        troubled('3', 'imagePull'),
        troubled('4', 'quota', { claimedBy: 'a' }),
        troubled('5', 'deadline', { target: false }),
      ],
      words: ['True', 'Blocked', 'imagePull: slots 1, 3; crash: slots 2'],
    },
    {
      title: 'a volume that is waited for, with its cure',
      slots: [
        troubled('1', 'storage', {
          trouble: { cause: 'storage', message: 'claim c1 is Pending: look at its events' },
        }),
        troubled('2', 'quota'),
      ],
      words: [
        'True',
        'Blocked',
        'storage: slots 1 (claim c1 is Pending: look at its events); quota: slots 2',
      ],
    },
    {
      title: 'nothing while the operator has the first word',
      slots: [missing('1')],
      its: { operator: { startedAt: NOW } },
      words: ['False', 'AsExpected', 'nothing needs a person'],
    },
    {
      title: 'nothing for an operator that may still fill a slot',
      slots: [missing('1')],
      its: { operator: 'alive' },
      words: ['False', 'AsExpected', 'nothing needs a person'],
    },
  ])('names $title', ({ slots, its, words }) => {
    expect(said(slots, 'Degraded', its)).toEqual(words);
  });
});

describe('adopted', () => {
  it.each([
    { title: 'is not said before anything was compared', its: {}, adopted: undefined },
    { title: 'is said once it was found', its: { adopted: true }, adopted: true },
    { title: 'stays when it can no longer be found', its: { memory: { adopted: true } }, adopted: true },
  ])('$title', ({ its, adopted }) => {
    expect(statusOf([instance('1')], its).adopted).toBe(adopted);
  });

  it('is written when nothing else is to be', () => {
    const before = pool([instance('1')]);
    const rested = recorded(before, planOf(before).status);
    expect(planOf(rested).changed).toBe(false);
    const found = { ...rested, desired: { ...rested.desired, adopted: true } };
    expect(planOf(found).changed).toBe(true);
    expect(planOf(recorded(found, planOf(found).status)).changed).toBe(false);
  });
});

describe('Leaving', () => {
  const finishing: Condition = {
    type: 'Leaving',
    status: 'True',
    reason: 'Finishing',
    message: 'slots 1',
    lastTransitionTime: '2026-01-05T11:00:00Z',
  };
  const its = { mode: 'observe', memory: { conditions: [finishing] } } as const;

  it('names the slots that are left, announced ones too', () => {
    const slots = [instance('1'), emptied('2'), instance('3'), withdrawn('4', { claimedBy: 'a' })];
    const its = { mode: 'observe', ledger: [entry('3', { pass: 'other-pass' })] } as const;
    expect(said(slots, 'Leaving', its)).toEqual(['True', 'Finishing', 'slots 2, 3']);
  });

  it('goes on for a slot that the ledger has lost', () => {
    expect(said([emptied('2')], 'Leaving', its)).toEqual(['True', 'Finishing', 'slots 2']);
  });

  it('goes on for a slot that is not withdrawn yet but may be by a slower pass', () => {
    const ledger = [entry('3', { pass: 'other-pass' })];
    expect(said([instance('3')], 'Leaving', { ...its, ledger })).toEqual(['True', 'Finishing', 'slots 3']);
  });

  it('is over when nothing is withdrawn any more', () => {
    expect(said([instance('1')], 'Leaving', its)).toEqual(['False', 'Left', 'nothing is withdrawn any more']);
  });

  it('is over when the pool is guarded again', () => {
    expect(said([instance('1')], 'Leaving', { ...its, mode: 'guard' })[0]).toBeUndefined();
  });
});

describe('what moves in a status', () => {
  it('the time of a condition is that of its last change, in whole seconds', () => {
    const world = pool([instance('1')], { now: NOW + 345, quiet: false });
    const first = planOf(world).status;
    expect(first.conditions.map((c) => c.lastTransitionTime)).toEqual(Array(4).fill('2026-01-05T12:00:00Z'));
    const later = { ...recorded(world, first), now: NOW + MINUTE };
    const changed = { ...later, observed: { ...later.observed, instances: [instance('1', STALE)] } };
    const second = planOf(changed).status.conditions;
    expect(Object.fromEntries(second.map((c) => [c.type, c.lastTransitionTime]))).toEqual({
      Ready: '2026-01-05T12:00:00Z',
      Current: '2026-01-05T12:01:00Z',
      Progressing: '2026-01-05T12:00:00Z',
      Degraded: '2026-01-05T12:00:00Z',
    });
  });

  it('tells the counter and the revision it was made from', () => {
    expect(statusOf([instance('1')], { sourceCounter: 7 })).toMatchObject({
      observedGeneration: 7,
      revision: 'v2',
    });
    expect(statusOf([], { revision: 'unknown' })).not.toHaveProperty('revision');
  });

  it('tells when to look again, and only if somebody waits', () => {
    expect(statusOf([troubled('1', 'crash')]).nextCheckAt).toBe(NOW + MINUTE);
    expect(statusOf([troubled('1', 'imagePull')])).not.toHaveProperty('nextCheckAt');
  });

  it.each<{ title: string; its: Circumstances; slots: readonly Instance[] }>([
    { title: 'the counter of the definition', its: { sourceCounter: 2 }, slots: [instance('1')] },
    { title: 'the revision', its: { revision: 'v3' }, slots: [instance('1')] },
    { title: 'a count', its: {}, slots: [instance('1', { claimedBy: 'a' })] },
    { title: 'the wanted number', its: { replicas: 2 }, slots: [instance('1')] },
    { title: 'a message', its: {}, slots: [instance('1'), instance('2')] },
    { title: 'a cause to wait', its: {}, slots: [troubled('1', 'unschedulable')] },
  ])('another $title is a change', ({ its, slots }) => {
    const before = statusOf([instance('1')]);
    expect(planOf(pool(slots, { ...its, memory: before })).changed).toBe(true);
  });

  it.each([
    { title: 'the tries', differs: { tries: 1 } },
    { title: 'the time', differs: { since: NOW - 1 } },
    { title: 'the revision', differs: { revision: 'v1' } },
  ])('$title of an entry that is waited for are part of it', ({ differs }) => {
    const slots = [troubled('1', 'imagePull')];
    const before = statusOf(slots);
    const memory = { ...before, waiting: [{ ...waiting('1', 'imagePull'), ...differs }] };
    const after = planOf(pool(slots, { memory }));
    const stays = after.status.waiting[0]?.since !== NOW || after.status.waiting[0]?.tries !== 0;
    expect(after.changed).toBe(!stays);
  });

  it('an entry of the ledger that is licensed anew is a change', () => {
    const slots = [withdrawn('1', STALE)];
    const memory = statusOf(slots, { ledger: [entry('1')] });
    expect(planOf(pool(slots, { memory })).changed).toBe(false);
    expect(planOf(pool(slots, { memory, pass: 'other-pass' })).changed).toBe(true);
  });

  it.each<{ title: string; differs: Partial<Condition> }>([
    { title: 'message', differs: { message: 'something else' } },
    { title: 'reason', differs: { reason: 'SomethingElse' } },
  ])('another $title of a condition is a change', ({ differs }) => {
    const before = statusOf([instance('1')]);
    const conditions = before.conditions.map((one) => ({ ...one, ...differs }));
    expect(planOf(pool([instance('1')], { memory: { ...before, conditions } })).changed).toBe(true);
  });

  it('the order of the fields of a stored status is none', () => {
    const before = statusOf([instance('1')]);
    const { counts } = before;
    const reversed = Object.fromEntries(Object.entries(counts).reverse()) as unknown as Counts;
    expect(planOf(pool([instance('1')], { memory: { ...before, counts: reversed } })).changed).toBe(false);
  });

  it('a status that was never written is a change', () => {
    expect(planOf(pool([])).changed).toBe(true);
    expect(condition(statusOf([]), 'Ready')).toBe('True EnoughReady');
  });
});
