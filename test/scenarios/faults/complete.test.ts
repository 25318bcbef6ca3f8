import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FAULTS } from '../../../src/simulator/world/operator-faults.ts';

const FOLDER = new URL('./', import.meta.url);
const PAGE = readFileSync(new URL('../../../docs/theia-cloud.md', import.meta.url), 'utf8');
const SECTION = PAGE.slice(PAGE.indexOf('## Faults of the operator'));
const ALL = [
  ...Array.from({ length: 53 }, (_, at) => `F${at + 1}`),
  ...Array.from({ length: 7 }, (_, at) => `N${at + 1}`),
];

const numbersIn = (text: string): readonly string[] => text.match(/\b[FN][1-9][0-9]?\b/g) ?? [];

/** Numbers at the beginning of a story's title. */
const told = new Set(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap(
      (file) => readFileSync(new URL(file, FOLDER), 'utf8').match(/['"]((?:[FN]\d+, )*[FN]\d+): /g) ?? [],
    )
    .flatMap(numbersIn),
);
const [curedRows = '', stayingRows = ''] = SECTION.split('These stay.');
const rowsOf = (part: string): readonly string[] => part.split('\n').filter((line) => line.startsWith('| '));
const cured = new Set(rowsOf(curedRows).flatMap((row) => numbersIn(row.split('|')[2] ?? '')));
const staying = new Set(rowsOf(stayingRows).flatMap((row) => numbersIn(row.split('|')[1] ?? '')));

it('every fault has its story, or its line in the page with what to do', () => {
  expect(ALL.filter((number) => !told.has(number) && !staying.has(number))).toEqual([]);
});

it('the page names every fault', () => {
  expect(ALL.filter((number) => !cured.has(number) && !staying.has(number))).toEqual([]);
});

it('what the page calls put right or named has its story', () => {
  expect([...cured].filter((number) => !told.has(number))).toEqual([]);
});

it('every switch of the stand-in brings about a fault that the page names', () => {
  const numbers = Object.values(FAULTS).flat();
  expect(numbers.filter((number) => !cured.has(number) && !staying.has(number))).toEqual([]);
});
