import { expect, it } from 'vitest';
import { type Accepted, judge, type Mutant } from './survivors.ts';

const mutant = (over: Partial<Mutant> = {}): Mutant => ({
  file: 'src/pool/budget.ts',
  line: 7,
  source: 'if (room < 0) return 0;',
  mutator: 'EqualityOperator',
  original: 'room < 0',
  change: 'room <= 0',
  isKilled: true,
  ...over,
});
const accepted: Accepted = {
  file: 'src/pool/budget.ts',
  source: 'if (room < 0) return 0;',
  original: 'room < 0',
  change: 'room <= 0',
  reason: 'both answer 0',
};
const files = ['src/pool/budget.ts'];

it('scores the share of mutants that a test noticed', () => {
  const { killed, total, score } = judge(
    [mutant(), mutant(), mutant(), mutant({ isKilled: false })],
    [],
    files,
  );
  expect({ killed, total, score }).toEqual({ killed: 3, total: 4, score: 75 });
});

it('scores nothing as zero: a folder without code was surely mistyped', () => {
  expect(judge([], [], []).score).toBe(0);
});

it('an accepted survivor keeps its reason when its line moves, and still counts as a survivor', () => {
  const { survivors, score } = judge([mutant({ isKilled: false, line: 99 })], [accepted], files);
  expect(survivors).toEqual([
    mutant({ isKilled: false, line: 99, reason: 'both answer 0' } as Partial<Mutant>),
  ]);
  expect(score).toBe(0);
});

it.each([
  ['another change on the same line', mutant({ isKilled: false, change: 'true' })],
  ['the same change elsewhere on the line', mutant({ isKilled: false, original: 'room < 1' })],
  ['the same change in another file', mutant({ isKilled: false, file: 'src/pool/plan.ts' })],
])('a reason does not cover %s', (_what, survivor) => {
  expect(judge([survivor], [accepted], files).survivors[0]).not.toHaveProperty('reason');
});

it.each([
  ['is killed by now', [mutant()]],
  ['is gone', []],
])('an accepted survivor that %s is named', (_what, mutants) => {
  expect(judge(mutants, [accepted], files).outdated).toEqual([accepted]);
});

it('says nothing about accepted survivors of files that were not mutated', () => {
  expect(judge([], [accepted], ['src/pool/plan.ts']).outdated).toEqual([]);
});
