import { describe, expect, it } from 'vitest';
import { deedsOf } from '../../src/controller/deeds.ts';
import { gathered, messageOf } from '../../src/controller/events.ts';
import { turnsOf } from '../../src/controller/turns.ts';
import type { Action, Condition, Instance } from '../../src/pool/types.ts';
import {
  anchorless,
  type Circumstances,
  claimed,
  emptied,
  entry,
  instance,
  instances,
  missing,
  NOW,
  planOf,
  pool,
  refusal,
  SECOND,
  STALE,
  surplus,
  THIS_PASS,
  troubled,
  WANTED,
  type World,
  waiting,
  withdrawn,
} from '../pool/_world.ts';

/** What people are told after `actions` were done in that pool: `Replaced slots 1, 2: …`. */
function toldOfDeeds(world: World, actions: readonly Action[]): readonly string[] {
  return gathered(deedsOf(actions, { ...world, plan: planOf(world) })).map((one) => messageOf(one));
}

/** What people are told when the status that stands becomes the one that is planned: `Warning Blocked: …`. */
function toldOfTurns(world: World): readonly string[] {
  const { refusals } = world.observed.pass;
  return gathered(turnsOf({ ...world, refusals, plan: planOf(world) })).map(
    (one) => `${one.type} ${one.reason}: ${messageOf(one)}`,
  );
}

/** The same pool a moment later, its status written. */
function later(slots: readonly Instance[], before: World, differs: Circumstances = {}): World {
  return pool(slots, { ...differs, memory: planOf(before).status, now: NOW + SECOND });
}

function degraded(reason: string, message: string): Condition {
  return { type: 'Degraded', status: 'True', reason, message, lastTransitionTime: '2026-01-05T11:30:00Z' };
}

describe('what was done', () => {
  const empty = (slot: string, reason: 'stale' | 'dirty' | 'broken' | 'refresh'): Action => {
    return { kind: 'empty', slot, reason };
  };

  it('is told in one sentence for all instances that were replaced for the same reason, with what differs', () => {
    const slots = ['1', '2', '3', '4', '6'].map((slot) => withdrawn(slot, STALE));
    expect(
      toldOfDeeds(
        pool(slots),
        slots.map(({ slot }) => empty(slot, 'stale')),
      ),
    ).toEqual([
      'Replaced slots 1-4, 6: stale, revision v2 is built instead (deployment: spec.template.spec.containers[0].image)',
    ]);
  });

  it('names three differences and counts the others', () => {
    const slots = [withdrawn('1', { drift: ['a', 'b', 'c', 'd', 'e'] })];
    expect(toldOfDeeds(pool(slots), [empty('1', 'stale')])).toEqual([
      'Replaced slot 1: stale, revision v2 is built instead (a, b, c, 2 more)',
    ]);
  });

  it.each([
    ['dirty', withdrawn('2', { dirt: 'used pod' }), 'a user left traces, nobody else gets it (used pod)'],
    ['broken', troubled('2', 'crash'), 'broken, a fresh one may do better (crash, crash!)'],
    ['refresh', withdrawn('2', { refresh: true }), 'a person asked for it, revision v2 is built'],
  ] as const)('says why one was replaced: %s', (reason, slot, why) => {
    expect(toldOfDeeds(pool([slot]), [empty('2', reason)])).toEqual([`Replaced slot 2: ${why}`]);
  });

  it('is told once, although an instance goes bit by bit', () => {
    const going = withdrawn('2', { ...STALE, terminating: true });
    expect(toldOfDeeds(pool([going]), [empty('2', 'stale')])).toEqual([]);
    expect(toldOfDeeds(pool([emptied('2')]), [empty('2', 'stale')])).toEqual([]);
  });

  it('is not told of the second half of a replacement', () => {
    const world = pool([emptied('1'), instance('2')], { ledger: [entry('1')] });
    expect(toldOfDeeds(world, [{ kind: 'build', slot: '1', revision: WANTED }])).toEqual([]);
    const returned = pool([withdrawn('1'), instance('2')], { ledger: [entry('1')] });
    expect(toldOfDeeds(returned, [{ kind: 'return', slot: '1' }])).toEqual([]);
  });

  it('names slots that were empty, and those of which only something was missing', () => {
    const slots = [missing('1'), anchorless('2'), instance('3', { absent: true, phase: 'pending' })];
    const builds = slots.map(({ slot }): Action => ({ kind: 'build', slot, revision: WANTED }));
    expect(toldOfDeeds(pool(slots), builds)).toEqual([
      'Created slots 1, 2: nothing could be handed out there, revision v2 is built',
      'Repaired slot 3: what was missing of it is made again',
    ]);
  });

  it('names what was removed: slots that nobody wants, and left-overs', () => {
    const slots = [instance('1'), surplus('2'), surplus('3')];
    const removals: Action[] = [
      { kind: 'discard', name: 'instance-4-java' },
      { kind: 'remove', slot: '3' },
      { kind: 'remove', slot: '2' },
    ];
    expect(toldOfDeeds(pool(slots), removals)).toEqual([
      'Removed instance-4-java: left over, and nobody owns it any more',
      'Removed slots 2, 3: more than the 1 that are wanted',
    ]);
  });

  it('tells what a user got back, and nothing of the care that every claim gets', () => {
    const heal = (object: string, ...lacks: string[]): Action => ({ kind: 'heal', slot: '1', object, lacks });
    const world = pool([claimed('1')]);
    expect(
      toldOfDeeds(world, [
        heal('ConfigMap/email', 'protection', 'allow-list'),
        heal('Deployment/ide', 'object'),
      ]),
    ).toEqual([
      'Healed slot 1: its user has again what was lost (ConfigMap/email: allow-list, Deployment/ide: object)',
    ]);
    expect(
      toldOfDeeds(world, [heal('Service/ide', 'hold', 'mark'), heal('ConfigMap/email', 'label')]),
    ).toEqual([]);
  });
});

describe('what turned', () => {
  it('is nothing where the status stays as it is', () => {
    const slots = [...instances(3), troubled('4', 'imagePull')];
    expect(toldOfTurns(later(slots, pool(slots)))).toEqual([]);
  });

  it('says what holds instances up, since when, and what a person can do', () => {
    const slots = [...instances(8), troubled('9', 'imagePull'), troubled('10', 'imagePull')];
    const since = waiting('9', 'imagePull', { since: NOW - 90 * SECOND });
    expect(toldOfTurns(pool(slots, { waiting: [since] }))).toEqual([
      'Warning Blocked: Slots 9, 10 wait since 2026-01-05T11:58:30Z: the image cannot be pulled (imagePull!). ' +
        'Correct its name or publish it; a fix rolls over these instances.',
    ]);
  });

  it('says so once more when another instance is held up, but not when a try is repeated', () => {
    const one = pool([...instances(8), troubled('9', 'quota')]);
    const two = later([...instances(8), troubled('9', 'quota'), troubled('10', 'quota')], one);
    expect(toldOfTurns(two)).toEqual([expect.stringContaining('Slots 9, 10 wait')]);

    const slots = [instance('1'), missing('2')];
    const refused = pool(slots, { refusals: [refusal('admission')] });
    expect(toldOfTurns(refused)).toEqual([
      'Warning Blocked: New instances wait since 2026-01-05T12:00:00Z: an admission policy refuses them (admission!). ' +
        'Change the policy or what it refuses.',
    ]);
    const again = later(slots, refused, { refusals: [refusal('admission')] });
    expect(planOf(again).status.waiting).toMatchObject([{ tries: 1 }]);
    expect(planOf(again).changed).toBe(true);
    expect(toldOfTurns(again)).toEqual([]);
  });

  it('calls what only a person can clear up a problem, in the words of the condition', () => {
    const problem = { reason: 'Unparseable', message: 'spec.port: must be a number' };
    expect(toldOfTurns(pool(instances(2), { problem, revision: 'unknown' }))).toEqual([
      'Warning Problem: Unparseable: spec.port: must be a number',
    ]);
    expect(toldOfTurns(pool([instance('1', { foreign: 'Service/theirs' })]))).toEqual([
      'Warning Problem: ForeignObject: not ours, not touched: Service/theirs',
    ]);
  });

  it('says when all is well again, and what it was', () => {
    const memory = { conditions: [degraded('Blocked', 'quota: slots 9')] };
    expect(toldOfTurns(pool(instances(9), { memory }))).toEqual([
      'Normal Recovered: Nothing needs a person any more. From 2026-01-05T11:30:00Z on it was Blocked: quota: slots 9',
    ]);
  });

  it('says when the last replacement is done, and who keeps an old one', () => {
    const slots = [instance('1'), instance('2'), claimed('3', STALE)];
    expect(toldOfTurns(pool(slots, { ledger: [entry('1', { anchor: 'another' })] }))).toEqual([
      'Normal Converged: Every free instance is current (revision v2): 2 ready, 1 claimed; claimed and stale, kept for their users: 1',
    ]);
    const more = [instance('1'), instance('2', STALE)];
    const paused = pool(more, { ledger: [entry('1', { anchor: 'another' })], paused: true });
    expect(planOf(paused).status.ledger).toEqual([]);
    expect(toldOfTurns(paused)).toEqual([expect.stringContaining('Paused')]);
  });

  it('says that a pause holds something back, and that it is over; a pause of a current pool is no news', () => {
    const stale = instances(2, STALE);
    const paused = pool(stale, { paused: true });
    expect(toldOfTurns(paused)).toEqual(['Normal Paused: Stale and kept until the pool is resumed: 2']);
    expect(toldOfTurns(later(stale, paused))).toEqual([
      'Normal Resumed: Nothing is held back by a pause any more',
    ]);
    expect(toldOfTurns(pool(instances(2), { paused: true }))).toEqual([]);
  });

  it('says goodbye: what is finished first, and that it is over', () => {
    const leaving = pool([withdrawn('1'), instance('2')], { mode: 'observe', ledger: [entry('1')] });
    expect(toldOfTurns(leaving)).toEqual([
      'Normal Leaving: Everwarm only observes from now on; it finishes first: slots 1',
    ]);
    const returned = instance('1', { anchor: { uid: 'anchor-1', resourceVersion: '3', pass: THIS_PASS } });
    expect(toldOfTurns(later([returned, instance('2')], leaving, { mode: 'observe' }))).toEqual([
      'Normal Left: Everwarm has let go of this pool: nothing is withdrawn any more',
    ]);
  });
});

it('a sentence is never longer than an Event may hold', () => {
  const slots = [withdrawn('1', { ...STALE, drift: ['x'.repeat(2_000)] })];
  const [message = ''] = toldOfDeeds(pool(slots), [{ kind: 'empty', slot: '1', reason: 'stale' }]);
  expect(message).toHaveLength(1_024);
});
