import { describe, expect, it } from 'vitest';
import {
  allowedOf,
  effortBound,
  isServing,
  type Moment,
  nextPick,
  puts,
  type Sight,
  type Standing,
  type Truth,
  tornLook,
  unconverged,
  unguarded,
  violationsOf,
  type Write,
} from '../../src/pool/invariants.ts';

/** A slot as one wishes it: whole, ready, current, clean, free. */
function slot(name: string, more: Partial<Standing> = {}): Standing {
  return {
    slot: name,
    target: true,
    exists: true,
    anchored: true,
    withdrawn: false,
    complete: true,
    ready: true,
    stale: false,
    clean: true,
    claimable: true,
    noRoom: false,
    foreign: false,
    refresh: false,
    kept: false,
    claimants: [],
    settled: false,
    admits: true,
    ...more,
  };
}

const WITHDRAWN = { withdrawn: true, claimable: false };
const CLAIMED = { claimedBy: 'user-uid', claimants: ['user-uid'], claimable: false };
const SETTLED = { ...CLAIMED, settled: true };
const EMPTY = { exists: false, anchored: false, complete: false, ready: false, claimable: false };

function truth(slots: readonly Standing[], more: Partial<Truth> = {}): Truth {
  return {
    alive: true,
    definition: 'app-uid/1',
    replicas: 3,
    maxUnavailable: 1,
    leaving: false,
    releasing: false,
    slots: new Map(slots.map((one) => [one.slot, one])),
    ...more,
  };
}

function sight(seen: Truth, more: Partial<Sight> = {}): Sight {
  return {
    truth: seen,
    allowed: 1,
    unsettled: false,
    calm: true,
    overtaken: new Set(),
    fenced: new Set(),
    ...more,
  };
}

const FENCE: Write = {
  verb: 'patch',
  object: 'Service/3',
  part: 'anchor',
  slot: '3',
  guard: {},
  read: seen('a'),
};
const DELETE: Write = { ...FENCE, verb: 'delete', object: 'Deployment/3', part: 'workload' };
const CREATE: Write = { verb: 'create', object: 'Deployment/3', part: 'workload', slot: '3', guard: {} };
const STATUS: Write = { verb: 'patch', object: 'WarmPool/java', part: 'memory', guard: {}, read: seen('a') };

function seen(uid: string) {
  return { uid, versions: ['7', '8'] };
}

/** A write while the world stands still but for what is said. */
function moment(write: Write, was: Standing, more: Partial<Moment> & { became?: Standing } = {}): Moment {
  const { became = was, ...rest } = more;
  const others = [slot('1'), slot('2')];
  const before = truth([...others, was]);
  return {
    write,
    sight: sight(before),
    before,
    after: truth([...others, became]),
    ...(write.verb === 'create' ? {} : { stood: { uid: 'a', owned: true, claims: [] } }),
    claims: [],
    away: new Set(),
    newcomers: 0,
    ...rest,
  };
}

const names = (one: Moment): readonly string[] => violationsOf(one).map(({ name }) => name);

/** The fence on a stale slot 3: nothing is wrong with it. */
const fence = (more: Partial<Moment> = {}) =>
  moment(FENCE, slot('3', { stale: true }), {
    became: slot('3', { stale: true, ...WITHDRAWN }),
    away: new Set(['3']),
    ...more,
  });

/** Slot 3 is handed back. */
const handBack = (was: Partial<Standing> = {}, more: Partial<Moment> = {}) =>
  moment(FENCE, slot('3', { ...WITHDRAWN, ...was }), { became: slot('3', was), ...more });

describe('what a pass ought to do breaks nothing:', () => {
  it.each<[string, Moment]>([
    ['withdrawing a stale instance', fence()],
    ['handing a rebuilt one back', handBack()],
    ['deleting a part behind the fence', moment(DELETE, slot('3', { stale: true, ...WITHDRAWN }))],
    ['filling an empty slot', moment(CREATE, slot('3', EMPTY), { became: slot('3') })],
    ['writing the status', moment(STATUS, slot('3'))],
  ])('%s', (_, one) => {
    expect(violationsOf(one)).toEqual([]);
  });
});

describe('S1, an instance in use is not written on:', () => {
  const known = sight(truth([slot('3', CLAIMED)]));

  it.each([
    ['a patch', FENCE],
    ['a delete', DELETE],
  ])('%s is a violation, whether or not the pass could know', (_, write) => {
    expect(violationsOf(moment(write, slot('3', CLAIMED)))).toContainEqual({
      name: 'S1',
      message: expect.stringContaining(`${write.verb} of ${write.object} although slot 3 is claimed`),
    });
    expect(names(moment(write, slot('3', CLAIMED), { sight: sight(truth([slot('3')])) }))).toContain('S1');
  });

  it('a missing part may be made when the user came after the look, not when the pass knew of the user', () => {
    expect(names(moment(CREATE, slot('3', CLAIMED), { sight: sight(truth([slot('3')])) }))).toEqual([]);
    expect(names(moment(CREATE, slot('3', CLAIMED), { sight: known }))).toEqual(['S1']);
  });
});

describe('S1 in passing:', () => {
  const late = { sight: sight(truth([slot('3')])) };
  const label: Write = { ...FENCE, object: 'ConfigMap/3', part: 'config', changes: ['labels'] };

  it('a label may come late on a part that a claim need not write on', () => {
    expect(names(moment(label, slot('3', CLAIMED), late))).toEqual([]);
    expect(names(moment({ ...label, changes: ['labels', 'owners'] }, slot('3', CLAIMED), late))).toEqual([
      'S1',
    ]);
    expect(names(moment(label, slot('3', CLAIMED)))).toEqual(['S1']);
  });

  it.each(['anchor', 'companion'] as const)('but not on the %s', (part) => {
    expect(names(moment({ ...label, part }, slot('3', CLAIMED), late))).toEqual(['S1']);
  });
});

describe('S1, care for whoever holds it:', () => {
  const care = (changes: Write['changes']): Write => ({
    ...FENCE,
    part: 'config',
    ...(changes && { changes }),
  });

  it.each<[string, Write]>([
    ['labels', care(['labels'])],
    ['annotations and owners', care(['annotations', 'owners'])],
    ["its user's entry", care(['entry'])],
    ['a missing part', CREATE],
  ])('%s may be given once its claim is settled, not before', (_, write) => {
    expect(names(moment(write, slot('3', SETTLED)))).toEqual([]);
    expect(names(moment(write, slot('3', CLAIMED)))).toEqual(['S1']);
  });

  it.each<[string, Write]>([
    ['a delete', DELETE],
    ['a patch of anything else', care(['labels', 'rest'])],
    ['a patch of which nobody says what it does', care(undefined)],
  ])('%s is never care', (_, write) => {
    expect(names(moment(write, slot('3', SETTLED)))).toContain('S1');
  });

  it('its entry is its own, and nobody else is let in', () => {
    const after = truth([slot('3', { ...SETTLED, admits: false })]);
    expect(names(moment(care(['entry']), slot('3', SETTLED), { after }))).toEqual(['S1']);
  });

  it('a pool that is left lets go of it, settled or not', () => {
    const known = sight(truth([slot('3', CLAIMED)], { leaving: true }));
    expect(names(moment(care(['annotations', 'owners']), slot('3', CLAIMED), { sight: known }))).toEqual([]);
    expect(names(moment(care(['labels']), slot('3', CLAIMED), { sight: known }))).toEqual(['S1']);
  });
});

describe('S2, a settled claim may own more of its instance:', () => {
  const own = (claims: readonly string[], were: readonly string[], more: Partial<Standing> = SETTLED) =>
    names(
      moment({ ...FENCE, part: 'config', changes: ['owners'] }, slot('3', more), {
        stood: { uid: 'a', owned: true, claims: were },
        claims,
      }),
    );

  it('it is given what it lacks, and nothing is taken from another', () => {
    expect(own(['user-uid'], [])).toEqual([]);
    expect(own(['user-uid'], ['other'])).toEqual(['S2']);
    expect(own(['other'], [])).toEqual(['S2']);
    expect(own(['user-uid'], [], CLAIMED)).toEqual(['S1', 'S2']);
  });
});

describe('S2, claims are neither given nor taken:', () => {
  it.each([
    ['given', [], ['u']],
    ['taken', ['u'], []],
    ['exchanged', ['u'], ['v']],
  ])('%s', (_, were, claims) => {
    const stood = { uid: 'a', owned: true, claims: were };
    expect(violationsOf(fence({ stood, claims }))).toEqual([
      { name: 'S2', message: `Service/3 was owned by claims [${were}] and is by [${claims}]` },
    ]);
  });

  it('keeping them is none, and a delete leaves nothing to compare', () => {
    const stood = { uid: 'a', owned: true, claims: ['u'] };
    expect(names(fence({ stood, claims: ['u'] }))).toEqual([]);
    expect(names(moment(DELETE, slot('3', WITHDRAWN), { stood }))).toEqual([]);
  });
});

describe('S3, only what is fit for a user is handed back:', () => {
  it.each<[string, Partial<Standing>]>([
    ['incomplete', { complete: false }],
    ['stale', { stale: true }],
    ['dirty', { clean: false }],
    ['unready', { ready: false }],
  ])('not what was seen %s', (flaw, was) => {
    expect(violationsOf(handBack(was))).toEqual([{ name: 'S3', message: `slot 3 is returned ${flaw}` }]);
  });

  it('names everything that is wrong', () => {
    const [found] = violationsOf(handBack({ complete: false, stale: true }));
    expect(found?.message).toBe('slot 3 is returned incomplete and stale');
  });

  it('who leaves may hand back what is not ready', () => {
    const was = slot('3', { ...WITHDRAWN, ready: false });
    const leaving = sight(truth([was], { leaving: true }));
    expect(names(handBack({ ready: false }, { sight: leaving }))).toEqual([]);
  });

  it('nothing that another pass has been working on since', () => {
    const overtaken = sight(truth([slot('3', WITHDRAWN)]), { overtaken: new Set(['3']) });
    expect(violationsOf(handBack({}, { sight: overtaken }))).toEqual([
      { name: 'S3', message: 'slot 3 is returned while another pass works on it' },
    ]);
    const others = sight(truth([slot('3', WITHDRAWN)]), { overtaken: new Set(['2']) });
    expect(names(handBack({}, { sight: others }))).toEqual([]);
  });

  it('nothing that was never seen', () => {
    expect(violationsOf(handBack({}, { sight: sight(truth([])) }))).toEqual([
      { name: 'S3', message: 'slot 3 is returned unseen' },
    ]);
  });

  it('only taking our reference off hands back: not the end of the anchor, not a write on another part', () => {
    const dirty = slot('3', { ...WITHDRAWN, clean: false });
    const free = slot('3', { clean: false });
    expect(names(moment({ ...FENCE, verb: 'delete' }, dirty, { became: free }))).not.toContain('S3');
    expect(names(moment({ ...FENCE, part: 'companion' }, dirty, { became: free }))).toEqual([]);
    expect(names(moment(FENCE, dirty))).toEqual([]);
  });
});

describe('S4, no instance more than wanted is made:', () => {
  const four = [slot('1'), slot('2'), slot('4', { target: false })];
  const made = (more: Partial<Moment> = {}) =>
    moment(CREATE, slot('3', EMPTY), { after: truth([...four, slot('3')]), ...more });

  it('a fourth of three', () => {
    expect(violationsOf(made())).toEqual([
      { name: 'S4', message: '4 unclaimed instances where 3 are wanted' },
    ]);
  });

  it('what a user holds does not count, nor does an empty slot', () => {
    const claimed = truth([slot('1', CLAIMED), slot('2'), slot('3'), slot('4')]);
    expect(names(made({ after: claimed }))).toEqual([]);
    const empty = truth([slot('1', EMPTY), slot('2'), slot('3'), slot('4')]);
    expect(names(made({ after: empty }))).toEqual([]);
  });

  it('the definition as the pass read it counts, and so do instances that others made meanwhile', () => {
    expect(names(made({ sight: sight(truth(four, { replicas: 4 })) }))).toEqual([]);
    expect(names(made({ newcomers: 1 }))).toEqual([]);
  });

  it('a part more in a slot that stands is no instance more', () => {
    const stands = moment(CREATE, slot('3', { complete: false }), { after: truth([...four, slot('3')]) });
    expect(names(stands)).toEqual([]);
  });
});

describe('S5, no more are away by our doing than allowed:', () => {
  const two = new Set(['2', '3']);

  it('a second where one may be', () => {
    expect(violationsOf(fence({ away: two }))).toEqual([
      { name: 'S5', message: 'slots 2, 3 are away where 1 may be' },
    ]);
  });

  it('two where the pass was allowed two when it looked, or is allowed two now', () => {
    expect(names(fence({ away: two, sight: sight(fence().before, { allowed: 2 }) }))).toEqual([]);
    expect(names(fence({ away: two, before: { ...fence().before, maxUnavailable: 2 } }))).toEqual([]);
  });

  it.each<[string, Partial<Standing>]>([
    ['waits for room', { noRoom: true }],
    ['has a foreign object under its name', { foreign: true }],
  ])('one that %s waits for somebody else', (_, more) => {
    const after = truth([slot('1'), slot('2', { ...WITHDRAWN, ...more }), slot('3', WITHDRAWN)]);
    expect(names(fence({ away: two, after }))).toEqual([]);
  });

  it('one that is not the pool’s any more does not count', () => {
    expect(names(fence({ away: new Set(['9', '3']) }))).toEqual([]);
  });

  it('is asked of a withdrawal alone', () => {
    expect(names(moment(STATUS, slot('3'), { away: two }))).toEqual([]);
  });
});

describe('S6, what is fine stays:', () => {
  const fine = (was: Partial<Standing> = {}, more: Partial<Moment> = {}) =>
    moment(FENCE, slot('3', was), {
      became: slot('3', { ...was, ...WITHDRAWN }),
      away: new Set(['3']),
      ...more,
    });

  it('nothing is wrong with it', () => {
    expect(violationsOf(fine())).toEqual([
      { name: 'S6', message: 'slot 3 is taken away although nothing is wrong with it' },
    ]);
  });

  it.each<[string, Partial<Standing>]>([
    ['stale', { stale: true }],
    ['surplus', { target: false }],
    ['asked for anew', { refresh: true }],
    ['dirty', { clean: false }],
    ['not ready', { ready: false }],
    ['not whole', { complete: false }],
  ])('%s is a reason', (_, was) => {
    expect(names(fine(was))).toEqual([]);
  });

  it('what was wrong when the pass looked is a reason, too, and so is another definition', () => {
    expect(names(fine({}, { sight: sight(truth([slot('3', { stale: true })])) }))).toEqual([]);
    expect(names(fine({}, { sight: sight(truth([])) }))).toEqual([]);
    const other = sight(truth([slot('3')], { definition: 'app-uid/2' }));
    expect(names(fine({}, { sight: other }))).toEqual([]);
  });
});

describe('S7 and S8, only what is the pool’s is touched:', () => {
  it('no other kind of object', () => {
    const write: Write = { ...DELETE, object: 'PersistentVolumeClaim/home', part: 'other' };
    expect(violationsOf(moment(write, slot('3', WITHDRAWN)))).toEqual([
      { name: 'S7', message: 'delete of PersistentVolumeClaim/home' },
    ]);
  });

  it('nobody else’s object', () => {
    const stood = { uid: 'a', owned: false, claims: [] };
    expect(violationsOf(fence({ stood }))).toEqual([
      { name: 'S8', message: 'patch of Service/3, which is not the pool’s'.replace('’', "'") },
    ]);
  });
});

describe('S12, the status is true:', () => {
  const counts = {
    desired: 3,
    ready: 2,
    current: 2,
    stale: 1,
    claimed: 1,
    claimedStale: 0,
    claimedSurplus: 0,
    failed: 0,
    blocked: 0,
  };
  const seenTruth = truth([
    slot('1', CLAIMED),
    slot('2'),
    slot('3', { stale: true }),
    slot('4', { target: false }),
    slot('5', EMPTY),
    slot('6', WITHDRAWN),
  ]);
  const status = (more: Partial<Moment> = {}) =>
    moment(STATUS, slot('3'), { sight: sight(seenTruth), counts, ...more });

  it('what was seen may be said', () => {
    expect(names(status())).toEqual([]);
  });

  it.each(['desired', 'ready', 'stale', 'claimed', 'claimedStale', 'claimedSurplus'] as const)(
    'not a %s more or less',
    (name) => {
      for (const by of [1, -1]) {
        const wrong = { ...counts, [name]: counts[name] + by };
        expect(violationsOf(status({ counts: wrong }))).toEqual([
          { name: 'S12', message: `the status says ${name} ${counts[name] + by} (it was ${counts[name]})` },
        ]);
      }
    },
  );

  it('what the status licenses to be taken away may be counted as gone', () => {
    const less = { ...counts, ready: 1, stale: 0 };
    expect(names(status({ counts: less, licensed: new Set(['3']) }))).toEqual([]);
    expect(names(status({ counts: less, licensed: new Set(['2']) }))).toEqual(['S12']);
  });

  it('a slot of which a left-over stands may be counted as empty, and no other', () => {
    const left = truth([
      slot('1', CLAIMED),
      slot('2', { foreign: true }),
      slot('3', { stale: true, foreign: true }),
      slot('4'),
    ]);
    const said = (ready: number, stale: number) =>
      names(status({ sight: sight(left), counts: { ...counts, ready, stale } }));
    expect(said(1, 0)).toEqual([]);
    expect(said(3, 1)).toEqual([]);
    expect(said(0, 0)).toEqual(['S12']);
  });

  it('counts claimed instances that are stale, asked for anew or surplus', () => {
    const held = truth([
      slot('1', { ...CLAIMED, stale: true }),
      slot('2', { ...CLAIMED, refresh: true }),
      slot('4', { ...CLAIMED, target: false }),
      slot('3', { refresh: true }),
    ]);
    const right = { ...counts, ready: 1, stale: 1, claimed: 3, claimedStale: 2, claimedSurplus: 1 };
    expect(names(status({ sight: sight(held), counts: right }))).toEqual([]);
  });

  it('who cannot compute what is wanted counts nothing as stale', () => {
    const blind = { ...counts, stale: 0, claimedStale: 0 };
    expect(names(status({ counts: blind, blind: true }))).toEqual([]);
    expect(names(status({ counts: blind, blind: false }))).toEqual(['S12']);
    expect(names(status({ counts: { ...blind, ready: 0 }, blind: true }))).toEqual(['S12']);
  });

  it('nothing is asked when the world moved during the look, or when the pool goes', () => {
    const wrong = { ...counts, ready: 9 };
    expect(names(status({ counts: wrong, sight: sight(seenTruth, { calm: false }) }))).toEqual([]);
    expect(names(status({ counts: wrong, sight: sight({ ...seenTruth, alive: false }) }))).toEqual([]);
  });

  it('observedGeneration never goes back', () => {
    expect(violationsOf(status({ observed: { before: 3, after: 2 } }))).toEqual([
      { name: 'S12', message: 'observedGeneration goes back from 3 to 2' },
    ]);
    expect(names(status({ observed: { before: 3, after: 3 } }))).toEqual([]);
    expect(names(status({ observed: { before: 3, after: 4 } }))).toEqual([]);
  });
});

describe('S16, a write hits the object that was read:', () => {
  it('not one that was made since under its name', () => {
    const stood = { uid: 'b', owned: true, claims: [] };
    expect(violationsOf(fence({ stood }))).toEqual([
      { name: 'S16', message: 'patch of another Service/3 than was read' },
    ]);
    const { read: _, ...unread } = FENCE;
    expect(names({ ...fence(), write: unread })).toEqual(['S16']);
  });

  it('not one that was gone', () => {
    const { stood: _, ...gone } = fence();
    expect(violationsOf(gone)).toEqual([{ name: 'S16', message: 'patch made Service/3, which was gone' }]);
  });
});

it('S17: nothing is made for a pool that was seen to go', () => {
  const going = sight(truth([slot('3', EMPTY)], { alive: false }));
  expect(violationsOf(moment(CREATE, slot('3', EMPTY), { sight: going }))).toEqual([
    { name: 'S17', message: 'Deployment/3 is made for a pool that goes' },
  ]);
  expect(names(moment(DELETE, slot('3', WITHDRAWN), { sight: going }))).toEqual([]);
});

describe('P7, nothing is destroyed that could be handed out:', () => {
  it('no part of a slot without a fence', () => {
    expect(violationsOf(moment(DELETE, slot('3', { stale: true })))).toEqual([
      { name: 'P7', message: 'Deployment/3 is deleted while slot 3 can be handed out' },
    ]);
  });

  it('is asked of deletes in slots', () => {
    expect(names(moment({ ...FENCE, part: 'workload' }, slot('3')))).toEqual([]);
    const { slot: _, ...elsewhere } = DELETE;
    expect(names(moment(elsewhere, slot('3')))).toEqual([]);
  });
});

describe('P20, the next to be handed out is left alone while somebody waits:', () => {
  const waiting = (picks: readonly Standing[], more: Partial<Sight> = {}) =>
    sight(truth(picks), { unsettled: true, ...more });
  const next = waiting([slot('3'), slot('10')]);

  it.each(['anchor', 'companion'] as const)('its %s', (part) => {
    const one = moment({ ...FENCE, part }, slot('3'), { sight: next });
    expect(violationsOf(one)).toEqual([
      { name: 'P20', message: 'patch of Service/3, the next to be handed out, while a claim is on its way' },
    ]);
  });

  it('not when nobody waits, when another is next, or on a part that is not looked at', () => {
    expect(names(moment(FENCE, slot('3'), { sight: { ...next, unsettled: false } }))).toEqual([]);
    expect(names(moment(FENCE, slot('3'), { sight: waiting([slot('2'), slot('3')]) }))).toEqual([]);
    expect(names(moment({ ...FENCE, part: 'config' }, slot('3'), { sight: next }))).toEqual([]);
    expect(names(moment({ ...CREATE, part: 'companion' }, slot('3'), { sight: next }))).toEqual([]);
    const { slot: _, ...none } = FENCE;
    expect(names(moment(none, slot('3'), { sight: waiting([]) }))).toEqual([]);
  });

  it('what this pass withdrew before, or what cannot be handed out, is not the next', () => {
    expect(nextPick(waiting([slot('2'), slot('3')], { fenced: new Set(['2']) }))).toBe('3');
    expect(nextPick(waiting([slot('2', CLAIMED), slot('10'), slot('9')]))).toBe('9');
    expect(nextPick(waiting([]))).toBeUndefined();
  });
});

describe('P5, every request is bound to what was read:', () => {
  const read = seen('a');

  it.each<[string, Partial<Write>]>([
    ['a patch that tests a version that was read', { verb: 'patch', guard: { resourceVersion: '8' } }],
    ['or an earlier one, which fails', { verb: 'patch', guard: { resourceVersion: '7' } }],
    ['a delete by uid and version', { verb: 'delete', guard: { uid: 'a', resourceVersion: '8' } }],
    ['a delete of a companion by uid', { verb: 'delete', part: 'companion', guard: { uid: 'a' } }],
    ['a create', { verb: 'create', guard: {} }],
  ])('%s', (_, more) => {
    expect(unguarded({ ...FENCE, read, ...more })).toBeUndefined();
  });

  it.each<[string, Partial<Write>]>([
    ['a patch without a test', { verb: 'patch', guard: {} }],
    ['a patch that tests what was never read', { verb: 'patch', guard: { resourceVersion: '9' } }],
    ['a delete by name', { verb: 'delete', guard: {} }],
    ['a delete by uid alone', { verb: 'delete', guard: { uid: 'a' } }],
    ['a delete by version alone', { verb: 'delete', guard: { resourceVersion: '8' } }],
    ['a delete of another uid', { verb: 'delete', guard: { uid: 'b', resourceVersion: '8' } }],
    ['a delete of a companion by name', { verb: 'delete', part: 'companion', guard: {} }],
    ['a delete of another companion', { verb: 'delete', part: 'companion', guard: { uid: 'b' } }],
  ])('not %s', (_, more) => {
    const write = { ...FENCE, read, ...more };
    expect(unguarded(write)).toEqual({
      name: 'P5',
      message: `${write.verb} of Service/3 is not bound to what was read`,
    });
  });

  it('nor what was not read at all', () => {
    const { read: _, ...unread } = FENCE;
    expect(unguarded({ ...unread, guard: { resourceVersion: '8' } })?.name).toBe('P5');
    expect(unguarded({ ...unread, verb: 'delete', part: 'companion', guard: {} })?.name).toBe('P5');
  });
});

describe('P2, claims are read last:', () => {
  const parts = ['services', 'pods'];

  it('after every part', () => {
    expect(tornLook(['warmpools', 'services', 'pods', 'leases', 'claims'], 'claims', parts)).toBeUndefined();
  });

  it.each([
    ['before one of them', ['services', 'claims', 'pods']],
    ['between two readings of one', ['services', 'pods', 'claims', 'services']],
    ['without one of them', ['services', 'claims']],
    ['not at all', ['services', 'pods']],
  ])('not %s', (_, reads) => {
    expect(tornLook(reads, 'claims', parts)).toEqual({
      name: 'P2',
      message: `read in the order ${reads.join(', ')}`,
    });
  });
});

describe('L1, a world at rest is as defined:', () => {
  it('when every free slot is, and the others are gone', () => {
    expect(
      unconverged(truth([slot('1'), slot('2', CLAIMED), slot('4', { ...EMPTY, target: false })])),
    ).toEqual([]);
  });

  it.each<[string, Partial<Standing>]>([
    ['incomplete', { complete: false }],
    ['unready', { ready: false }],
    ['stale', { stale: true }],
    ['dirty', { clean: false }],
    ['withdrawn', { withdrawn: true }],
  ])('not when one is %s, unless a user holds it or a foreign object blocks it', (flaw, more) => {
    expect(unconverged(truth([slot('1', more)]))).toEqual([
      { name: 'L1', message: `slot 1 is ${flaw} in the end` },
    ]);
    expect(unconverged(truth([slot('1', { ...more, ...CLAIMED })]))).toEqual([]);
    expect(unconverged(truth([slot('1', { ...more, foreign: true })]))).toEqual([]);
  });

  it('names everything', () => {
    const [found] = unconverged(truth([slot('1', { ready: false, stale: true })]));
    expect(found?.message).toBe('slot 1 is unready and stale in the end');
  });

  it('not while a surplus slot stands', () => {
    expect(unconverged(truth([slot('4', { target: false })]))).toEqual([
      { name: 'L1', message: 'surplus slot 4 still stands' },
    ]);
  });

  it('where there is no room, nobody need be ready, but all need be current while no more wait than may', () => {
    const waits = { noRoom: true, ready: false, withdrawn: true };
    expect(unconverged(truth([slot('1', waits), slot('2')]))).toEqual([]);
    expect(unconverged(truth([slot('1', waits), slot('2', { stale: true })]))).toHaveLength(1);
    const full = truth([slot('1', waits), slot('3', waits), slot('2', { stale: true })]);
    expect(unconverged(full)).toEqual([]);
  });
});

describe('how many may be away:', () => {
  const four = [slot('1'), slot('2'), slot('3'), slot('4', CLAIMED), slot('5', { target: false })];

  it.each([
    [2, 2],
    [0, 1],
    ['100%', 3],
    ['67%', 2],
    ['66%', 1],
    ['1%', 1],
  ])('%s of three unclaimed slots', (maxUnavailable, allowed) => {
    expect(allowedOf(truth(four, { maxUnavailable }))).toBe(allowed);
  });
});

describe('in passing:', () => {
  it('an instance serves when nothing at all is wrong with it', () => {
    expect(isServing(slot('1'))).toBe(true);
    const flaws: readonly Partial<Standing>[] = [
      { anchored: false },
      { withdrawn: true },
      CLAIMED,
      { complete: false },
      { ready: false },
      { clean: false },
    ];
    for (const flaw of flaws) expect(isServing(slot('1', flaw))).toBe(false);
  });

  it('a withdrawal is our reference put on a standing anchor, by a patch or with its end', () => {
    const [free, fenced] = [truth([slot('3')]), truth([slot('3', WITHDRAWN)])];
    expect(puts(FENCE, free, fenced)).toBe(true);
    expect(puts({ ...FENCE, verb: 'delete' }, free, truth([]))).toBe(true);
    expect(puts(FENCE, free, free)).toBe(false);
    expect(puts(FENCE, fenced, fenced)).toBe(false);
    expect(puts({ ...FENCE, verb: 'create' }, free, fenced)).toBe(false);
    expect(puts({ ...FENCE, part: 'workload' }, free, fenced)).toBe(false);
    expect(puts(FENCE, truth([]), fenced)).toBe(false);
  });

  it('S11: a pass may write a few times on each part, and no more', () => {
    expect(effortBound(0)).toBe(12);
    expect(effortBound(2)).toBe(52);
  });
});
