/**
 * `npm run mutate [-- --folder src/pool] [--only plan.ts] [--json]`: changes the code of a folder in many small ways
 * and counts the changes that the folder's own tests notice. Ends with 1 below the bar. StrykerJS does the work.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { type Accepted, judge, type Mutant, type Verdict } from './survivors.ts';

const SCORE_MIN = 90;
const ACCEPTED = 'test/mutation/accepted.json';

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: 'src/pool' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const folder = options.folder.replace(/\/$/, '');
const tests = folder.replace(/^src/, 'test');
const files = globSync(`${folder}/**/${options.only ?? '*.ts'}`).sort();
if (files.length === 0 || !existsSync(tests)) {
  console.error(`nothing to mutate: ${folder} needs code, and ${tests} its tests; see --folder and --only`);
  process.exit(2);
}

const verdict = judge(await mutate(), JSON.parse(readFileSync(ACCEPTED, 'utf8')) as Accepted[], files);
if (options.json) printJson(verdict);
else print(verdict);
process.exit(verdict.score >= SCORE_MIN ? 0 : 1);

async function mutate(): Promise<Mutant[]> {
  const results = await new Stryker({
    mutate: files,
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', dir: tests, related: true },
    ignorePatterns: ['/*', '!/src', '!/test', '!/package.json', '!/tsconfig.json'],
    // Stryker rewrites the tsconfig with a part of TypeScript that version 7 no longer has. Ours needs no rewriting.
    tsconfigFile: 'none',
    concurrency: 2,
    timeoutMS: 10_000,
    tempDirName: '.everwarm/mutation',
    reporters: options.json ? [] : ['progress-append-only'],
    allowConsoleColors: false,
    fileLogLevel: 'off',
    logLevel: options.json ? 'off' : 'warn',
  } as ConstructorParameters<typeof Stryker>[0]).runMutationTest();

  return results
    .filter(({ status }) => !['CompileError', 'RuntimeError', 'Ignored'].includes(status))
    .map(({ fileName, location, mutatorName, replacement, status }) => {
      const file = relative('', fileName);
      const lines = readFileSync(file, 'utf8').split('\n');
      return {
        file,
        line: location.start.line,
        source: oneLine(lines[location.start.line - 1] ?? ''),
        mutator: mutatorName,
        original: oneLine(textAt(lines, location)),
        change: oneLine(replacement ?? ''),
        isKilled: status === 'Killed' || status === 'Timeout',
      };
    });
}

interface Range {
  readonly start: { readonly line: number; readonly column: number };
  readonly end: { readonly line: number; readonly column: number };
}

/** The text of a range whose lines and columns count from 1; its end is exclusive. */
function textAt(lines: readonly string[], { start, end }: Range): string {
  const touched = lines.slice(start.line - 1, end.line);
  const last = touched.length - 1;
  return touched
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join('\n');
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function print({ killed, total, score, survivors, outdated }: Verdict): void {
  for (const { file, line, mutator, original, change, reason } of survivors) {
    console.log(`\nsurvived  ${file}:${line}  ${mutator}\n  - ${original}\n  + ${change}`);
    if (reason !== undefined) console.log(`  accepted: ${reason}`);
  }
  for (const { file, original, change } of outdated) {
    console.log(`\nno longer survives; take it off ${ACCEPTED}:  ${file}\n  - ${original}\n  + ${change}`);
  }
  const explained = survivors.filter(({ reason }) => reason !== undefined).length;
  console.log(
    `\n${killed} of ${total} killed (${score.toFixed(1)} %, at least ${SCORE_MIN} %); ` +
      `${survivors.length} survived, ${explained} of them accepted with a reason`,
  );
}

function printJson({ killed, total, score, survivors, outdated }: Verdict): void {
  for (const survivor of survivors) console.log(JSON.stringify({ type: 'Survivor', ...survivor }));
  for (const one of outdated) console.log(JSON.stringify({ type: 'Outdated', ...one }));
  console.log(JSON.stringify({ type: 'Mutation', folder, killed, total, score, scoreMin: SCORE_MIN }));
}
