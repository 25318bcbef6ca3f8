import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SimulateLine, SimulateOptions } from '../../src/simulator/simulate.ts';
import type { Edit, Mutant } from './_mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The first violation that was found. */
export interface Catch {
  readonly seed: number;
  readonly name: string;
  readonly message: string;
}

/** Runs random schedules over a copy of the source with `mutant` in it; `undefined` when nothing is found. */
export function hunt(mutant: Mutant, seeds: number, steps: number): Catch | undefined {
  const found = runMutant(mutant, HUNT, { seeds, steps, weather: mutant.weather ?? {} });
  return found === '' ? undefined : (JSON.parse(found) as Catch);
}

/** What the simulation says of `mutant`: one line an object. */
export function simulated(mutant: Mutant, options: SimulateOptions): readonly SimulateLine[] {
  const lines = runMutant(mutant, SIMULATE, options).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as SimulateLine);
}

function runMutant(mutant: Mutant, script: string, given: object): string {
  const den = mkdtempSync(join(tmpdir(), 'everwarm-mutant-'));
  try {
    cpSync(join(ROOT, 'src'), join(den, 'src'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(den, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(den, 'node_modules'));
    for (const edit of mutant.edits) apply(den, edit);
    const args = ['--input-type=module', '--eval', script, JSON.stringify(given)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: den, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${mutant.name} does not run: ${stderr.slice(-2_000)}`);
    return stdout;
  } finally {
    rmSync(den, { recursive: true, force: true });
  }
}

/** Run in the copy: prints what the simulation says. */
const SIMULATE = `
  import { pathToFileURL } from 'node:url';
  const { simulate } = await import(pathToFileURL('src/simulator/simulate.ts'));
  for await (const line of simulate(JSON.parse(process.argv[1]))) console.log(JSON.stringify(line));
`;

/** Run in the copy: prints the first violation that is found. */
const HUNT = `
  import { pathToFileURL } from 'node:url';
  const { runSchedule } = await import(pathToFileURL('src/simulator/schedule.ts'));
  const { seeds, steps, weather } = JSON.parse(process.argv[1]);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violations } = await runSchedule({ seed, steps, weather });
    if (violations.length === 0) continue;
    process.stdout.write(JSON.stringify({ seed, ...violations[0] }));
    break;
  }
`;

function apply(den: string, { file, find, replace }: Edit): void {
  const root = join(den, file);
  const paths = statSync(root).isDirectory() ? globSync(join(root, '*.ts')) : [root];
  const matches = paths.flatMap((path) => {
    const parts = readFileSync(path, 'utf8').split(find);
    return parts.slice(1).map(() => ({ path, parts }));
  });
  const [match] = matches;
  if (match === undefined || matches.length > 1)
    throw new Error(
      `${file}: what is to be changed is there ${matches.length} times: ${String(find).slice(0, 120)}`,
    );
  writeFileSync(match.path, match.parts.join(replace));
}
