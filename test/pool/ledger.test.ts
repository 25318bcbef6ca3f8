import { expect, it } from 'vitest';
import { license, reviewLedger } from '../../src/pool/ledger.ts';
import type { Instance, LedgerEntry } from '../../src/pool/types.ts';
import {
  anchorless,
  claimed,
  entry,
  instance,
  missing,
  NOW,
  OTHER_PASS,
  THIS_PASS,
  troubled,
  WANTED,
  withdrawn,
} from './_world.ts';

const review = (entries: readonly LedgerEntry[], slots: readonly Instance[], needed = false) =>
  reviewLedger(entries, new Map(slots.map((one) => [one.slot, one])), () => needed);
const touchedBy = (pass: string) => ({ anchor: { uid: 'anchor-3', resourceVersion: '2', pass } });

it.each<{ title: string; now: readonly Instance[] }>([
  { title: 'nothing stands in its slot any more', now: [missing('3')] },
  { title: 'its slot is not known any more', now: [] },
  { title: 'a user claimed its instance', now: [claimed('3')] },
  { title: 'a user claimed it although it was withdrawn', now: [withdrawn('3', { claimedBy: 'session-3' })] },
  {
    title: 'its instance was returned by the pass that withdrew it',
    now: [instance('3', touchedBy(THIS_PASS))],
  },
])('an entry leaves when $title', ({ now }) => {
  expect(review([entry('3')], now)).toEqual({ keep: [], touch: [] });
});

it.each<{ title: string; now: Instance; needed: boolean }>([
  { title: 'its instance is still withdrawn', now: withdrawn('3'), needed: false },
  { title: 'its anchor is gone and its parts still stand', now: anchorless('3'), needed: false },
  { title: 'its instance still has to be replaced', now: instance('3', touchedBy(THIS_PASS)), needed: true },
])('an entry stays while $title', ({ now, needed }) => {
  expect(review([entry('3')], [now], needed)).toEqual({ keep: [entry('3')], touch: [] });
});

it('a standing instance that need not go any more is touched first, so that a slower worker cannot withdraw it', () => {
  expect(review([entry('3')], [instance('3')])).toEqual({ keep: [entry('3')], touch: [entry('3')] });
});

it('a write of yet another pass on the anchor is no proof: the pass of the entry may still be on its way', () => {
  const now = [instance('3', touchedBy(OTHER_PASS))];
  expect(review([entry('3')], now)).toEqual({ keep: [entry('3')], touch: [entry('3')] });
});

it.each<{ title: string; foreign: Partial<Instance> }>([
  { title: 'of somebody else', foreign: { foreign: 'Service/ide-3' } },
  { title: 'that was made anew', foreign: {} },
])('an anchor $title is not touched: the one that an older pass could write to is gone', ({ foreign }) => {
  const anchor = { uid: 'another', resourceVersion: '1' };
  expect(review([entry('3')], [instance('3', { anchor, ...foreign })])).toEqual({ keep: [], touch: [] });
});

it('our own anchor is touched although a part beside it is somebody else’s', () => {
  const now = [instance('3', { foreign: 'ConfigMap/ide-3-emails' })];
  expect(review([entry('3')], now).touch).toEqual([entry('3')]);
});

it('judges each entry by its own slot', () => {
  const entries = [entry('1'), entry('2'), entry('3')];
  expect(review(entries, [claimed('1'), withdrawn('2'), instance('3')])).toEqual({
    keep: [entry('2'), entry('3')],
    touch: [entry('3')],
  });
});

const licensed = (it: Instance, prior?: LedgerEntry, short = 0) =>
  license({ instance: it, prior, pass: THIS_PASS, revision: WANTED, now: NOW, short });

it('a license names the objects as they were seen, the revision and the pass', () => {
  expect(licensed(instance('3'))).toEqual({
    slot: '3',
    anchor: 'anchor-3',
    workload: 'workload-3',
    revision: WANTED,
    pass: THIS_PASS,
    since: NOW,
    short: 0,
  });
});

it('what is not there is not named', () => {
  expect(licensed(missing('3'))).toStrictEqual({ slot: '3', revision: WANTED, pass: THIS_PASS, since: NOW });
});

it.each<{ title: string; one: Instance; prior?: LedgerEntry; short: number | undefined }>([
  { title: 'of one that could be handed out, it is as many as are away', one: instance('3'), short: 2 },
  {
    title: 'of one that could not be handed out, nothing is lost',
    one: troubled('3', 'quota'),
    short: undefined,
  },
  {
    title: 'of one that another pass took, it stays as that pass saw it',
    one: withdrawn('3', {}, OTHER_PASS),
    prior: entry('3', { pass: OTHER_PASS, short: 1 }),
    short: 1,
  },
  {
    title: 'of one that served none when another pass took it, nothing is lost',
    one: withdrawn('3', {}, OTHER_PASS),
    prior: entry('3', { pass: OTHER_PASS }),
    short: undefined,
  },
])('a license remembers what its withdrawal cost: $title', ({ one, prior, short }) => {
  expect(licensed(one, prior, 2).short).toBe(short);
});

it('asked again by the same pass, a license stays as it is', () => {
  const prior = entry('3', { workload: 'gone-by-now' });
  expect(licensed(withdrawn('3'), prior)).toEqual(prior);
});

it.each([
  { title: 'another pass', prior: entry('3', { pass: OTHER_PASS, workload: 'gone-by-now' }) },
  { title: 'another revision', prior: entry('3', { revision: 'v1', workload: 'gone-by-now' }) },
])('an entry for $title is written anew, and begins its time anew', ({ prior }) => {
  expect(licensed(withdrawn('3'), prior)).toEqual(entry('3', { since: NOW }));
});
