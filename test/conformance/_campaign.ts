import { type Clock, seededRandom } from '../../src/clock.ts';
import { Census } from './_census.ts';
import { chance } from './_chance.ts';
import { differences } from './_difference.ts';
import { DIRECTED } from './_directed.ts';
import { KINDS } from './_kinds.ts';
import { life } from './_life.ts';
import { type Program, type Step, told } from './_program.ts';
import { makeNamespace, run, type Said } from './_run.ts';
import { GOING, THEMES } from './_themes.ts';
import type { Wire } from './_wire.ts';
import { DEVIATIONS, type Found } from './deviations.ts';

/** Two servers that are to agree. */
export interface Pair {
  readonly real: Wire;
  readonly embedded: Wire;
  readonly clock: Clock;
}

/** What came of a campaign. */
export interface Result {
  readonly census: Census;
  /** How often each listed deviation was seen. */
  readonly listed: ReadonlyMap<string, number>;
  /** The first unlisted difference of each program that has one. */
  readonly unlisted: readonly Finding[];
}

export interface Finding {
  readonly program: Program;
  readonly found: Found;
}

/** Programs side by side: enough to keep both servers busy. */
const LANES = 6;

/** The programs of a seed: the same on every machine. */
export function programsOf(seed: number, count: number): readonly Program[] {
  const generated = Array.from({ length: count }, (_, index) => {
    const source = chance(seededRandom(seed * 1_000_003 + index));
    const theme = source.weighted(THEMES.map((each) => [each.share, each] as const));
    // Every kind has its turn.
    const kind = KINDS[index % KINDS.length];
    const steps = theme.name === 'life' ? life(source, kind) : theme.steps(source);
    return { name: `${theme.name} ${seed}/${index}`, steps };
  });
  return [...generated, ...GOING, ...DIRECTED];
}

/** Runs the programs on both servers and compares all they say. */
export async function campaign(
  pair: Pair,
  programs: readonly Program[],
  prefix = 'program',
): Promise<Result> {
  const census = new Census();
  const listed = new Map<string, number>();
  const unlisted: Finding[] = [];
  // All at first: in one that it has not heard of yet, the real server asks itself about everything.
  await makeNamespaces(
    pair,
    programs.map((_, index) => `${prefix}-${index}`),
  );
  await inLanes(programs, async (program, index) => {
    const [real, embedded] = await both(pair, program, `${prefix}-${index}`);
    program.steps.forEach((step, at) => {
      census.note(step, real[at]?.code ?? 0);
    });
    const found = judge(program.steps, real, embedded, (name) =>
      listed.set(name, (listed.get(name) ?? 0) + 1),
    );
    if (found !== undefined) unlisted.push({ program, found });
  });
  return { census, listed, unlisted };
}

async function makeNamespaces({ real, embedded }: Pair, names: readonly string[]): Promise<void> {
  for (const name of names) await Promise.all([makeNamespace(real, name), makeNamespace(embedded, name)]);
}

function both({ real, embedded, clock }: Pair, program: Program, namespace: string) {
  return Promise.all([run(real, clock, program, namespace), run(embedded, clock, program, namespace)]);
}

/** The first difference that no listed deviation explains; the others are told to `note`. */
export function judge(
  steps: readonly Step[],
  real: readonly Said[],
  embedded: readonly Said[],
  note: (deviation: string) => void = () => undefined,
): Found | undefined {
  for (const [index, step] of steps.entries()) {
    const [saidByReal, saidByEmbedded] = [real[index], embedded[index]];
    if (saidByReal === undefined || saidByEmbedded === undefined) continue;
    for (const difference of differences(saidByReal, saidByEmbedded)) {
      const found: Found = { ...difference, step, saidByReal, saidByEmbedded };
      const deviation = DEVIATIONS.find(({ matches }) => matches(found));
      if (deviation === undefined) return found;
      note(deviation.name);
    }
  }
  return undefined;
}

/** Takes all programs, several at once. */
export async function inLanes(
  programs: readonly Program[],
  take: (program: Program, index: number) => Promise<void>,
): Promise<void> {
  const waiting = programs.map((program, index) => ({ program, index }));
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await take(next.program, next.index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const RUNS_MAX = 80;

/** The shortest program with which the same step still differs in the same place. */
export async function shrink(pair: Pair, { program, found }: Finding): Promise<Finding> {
  let runs = 0;
  const same = async (steps: readonly Step[]): Promise<Found | undefined> => {
    runs += 1;
    const namespace = `shorter-${runs}-${program.name.replaceAll(/[^0-9]/g, '')}`;
    await makeNamespaces(pair, [namespace]);
    const [real, embedded] = await both(pair, { ...program, steps }, namespace);
    const other = judge(steps, real, embedded);
    return other?.step === found.step && other.path === found.path ? other : undefined;
  };
  let steps = program.steps.slice(0, program.steps.indexOf(found.step) + 1);
  let last = found;
  for (let at = steps.length - 2; at >= 0 && runs < RUNS_MAX; at -= 1) {
    const fewer = steps.toSpliced(at, 1);
    const still = await same(fewer);
    if (still === undefined) continue;
    steps = fewer;
    last = still;
  }
  return { program: { ...program, steps }, found: last };
}

/** A finding as a person reads it. */
export function finding({ program, found }: Finding): string {
  const { path, real, embedded } = found;
  return [
    `${program.name}:`,
    ...program.steps.map((step) => `${step === found.step ? '> ' : '  '}${told(step)}`),
    `    ${path}`,
    `    real:     ${JSON.stringify(real)}`,
    `    embedded: ${JSON.stringify(embedded)}`,
  ].join('\n');
}
