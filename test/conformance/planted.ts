import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../src/clock.ts';
import { inLanes, judge, programsOf } from './_campaign.ts';
import { ROOT, startEmbedded } from './_embedded.ts';
import { PLANTED, type Planted } from './_planted.ts';
import { type Program, told } from './_program.ts';
import { makeReady } from './_ready.ts';
import { startReal } from './_real.ts';
import { makeNamespace, run, type Said } from './_run.ts';
import { connect, type Wire } from './_wire.ts';

/**
 * `node bin/run.mjs test/conformance/planted.ts`: asks a real server once, then a copy of the embedded one for each planted
 * deviation, and prints by which request it was found. Ends with 1 when one was not.
 */

const SEED = 1;
const PROGRAMS = 400;

/** What a server says to all programs; stops as soon as `judge` has enough. */
async function ask(
  wire: Wire,
  clock: Clock,
  programs: readonly Program[],
  take: (index: number, said: readonly Said[]) => boolean,
): Promise<void> {
  let enough = false;
  for (const index of programs.keys()) await makeNamespace(wire, `program-${index}`);
  await inLanes(programs, async (program, index) => {
    if (!enough) enough = take(index, await run(wire, clock, program, `program-${index}`));
  });
}

/** The words of the real server, one list a program. */
async function askReal(programs: readonly Program[]): Promise<readonly (readonly Said[])[]> {
  const real = await startReal();
  const wire = connect(real.endpoint);
  const answers: (readonly Said[])[] = [];
  try {
    await makeReady(wire, systemClock);
    await ask(wire, systemClock, programs, (index, said) => {
      answers[index] = said;
      return false;
    });
  } finally {
    wire.close();
    await real.stop();
  }
  return answers;
}

/** The first request that a server in `root` answers otherwise, in words. */
async function difference(
  root: string,
  programs: readonly Program[],
  answers: readonly (readonly Said[])[],
): Promise<string | undefined> {
  const server = await startEmbedded(root);
  const wire = connect(server.endpoint);
  let found: string | undefined;
  try {
    await makeReady(wire, systemClock);
    await ask(wire, systemClock, programs, (index, said) => {
      const seen = judge(programs[index]?.steps ?? [], answers[index] ?? [], said);
      if (seen !== undefined) found ??= `${told(seen.step).slice(0, 100)} (${seen.path})`;
      return found !== undefined;
    });
  } finally {
    wire.close();
    await server.stop();
  }
  return found;
}

/** A copy of the source with one deviation in it. */
function plant({ name, file, find, replace }: Planted): string {
  const den = mkdtempSync(join(tmpdir(), 'everwarm-planted-'));
  cpSync(join(ROOT, 'src'), join(den, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(den, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(den, 'node_modules'));
  const path = join(den, 'src/embedded', file);
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2) throw new Error(`${name}: ${file} has it ${parts.length - 1} times: ${find}`);
  writeFileSync(path, parts.join(replace));
  return den;
}

const programs = programsOf(SEED, PROGRAMS);
const answers = await askReal(programs);
const clean = await difference(ROOT, programs, answers);
let missed = 0;
if (clean !== undefined) {
  process.stdout.write(`without anything planted: ${clean}\n`);
  missed += 1;
}
for (const planted of PLANTED) {
  const den = plant(planted);
  const found = await difference(den, programs, answers).catch(
    (error: unknown) => `it does not serve: ${error}`,
  );
  rmSync(den, { recursive: true, force: true });
  if (found === undefined) missed += 1;
  process.stdout.write(`${planted.name.padEnd(64)} ${found ?? 'NOT FOUND'}\n`);
}
process.exitCode = missed === 0 ? 0 : 1;
