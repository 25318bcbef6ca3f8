import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const den = mkdtempSync(join(tmpdir(), 'everwarm-mutant-'));
  try {
    cpSync(join(ROOT, 'src'), join(den, 'src'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(den, 'package.json'));
    mkdirSync(join(den, 'test/mutants'), { recursive: true });
    cpSync(join(import.meta.dirname, '_hunt.ts'), join(den, 'test/mutants/_hunt.ts'));
    symlinkSync(join(ROOT, 'node_modules'), join(den, 'node_modules'));
    for (const edit of mutant.edits) apply(den, edit);
    const given = [seeds, steps, mutant.weather ?? {}].map((one) => JSON.stringify(one));
    const args = [join(den, 'test/mutants/_hunt.ts'), ...given];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: den, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${mutant.name} does not run: ${stderr.slice(-2_000)}`);
    return stdout === '' ? undefined : (JSON.parse(stdout) as Catch);
  } finally {
    rmSync(den, { recursive: true, force: true });
  }
}

function apply(den: string, { file, find, replace }: Edit): void {
  const path = join(den, file);
  const text = readFileSync(path, 'utf8');
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(
      `${file}: what is to be changed is there ${parts.length - 1} times: ${String(find).slice(0, 120)}`,
    );
  writeFileSync(path, parts.join(replace));
}
