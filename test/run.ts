/**
 * What `npm run check` (with --fast) and `npm test` run: lint, types, unused code, fast tests, and without --fast
 * the slow ones. The last line is `N passed, N failed, N skipped` over all stages; the exit code is 0 if none failed.
 */
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { TestCase, Vitest } from 'vitest/node';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

// In a pipe and in CI, plain text. The tools read this when they start, which is why Vitest is imported below.
if (!process.stdout.isTTY) process.env['NO_COLOR'] = '1';

const { values: options } = parseArgs({ options: { fast: { type: 'boolean', default: false } } });

const colors = process.stdout.isTTY ? [] : ['--colors=off'];
const stages: ReadonlyArray<readonly [name: string, run: () => Counts | Promise<Counts>]> = [
  ['lint', () => tool('@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors, '.')],
  ['types', () => tool('typescript/bin/tsc')],
  ['unused', () => tool('knip/bin/knip.js')],
  ['fast tests', () => tests('fast')],
  ...(options.fast ? [] : [['slow tests', () => tests('slow')] as const]),
];

const startedAt = performance.now();
const summary: string[] = [];
const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, run] of stages) {
  console.log(`\n--- ${name} (${seconds(startedAt)} since the start)`);
  const stageStartedAt = performance.now();
  const counts = await run();
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  const verdict = counts.failed === 0 ? 'ok' : 'FAILED';
  summary.push(
    `${name.padEnd(10)}  ${verdict.padEnd(6)}  ${seconds(stageStartedAt).padStart(8)}  ${say(counts)}`,
  );
}
console.log(`\n${summary.join('\n')}\n\n${say(total)}`);
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

async function tests(project: 'fast' | 'slow'): Promise<Counts> {
  const { startVitest } = await import('vitest/node');
  const vitest = await startVitest('test', [], { project, run: true, watch: false, allowOnly: false });
  const counts = count(vitest);
  await vitest.close();
  return counts;
}

/** A file that does not load and an error outside of any test count as a failure each; so does a skip without a reason. */
function count(vitest: Vitest): Counts {
  const modules = vitest.state.getTestModules();
  const cases = modules.flatMap((module) => [...module.children.allTests()]);
  const passed = cases.filter((test) => test.result().state === 'passed').length;
  const skips = cases.filter((test) => test.result().state === 'skipped').map(skip);
  for (const { title, reason } of skips)
    console.log(`skipped: ${title}: ${reason ?? 'no reason given (fails)'}`);
  const unexplained = skips.filter(({ reason }) => reason === undefined).length;
  const notLoaded = modules.filter((module) => module.errors().length > 0).length;
  const strayErrors = vitest.state.getUnhandledErrors().length;
  return {
    passed,
    failed: cases.length - passed - skips.length + unexplained + notLoaded + strayErrors,
    skipped: skips.length - unexplained,
  };
}

function skip(test: TestCase) {
  const result = test.result();
  const reason = result.state === 'skipped' ? result.note : undefined;
  return { title: `${relative('', test.module.moduleId)} > ${test.fullName}`, reason };
}
