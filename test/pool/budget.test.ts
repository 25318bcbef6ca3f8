import { expect, it } from 'vitest';
import { isBlocked, isServing, maxUnavailable, room } from '../../src/pool/budget.ts';
import type { Instance, LedgerEntry, Policy } from '../../src/pool/types.ts';
import {
  anchorless,
  emptied,
  entry,
  instance,
  instances,
  missing,
  STALE,
  troubled,
  withdrawn,
} from './_world.ts';

const policy = (max: number | string): Policy => ({ mode: 'guard', paused: false, maxUnavailable: max });

it.each([
  { max: '25%', of: 1, away: 1, title: 'a quarter of one is rounded up to one, or nothing would ever move' },
  { max: '25%', of: 3, away: 1, title: 'a quarter of three is one' },
  { max: '25%', of: 7, away: 1, title: 'a quarter of seven is rounded down' },
  { max: '25%', of: 8, away: 2, title: 'a quarter of eight is two' },
  { max: '25%', of: 10, away: 2, title: 'a quarter of ten is rounded down' },
  { max: '100%', of: 10, away: 10, title: 'all of ten may be away if somebody wants that' },
  { max: '0%', of: 10, away: 1, title: 'nothing would mean no release ever: one' },
  { max: 0, of: 10, away: 1, title: 'zero would mean no release ever: one' },
  { max: -3, of: 10, away: 1, title: 'less than nothing is one' },
  { max: 3, of: 10, away: 3, title: 'a number is taken as it is' },
  { max: 2.9, of: 10, away: 2, title: 'a broken number is rounded down' },
  { max: 'many', of: 10, away: 1, title: 'what nobody can read is one' },
  { max: '50%', of: 0, away: 1, title: 'of an empty pool: one' },
])('maxUnavailable $max of $of: $title', ({ max, of, away }) => {
  expect(maxUnavailable(policy(max), of)).toBe(away);
});

it.each<{ title: string; one: Instance; serves: boolean }>([
  { title: 'a ready one serves', one: instance('1'), serves: true },
  { title: 'a stale one serves until it is replaced', one: instance('1', STALE), serves: true },
  { title: 'one that is still starting does not', one: instance('1', { phase: 'pending' }), serves: false },
  { title: 'a withdrawn one does not, ready or not', one: withdrawn('1'), serves: false },
  {
    title: 'one with traces of its last user does not',
    one: instance('1', { dirt: 'used pod' }),
    serves: false,
  },
  { title: 'one without anchor cannot be handed out', one: anchorless('1'), serves: false },
  { title: 'an empty slot does not', one: missing('1'), serves: false },
])('$title', ({ one, serves }) => {
  expect(isServing(one)).toBe(serves);
});

it.each<{ title: string; one: Instance; blocked: boolean }>([
  { title: 'one that cannot be scheduled is blocked', one: troubled('1', 'unschedulable'), blocked: true },
  {
    title: 'one that starts without trouble is not',
    one: instance('1', { phase: 'pending' }),
    blocked: false,
  },
  {
    title: 'a stale one is never blocked: replacing it is its cure',
    one: troubled('1', 'imagePull', STALE),
    blocked: false,
  },
  {
    title: 'one that got ready in spite of its trouble is not',
    one: troubled('1', 'crash', { phase: 'ready' }),
    blocked: false,
  },
])('$title', ({ one, blocked }) => {
  expect(isBlocked(one)).toBe(blocked);
});

it.each<{
  title: string;
  max: number;
  slots: readonly Instance[];
  ledger?: readonly LedgerEntry[];
  left: object;
}>([
  {
    title: 'all ready: as many as may be away',
    max: 3,
    slots: instances(10),
    left: { budget: 3, places: 3 },
  },
  {
    title: 'what is not ready is away already',
    max: 3,
    slots: [...instances(8), missing('9'), instance('10', { phase: 'pending' })],
    left: { budget: 1, places: 3 },
  },
  {
    title: 'more are away than may be: less than nothing is left',
    max: 1,
    slots: [instance('1'), missing('2'), missing('3')],
    left: { budget: -1, places: 1 },
  },
  {
    title: 'what is announced counts as away, and has its place',
    max: 3,
    slots: instances(10),
    ledger: [entry('10'), entry('9')],
    left: { budget: 1, places: 1 },
  },
  {
    title: 'what is being rebuilt counts once',
    max: 3,
    slots: [...instances(9), emptied('10')],
    ledger: [entry('10')],
    left: { budget: 2, places: 2 },
  },
  {
    title: 'entries of claimed and surplus slots count for nothing',
    max: 3,
    slots: instances(10),
    ledger: [entry('11'), entry('12')],
    left: { budget: 3, places: 3 },
  },
  {
    title: 'one in back-off frees its place, and is still away',
    max: 3,
    slots: [...instances(9), troubled('10', 'imagePull')],
    ledger: [entry('10')],
    left: { budget: 2, places: 3 },
  },
  {
    title: 'in a full cluster one more may go than may be away',
    max: 2,
    slots: [...instances(8), troubled('9', 'unschedulable'), troubled('10', 'quota')],
    left: { budget: 1, places: 2 },
  },
  {
    title: 'in a full cluster that one may be announced already',
    max: 2,
    slots: [...instances(8), troubled('9', 'unschedulable'), troubled('10', 'unschedulable')],
    ledger: [entry('8')],
    left: { budget: 0, places: 1 },
  },
  {
    title: 'in a full cluster with room to spare in the budget it stays as it is',
    max: 3,
    slots: [...instances(9), troubled('10', 'unschedulable')],
    left: { budget: 2, places: 3 },
  },
  {
    title: 'one that is away for another reason comes back by itself: nobody more goes',
    max: 2,
    slots: [...instances(7), missing('8'), troubled('9', 'unschedulable'), troubled('10', 'unschedulable')],
    left: { budget: -1, places: 2 },
  },
  {
    title: 'an image that cannot be pulled is no want of room',
    max: 2,
    slots: [...instances(8), troubled('9', 'imagePull'), troubled('10', 'unschedulable')],
    left: { budget: 0, places: 2 },
  },
])('$title', ({ max, slots, ledger = [], left }) => {
  const { budget, places } = room(policy(max), slots, ledger, isBlocked);
  expect({ budget, places }).toEqual(left);
});

it('tells how many are away: claimed ones are not asked, empty slots are', () => {
  const slots = [...instances(7), missing('8'), withdrawn('9'), troubled('10', 'crash')];
  expect(room(policy(3), slots, [], isBlocked).short).toBe(3);
});

const lost = (slot: string, short: number) => ({ slot, short });
it.each<{ title: string; away: number; taken: readonly { slot: string; short: number }[]; budget: number }>([
  { title: 'nobody moved yet: one may try, however many wait for room', away: 5, taken: [], budget: 1 },
  { title: 'who moved made room for another: the next may go', away: 5, taken: [lost('6', 5)], budget: 1 },
  { title: 'who moved found no room: nobody else goes', away: 6, taken: [lost('5', 5)], budget: -4 },
  { title: 'within the limit nothing is lost yet', away: 2, taken: [lost('10', 0), lost('9', 0)], budget: 1 },
  {
    title: 'one over the limit is the last',
    away: 3,
    taken: [lost('10', 0), lost('9', 1), lost('8', 2)],
    budget: -1,
  },
])('in a full cluster, when $title', ({ away, taken, budget }) => {
  const slots = [
    ...instances(10 - away),
    ...Array.from({ length: away }, (_, at) => troubled(String(10 - at), 'unschedulable')),
  ];
  const ledger = taken.map(({ slot, short }) => entry(slot, { short }));
  expect(room(policy(2), slots, ledger, isBlocked).budget).toBe(budget);
});

it('in a full cluster, who moved and is being rebuilt says nothing yet', () => {
  const slots = [...instances(7), ...['8', '9', '10'].map((slot) => troubled(slot, 'unschedulable'))];
  const ledger = [entry('8', { short: 0 })];
  expect(room(policy(2), slots, ledger, () => false).budget).toBe(1);
  expect(room(policy(2), slots, ledger, isBlocked).budget).toBe(-1);
});

it('in a full cluster, what could not be handed out when it was taken is no loss', () => {
  const slots = [...instances(7), ...['8', '9', '10'].map((slot) => troubled(slot, 'unschedulable'))];
  expect(room(policy(2), slots, [entry('8'), entry('9'), entry('10')], isBlocked).budget).toBe(1);
});
