/**
 * `npm run bench:real [-- --json]`: a pool of 200 is filled, one of 50 rolled, one instance deleted by hand, on the embedded
 * and on a real API server, and the same done to a plain Deployment. What others need for it is printed beside. Figures on a
 * busy machine say little: writes and processor time are what can be compared between machines.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { findBinaries } from '../real-cluster/build.ts';
import { embeddedSide, realSide, type Side } from './_sides.ts';
import { measureSide, type Step } from './_steps.ts';

const { values: options } = parseArgs({ options: { json: { type: 'boolean', default: false } } });

/** Measured elsewhere, on two cores with kube-apiserver 1.34 and pods that are ready after 1 s; the goals are ours. */
const BARS = [
  ['fill 200', 'seconds', 'Deployment 2.2, agent-sandbox 9.3, Kruise 5.3', '≤ Deployment × 1.5'],
  ['fill 200', 'writes each', 'Deployment 1.4–2.2, agent-sandbox 10, Kruise 8–9', 'parts + 1'],
  ['fill 200', 'server CPU each', 'Deployment 9 ms, agent-sandbox 68 ms, Kruise 35 ms', '≤ 5 ms a write'],
  [
    'roll out 50',
    'seconds',
    'Deployment 2.6, agent-sandbox 2.6, Kruise 6.8',
    '≤ 1.2 × ⌈N/budget⌉ × (fence + stop + ready)',
  ],
  ['roll out 50', 'fewest ready', 'Deployment 38, agent-sandbox 0, Kruise 40', 'never below the floor'],
  ['roll out 50', 'writes each', 'Deployment 6.6, agent-sandbox 9.2, Kruise 12.4', '≤ 10 + 2 a batch'],
  ['hand-deleted', 'seconds', 'Deployment 1.02, agent-sandbox 1.05, Kruise 1.04', '≤ 1.1 s'],
] as const;

const binaries = findBinaries();
if (binaries.kind === 'missing') console.error(`without a real API server: ${binaries.reason}`);
const sides = [embeddedSide, ...(binaries.kind === 'missing' ? [] : [realSide])];

if (!options.json)
  console.log(row(['', 'step', 's', 'requests', 'writes', 'each', 'CPU ms', 'fewest ready']));
for (const open of sides) {
  const side: Side = await open();
  try {
    await measureSide(side, tell);
  } finally {
    await side.stop();
  }
}
for (const [step, measure, others, goal] of BARS) {
  if (options.json) console.log(JSON.stringify({ type: 'Bar', step, measure, others, goal }));
  else console.log(`${step.padEnd(14)} ${measure.padEnd(16)} ${others.padEnd(54)} goal ${goal}`);
}
process.exit(0);

function tell(step: Step): void {
  const load = Number((loadavg()[0] ?? 0).toFixed(1));
  const { seconds, writesEach, cpuMs, ...rest } = step;
  const figures = {
    ...rest,
    seconds: rounded(seconds),
    writesEach: rounded(writesEach),
    cpuMs: Math.round(cpuMs),
  };
  if (options.json) {
    console.log(JSON.stringify({ type: 'Step', ...figures, load }));
    return;
  }
  const { side, step: name, requests, writes, fewestReady } = figures;
  console.log(
    row([side, name, figures.seconds, requests, writes, figures.writesEach, figures.cpuMs, fewestReady]),
  );
}

function row(cells: readonly (string | number)[]): string {
  const [side = '', step = '', ...numbers] = cells.map(String);
  return `${side.padEnd(9)} ${step.padEnd(26)}${numbers.map((cell) => cell.padStart(13)).join('')}`;
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}
