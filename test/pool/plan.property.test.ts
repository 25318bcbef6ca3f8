import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isServing, maxUnavailable } from '../../src/pool/budget.ts';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Action, ActionKind, Instance, LedgerEntry, Plan } from '../../src/pool/types.ts';
import { dueAt } from '../../src/pool/waiting.ts';
import { world } from './_arbitrary.ts';
import {
  HOUR,
  MINUTE,
  planOf,
  recorded,
  SECOND,
  THIS_PASS,
  tell,
  told,
  WANTED,
  type World,
} from './_world.ts';

/** A world, the plan made for it, and the questions that are asked about both. */
class Case {
  readonly world: World;
  readonly plan: Plan;

  constructor(of: World) {
    this.world = of;
    this.plan = planOf(of);
  }

  get instances(): readonly Instance[] {
    return this.world.observed.instances;
  }

  /** What P8 is about; what somebody else's object blocks will never be ready. */
  get wanted(): readonly Instance[] {
    return this.instances.filter((i) => i.target && i.claimedBy === undefined && i.foreign === undefined);
  }

  get ledgerBefore(): readonly LedgerEntry[] {
    return this.world.observed.memory.ledger;
  }

  at(slot: string): Instance | undefined {
    return this.instances.find((i) => i.slot === slot);
  }

  /** The actions of these kinds, each with the instance it is about. */
  of(
    ...kinds: readonly ActionKind[]
  ): readonly (readonly [Exclude<Action, { kind: 'discard' }>, Instance])[] {
    return this.plan.actions.flatMap((action) => {
      if (action.kind === 'discard' || !kinds.includes(action.kind)) return [];
      const instance = this.at(action.slot);
      return instance === undefined ? [] : [[action, instance] as const];
    });
  }

  /** Standing instances that this plan takes away. */
  get taken(): readonly Instance[] {
    return this.of('withdraw')
      .map(([, instance]) => instance)
      .filter(stands);
  }

  get decides(): boolean {
    const { desired, observed } = this.world;
    const unstable = observed.instances.some((i) => i.unstable && i.claimedBy === undefined);
    return (
      desired.revision !== undefined &&
      !unstable &&
      !this.plan.held.some(({ reason }) => reason === 'settling')
    );
  }
}

const ALL: readonly ActionKind[] = [
  'touch',
  'withdraw',
  'remove',
  'empty',
  'return',
  'build',
  'nudge',
  'relabel',
];
const RUNS = 400;

/** The slots from which this plan takes something away; a broken one that is emptied has had its try with that. */
function disrupted({ actions }: Plan): readonly string[] {
  return actions.flatMap((a) =>
    a.kind === 'withdraw' || a.kind === 'remove' || (a.kind === 'empty' && a.reason !== 'broken')
      ? [a.slot]
      : [],
  );
}

function stands(instance: Instance): boolean {
  return instance.anchor !== undefined && instance.withdrawn === undefined;
}

/** For every world; a failure prints its seed and the smallest world in which it fails. */
function always(title: string, claim: (one: Case) => void): void {
  it(title, () => {
    fc.assert(
      fc.property(world, (one) => claim(new Case(one))),
      { numRuns: RUNS },
    );
  });
}

describe('users', () => {
  always('a claimed instance is in no action but what its user needs', (one) => {
    expect(one.of(...ALL).filter(([, { claimedBy }]) => claimedBy !== undefined)).toEqual([]);
    expect(one.of('heal', 'unhold').filter(([, { claimedBy }]) => claimedBy === undefined)).toEqual([]);
  });

  always('whoever lacks something gets it, whatever else is wrong with the pool', (one) => {
    const { plan, world: it } = one;
    const operatorsTurn = plan.held.some(({ reason }) => reason === 'settling');
    const due = one.instances.flatMap(({ slot, claimedBy, needs, claimable }) =>
      claimedBy === undefined || plan.leaving || (claimable && it.observed.operator.alive)
        ? []
        : needs
            .filter(({ made }) => !(made && operatorsTurn))
            .filter(({ object }) => !plan.status.waiting.some((w) => w.slot === object))
            .map(({ object }) => `${slot} ${object}`),
    );
    const healed = one.of('heal').map(([action]) => `${action.slot} ${'object' in action && action.object}`);
    expect(healed).toEqual(expect.arrayContaining(due));
  });

  always('a pool that is left lets go of every instance in use, and gives it nothing more', (one) => {
    if (!one.plan.leaving) return;
    const held = one.instances.filter((i) => i.claimedBy !== undefined && i.held && !isRefused(one, i));
    expect(one.of('unhold').map(([, { slot }]) => slot)).toEqual(held.map(({ slot }) => slot));
    expect(one.of('heal')).toEqual([]);
  });

  always('an instance that is warm, clean and as wanted is not taken away', (one) => {
    const good = one
      .of('withdraw', 'empty', 'remove')
      .filter(
        ([action, i]) =>
          i.target &&
          i.drift.length === 0 &&
          i.dirt === undefined &&
          !i.refresh &&
          i.phase === 'ready' &&
          !(action.kind === 'withdraw' && i.withdrawn !== undefined && i.withdrawn.building !== WANTED),
      );
    expect(good).toEqual([]);
  });

  always('nothing is handed back that is not ready, current and clean', (one) => {
    const bad = one
      .of('return')
      .filter(
        ([, i]) =>
          !i.target ||
          i.drift.length > 0 ||
          i.dirt !== undefined ||
          i.refresh ||
          i.absent ||
          i.terminating ||
          i.withdrawn?.building !== WANTED ||
          (i.phase !== 'ready' && !(one.plan.leaving && i.trouble !== undefined)),
      );
    expect(bad).toEqual([]);
  });

  always('the next pick is not written to in an unquiet hour', (one) => {
    if (one.world.observed.quiet) return;
    const pick = Math.min(...one.instances.filter((i) => i.claimable).map(({ rank }) => rank));
    expect(one.of('withdraw', 'relabel').filter(([, { rank }]) => rank === pick)).toEqual([]);
    if (one.world.observed.operator.alive)
      expect(one.of('heal').filter(([, { claimable }]) => claimable)).toEqual([]);
    expect(one.of('touch')).toEqual([]);
  });

  always('beside an operator the next pick is only taken when this pass announced it before', (one) => {
    if (!one.world.observed.operator.alive) return;
    const pick = Math.min(...one.instances.filter((i) => i.claimable).map(({ rank }) => rank));
    const rash = one.taken.filter(
      ({ slot, rank }) =>
        rank === pick &&
        !one.ledgerBefore.some((e) => e.slot === slot && e.pass === THIS_PASS && e.revision === WANTED),
    );
    expect(rash).toEqual([]);
  });
});

describe('disruption', () => {
  always(
    'every withdrawal is licensed to this pass in the status that is written first, and says what is built',
    (one) => {
      for (const [action, { slot }] of one.of('withdraw')) {
        expect(one.plan.status.ledger).toContainEqual(
          expect.objectContaining({ slot, pass: THIS_PASS, revision: WANTED }),
        );
        expect(action).toMatchObject({ building: WANTED });
      }
    },
  );

  always('no more are away than may be, but for one in a full cluster', (one) => {
    const serving = one.taken.filter((i) => i.target && isServing(i));
    if (serving.length === 0) return;
    const unready = one.wanted.filter((i) => !isServing(i));
    const licensed = new Set(one.plan.status.ledger.map(({ slot }) => slot));
    // What was refused is not on its way.
    const leaving = one.wanted.filter((i) => isServing(i) && licensed.has(i.slot) && !isRefused(one, i));
    const noRoom =
      unready.length > 0 &&
      unready.every(
        (i) => ['quota', 'unschedulable'].includes(i.trouble?.cause ?? '') && i.drift.length === 0,
      );
    const max = maxUnavailable(one.world.policy, one.wanted.length);
    expect(leaving.length).toBeLessThanOrEqual(Math.max(max - unready.length, noRoom ? 1 : 0));
  });

  always('no slot is begun while as many as may be are being rebuilt', (one) => {
    const begun = one.taken.filter((i) => i.target && !one.ledgerBefore.some((e) => e.slot === i.slot));
    if (begun.length === 0) return;
    const rebuilding = one.plan.status.ledger.filter(({ slot }) => {
      const instance = one.at(slot);
      if (instance?.target !== true || instance.foreign !== undefined) return false;
      return !isResting(one, instance) && !isRefused(one, instance);
    });
    expect(rebuilding.length).toBeLessThanOrEqual(maxUnavailable(one.world.policy, one.wanted.length));
  });

  always('nothing is destroyed but behind a withdrawal of this very pass', (one) => {
    for (const [{ kind }, { slot, target, withdrawn }] of one.of('empty', 'remove')) {
      expect(withdrawn?.pass).toBe(THIS_PASS);
      expect(one.ledgerBefore).toContainEqual(expect.objectContaining({ slot, pass: THIS_PASS }));
      if (kind === 'remove') expect(target).toBe(false);
    }
  });

  always('of a paused pool nothing that stands is taken away', (one) => {
    if (one.world.policy.paused) expect(one.taken).toEqual([]);
  });

  always('a pool that is being left is only finished', (one) => {
    if (!one.plan.leaving) return;
    expect(one.taken).toEqual([]);
    expect(one.of('build', 'relabel', 'nudge').filter(([, i]) => !i.exists || stands(i))).toEqual([]);
  });

  always('an entry leaves only when its instance is gone, claimed, or proof against an older pass', (one) => {
    const kept = new Set(one.plan.status.ledger.map(({ slot }) => slot));
    const lost = one.ledgerBefore.filter(({ slot, pass, anchor }) => {
      const i = one.at(slot);
      const over = i === undefined || !i.exists || i.claimedBy !== undefined;
      const isProof = i?.anchor?.pass === pass || i?.anchor?.uid !== anchor;
      return !over && !kept.has(slot) && !(stands(i) && isProof);
    });
    expect(lost).toEqual([]);
  });

  always('the ledger tells of nothing that is gone or claimed', (one) => {
    if (!one.decides || one.world.desired.problem !== undefined) return;
    const wrong = one.plan.status.ledger.filter(({ slot }) => {
      const i = one.at(slot);
      return i === undefined || !i.exists || i.claimedBy !== undefined;
    });
    expect(wrong).toEqual([]);
  });
});

describe('growth', () => {
  always('empty slots are filled only up to the wanted number, whatever stands unclaimed', (one) => {
    const filled = one.of('build').filter(([, { exists }]) => !exists).length;
    const unclaimed = one.instances.filter((i) => i.exists && i.claimedBy === undefined).length;
    if (filled > 0) expect(filled + unclaimed).toBeLessThanOrEqual(one.world.desired.replicas);
  });

  always('nothing is built that is not missing, nor while something of it is still going', (one) => {
    const odd = one
      .of('build')
      .filter(([, i]) => i.exists && ((!i.absent && i.anchor !== undefined) || i.terminating));
    expect(odd).toEqual([]);
    expect(one.of('build').filter(([, i]) => !i.exists && !i.target)).toEqual([]);
  });

  always('a refused create holds all creates back until its time', (one) => {
    const held = one.plan.status.waiting.some(
      (w) => w.slot === '*' && (dueAt(w) ?? Number.POSITIVE_INFINITY) > one.world.now,
    );
    if (held) expect(one.of('build')).toEqual([]);
  });
});

describe('a plan', () => {
  always('names slots that are there, and each of them once, but for a touch', (one) => {
    const slots = one.plan.actions.flatMap((a) =>
      a.kind === 'discard' || a.kind === 'touch' || a.kind === 'heal' ? [] : [a.slot],
    );
    expect(slots.filter((slot) => one.at(slot) === undefined)).toEqual([]);
    expect(new Set(slots).size).toBe(slots.length);
    const discarded = one.plan.actions.flatMap((a) => (a.kind === 'discard' ? [a.name] : []));
    expect(one.world.observed.leftovers).toEqual(expect.arrayContaining(discarded));
  });

  always('leaves alone what is not ours', (one) => {
    const foreign = one.of(...ALL).filter(([, i]) => i.foreign !== undefined);
    expect(foreign.filter(([{ kind }]) => kind !== 'touch')).toEqual([]);
  });

  always(
    'does nothing but tidy up while nobody knows what is wanted or the operator has the first word',
    (one) => {
      if (!one.decides) expect(one.of(...ALL)).toEqual([]);
    },
  );

  always('is the same for the same world, in whatever order it was read', ({ world: one, plan }) => {
    const { observed } = one;
    const turned = { ...one, observed: { ...observed, instances: [...observed.instances].reverse() } };
    expect(planOf(one)).toEqual(plan);
    const sorted = (of: Plan) => [
      of.actions.map(tell).sort(),
      of.held.map(({ slot, reason }) => `${slot}: ${reason}`).sort(),
      of.status.ledger,
      of.status.waiting,
    ];
    expect(sorted(planOf(turned))).toEqual(sorted(plan));
  });

  always('whose status was written changes nothing more in it', ({ world: one, plan }) => {
    const again = planOf(recorded(one, plan.status));
    // What is only observed is never written. To empty a broken one counts as a try, and so as a step further.
    const isRead = one.policy.mode === 'observe' && !(plan.leaving && again.leaving);
    const isTry = [...told(plan), ...told(again)].some((action) => /^empty .*: broken$/.test(action));
    if (!isRead && !isTry) expect(again.changed).toBe(false);
  });

  always(
    'whose status was written and nothing else came about goes on with the same slots',
    ({ world: one, plan }) => {
      if (one.policy.mode === 'observe') return;
      const again = planOf(recorded(one, plan.status)).actions.flatMap((a) => ('slot' in a ? [a.slot] : []));
      expect(again).toEqual(expect.arrayContaining([...disrupted(plan)]));
    },
  );

  it('that is empty stays empty until it says to look again', () => {
    const later = fc.constantFrom(1, SECOND, 5 * SECOND, 20 * SECOND, MINUTE, 10 * MINUTE, 5 * HOUR);
    fc.assert(
      fc.property(world, later, (one, ms) => {
        const rested = recorded(one, planOf(one).status);
        const plan = planOf(rested);
        fc.pre(
          isEmpty(plan) &&
            !plan.status.waiting.some(({ cause }) => cause === 'forbidden' || cause === 'invalid'),
        );
        const now = Math.min(rested.now + ms, (plan.nextCheckAt ?? Number.POSITIVE_INFINITY) - 1);
        expect(told(planOf({ ...rested, now }))).toEqual([]);
        expect(planOf({ ...rested, now }).changed).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  always('never asks for a look in the past', ({ world: one, plan }) => {
    expect(plan.nextCheckAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(one.now);
  });
});

it('the worlds that these properties look at are full of what they are about', () => {
  const seen = new Map<string, number>();
  for (const one of fc.sample(world, { numRuns: 2_000, seed: 1 })) {
    const plan = planOf(one);
    const what = [
      ...plan.actions.map((a) => a.kind),
      ...plan.held.map(({ reason }) => reason.split(' ')[0] ?? ''),
    ];
    const serving = plan.actions.some(
      (a) =>
        a.kind === 'withdraw' &&
        one.observed.instances.some((i) => i.slot === a.slot && i.target && isServing(i)),
    );
    for (const name of new Set([...what, ...(serving ? ['withdraw serving'] : [])])) {
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  const common = [
    'withdraw serving',
    'withdraw',
    'empty',
    'build',
    'return',
    'budget',
    'touch',
    'quiet',
    'announced',
  ];
  const uncommon = [
    'heal',
    'unhold',
    'remove',
    'nudge',
    'relabel',
    'discard',
    'refused',
    'missing',
    'dirty',
    'paused',
    'too',
    'foreign',
  ];
  expect(common.filter((name) => (seen.get(name) ?? 0) < 60)).toEqual([]);
  expect(uncommon.filter((name) => (seen.get(name) ?? 0) < 20)).toEqual([]);
});

/** A write on it was refused, and is not tried again yet. */
function isRefused({ plan, world: one }: Case, { slot }: Instance): boolean {
  return plan.status.waiting.some(
    (w) =>
      w.slot === slot &&
      (w.cause === 'forbidden' || w.cause === 'invalid') &&
      (dueAt(w) ?? Number.POSITIVE_INFINITY) > one.now,
  );
}

/** In back-off: it failed for a cause that replacing does not cure, or not yet. */
function isResting({ world: one }: Case, i: Instance): boolean {
  if (i.trouble === undefined || i.phase === 'ready' || i.drift.length > 0) return false;
  if (i.dirt !== undefined || i.refresh) return false;
  if (i.trouble.cause !== 'crash' && i.trouble.cause !== 'deadline') return true;
  const standing = one.observed.memory.waiting.find(
    (w) => w.slot === i.slot && w.cause === i.trouble?.cause && w.revision === WANTED,
  );
  return standing === undefined || (dueAt(standing) ?? 0) > one.now;
}
