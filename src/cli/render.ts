/** Text for people: columns that line up, and colours where there is a terminal to show them. */
import { relative } from 'node:path';

export type Color = 'dim' | 'bold' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';
export type Paint = (text: string, color: Color) => string;

const CODES: Readonly<Record<Color, readonly [on: number, off: number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};

const ESCAPE = '\u001b';
const ESCAPES = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');

/** Colours text, or leaves it plain. */
export function createPaint(hasColor: boolean): Paint {
  if (!hasColor) return (text) => text;
  return (text, color) => {
    const [on, off] = CODES[color];
    return text === '' ? '' : `${ESCAPE}[${on}m${text}${ESCAPE}[${off}m`;
  };
}

/** How many columns a terminal needs for `text`. */
function widthOf(text: string): number {
  return text.replaceAll(ESCAPES, '').length;
}

/** `text` filled up with blanks to `width`; a longer one stays as it is. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** The rows with their cells under each other; numbers to the right where `numeric` says so. */
export function columns(
  rows: readonly (readonly string[])[],
  { indent = '', gap = 2, numeric = [] }: { indent?: string; gap?: number; numeric?: readonly number[] } = {},
): readonly string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      const width = widths[at] ?? 0;
      return numeric.includes(at) ? ' '.repeat(width - widthOf(cell)) + cell : pad(cell, width);
    });
    return `${indent}${cells.join(' '.repeat(gap))}`.trimEnd();
  });
}

/** Slots `1,2,3,6` as `1-3,6`; those that are no numbers one after the other. */
export function ranges(slots: readonly string[]): string {
  if (!slots.every((slot) => /^\d+$/.test(slot))) return slots.join(', ');
  const numbers = slots.map(Number).sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** `text` in lines of at most `width` columns, the second and later ones set in by `indent`; one line where there is no width. */
export function wrap(text: string, width: number | undefined, indent = ''): readonly string[] {
  if (width === undefined) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S) /)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** A file as one would type it here. */
export function shownPath(file: string): string {
  const near = relative('', file);
  return near === '' || near.startsWith('..') ? file : near;
}

/** `text` cut to `width` columns of a terminal, if it is one; colours in it end where it is cut. */
export function clip(text: string, width: number | undefined): string {
  if (width === undefined || widthOf(text) <= width) return text;
  let shown = 0;
  let at = 0;
  while (at < text.length && shown < width - 1) {
    const code = text.startsWith(ESCAPE, at) ? /^\S*?m/.exec(text.slice(at))?.[0] : undefined;
    if (code === undefined) shown += 1;
    at += code?.length ?? 1;
  }
  const rest = text.slice(at).match(ESCAPES)?.join('') ?? '';
  return `${text.slice(0, at)}…${rest}`;
}
