/**
 * `npm run bench [-- --only NAME] [--json]`: takes every measure that the `*.bench.ts` files beside this one list.
 * A figure is no test: a missed goal is shown, and does not fail the run.
 */
import { globSync } from 'node:fs';
import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Goal, type Measure, meets } from './measure.ts';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, json: { type: 'boolean', default: false } },
});

const measures = (await Promise.all(globSync('test/bench/*.bench.ts').sort().map(load)))
  .flat()
  .filter(({ name }) => name.includes(options.only));
if (measures.length === 0) {
  console.error(`no measure is called ${options.only}`);
  process.exit(2);
}

for (const { name, unit, goal, run } of measures) {
  const value = significant(await run());
  const load = loadavg()[0] ?? 0;
  if (options.json) {
    const met = meets(value, goal);
    console.log(
      JSON.stringify({ type: 'Measure', name, value, unit, goal: say(goal), met, load: significant(load) }),
    );
  } else {
    const verdict = meets(value, goal) ? 'ok' : 'missed';
    const figure = `${value} ${unit}`.padStart(18);
    console.log(
      `${name.padEnd(36)} ${figure}   goal ${say(goal).padEnd(10)} ${verdict.padEnd(6)}   load ${load.toFixed(1)}`,
    );
  }
}
process.exit(0);

async function load(file: string): Promise<readonly Measure[]> {
  const { measures } = (await import(pathToFileURL(file).href)) as { readonly measures: readonly Measure[] };
  return measures;
}

function say(goal: Goal): string {
  return 'atMost' in goal ? `<= ${goal.atMost}` : `>= ${goal.atLeast}`;
}

function significant(value: number): number {
  return Number(value.toPrecision(value >= 1000 ? 4 : 3));
}
