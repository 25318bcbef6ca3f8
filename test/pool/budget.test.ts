import { expect, it } from 'vitest';
import { isBlocked, isServing, maxUnavailable } from '../../src/pool/budget.ts';
import type { Instance, Policy } from '../../src/pool/types.ts';
import { anchorless, instance, missing, STALE, troubled, withdrawn } from './_world.ts';

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
