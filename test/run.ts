/**
 * What `npm run check` (with --fast) and `npm test` run: lint, types, unused code, fast tests, and without --fast the slow
 * ones and those on a real API server; `npm run test:real` (with --real) runs the last alone. The last line is
 * `N passed, N failed, N skipped` over all stages, or with --json what the real ones came to; the exit code is 0 if none failed.
 */
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { type Counts, runTests } from './_vitest.ts';
import { forgetConformance, judgeLeftOut, type Summary, summaryOf } from './real/summary.ts';

// In a pipe and in CI, plain text. The tools read this when they start, which is why Vitest is imported below.
if (!process.stdout.isTTY) process.env['NO_COLOR'] = '1';

const flag = { type: 'boolean', default: false } as const;
const { values: options } = parseArgs({ options: { fast: flag, real: flag, json: flag } });

const NOTHING_MORE: Counts = { passed: 0, failed: 0, skipped: 0 };
const colors = process.stdout.isTTY ? [] : ['--colors=off'];
type Stage = readonly [name: string, run: () => Counts | Promise<Counts>];
let summary: Summary | undefined;
const fast: readonly Stage[] = [
  ['lint', () => tool('@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors, '.')],
  ['types', () => tool('typescript/bin/tsc')],
  ['unused', () => tool('knip/bin/knip.js')],
  ['fast tests', () => runTests(['fast'])],
];
const slow: Stage = ['slow tests', slowTests];
// The scenarios on a real API server wait in real time: `npm run test:real` has them, `npm test` the rest.
const real: Stage = ['real cluster', () => realTests(options.real ? ['real', 'stories'] : ['real'])];
const stages = options.real ? [real] : options.fast ? fast : [...fast, slow, real];

const startedAt = performance.now();
const lines: string[] = [];
const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, run] of stages) {
  console.log(`\n--- ${name} (${seconds(startedAt)} since the start)`);
  const stageStartedAt = performance.now();
  const counts = await run();
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  const verdict = counts.failed === 0 ? 'ok' : 'FAILED';
  lines.push(
    `${name.padEnd(12)}  ${verdict.padEnd(6)}  ${seconds(stageStartedAt).padStart(8)}  ${say(counts)}`,
  );
}
console.log(`\n${lines.join('\n')}\n\n${say(total)}`);
if (options.json && summary !== undefined) console.log(JSON.stringify(summary));
process.exit(total.failed === 0 ? 0 : 1);

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function say({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** A tool of node_modules counts as one: passed if it ends with 0. */
function tool(file: string, ...args: string[]): Counts {
  const { status } = spawnSync(process.execPath, [`node_modules/${file}`, ...args], { stdio: 'inherit' });
  return status === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 };
}

/** The chart's tests need helm; where it cannot be had they are skipped and say why. */
function fetchHelm(): void {
  spawnSync(process.execPath, ['test/chart/helm.ts'], { stdio: 'inherit' });
}

function slowTests(): Promise<Counts> {
  fetchHelm();
  return runTests(['slow']);
}

/** The comparison with a real API server, Everwarm on one, and the scenarios on one. */
function realTests(projects: readonly string[]): Promise<Counts> {
  fetchHelm();
  forgetConformance();
  return runTests(projects, (vitest) => {
    summary = summaryOf(vitest);
    return projects.includes('stories') ? judgeLeftOut(vitest) : NOTHING_MORE;
  });
}
