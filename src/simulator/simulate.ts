import { TerminalError } from '../errors.ts';
import type { Violation } from '../pool/invariants.ts';
import { runAll } from './_crew.ts';
import { shrink } from './_shrink.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Outcomes, TraceLine } from './schedule.ts';

export interface SimulateOptions {
  /** The first seed (default 1). Without `seeds` it is the only one. */
  readonly seed?: number;
  /** How many seeds (default 2,000, or 1 beside `seed` or `scenario`). */
  readonly seeds?: number;
  /** Random steps of each schedule (default 250). */
  readonly steps?: number;
  /** A named story instead of random schedules. */
  readonly scenario?: string;
}

/** What a simulation says, one object a line. The last one is `Simulated`. */
export type SimulateLine =
  | { readonly type: 'Schedule'; readonly schedules: number; readonly steps: number; readonly seed: number }
  | {
      readonly type: 'Violation';
      readonly name: string;
      readonly message: string;
      readonly seed: number;
      /** The shortest trace that was found, in words. */
      readonly trace: readonly string[];
      /** The command that shows it again. */
      readonly replay: string;
    }
  | {
      readonly type: 'Simulated';
      readonly schedules: number;
      readonly steps: number;
      readonly violations: number;
      readonly seed: number;
      readonly hash?: string;
      readonly scenario?: string;
      /** What the scenario tells, in a sentence. */
      readonly title?: string;
      /** Of a scenario: what Everwarm did in it, how often. */
      readonly did?: Readonly<Record<string, number>>;
    };

const STEPS = 250;
const SEEDS = 2_000;
/** A line about the progress every so many schedules. */
const PROGRESS_EVERY = 100;
/** A simulation that fails this often has said enough. */
const VIOLATIONS_MAX = 5;

/** Runs random schedules, or a named story, and tells what it finds; each violation with a short trace. */
export async function* simulate(options: SimulateOptions = {}): AsyncGenerator<SimulateLine> {
  if (options.scenario !== undefined) return yield* play(options.scenario, options);
  const { seed = 1, steps = STEPS } = options;
  const seeds = options.seeds ?? (options.seed === undefined ? SEEDS : 1);
  let taken = 0;
  let violations = 0;
  let schedules = 0;
  let hash: string | undefined;
  for await (const outcomes of runAll(seed, seeds, steps)) {
    schedules += 1;
    taken += outcomes.steps;
    hash = outcomes.hash;
    if (outcomes.violations.length > 0) {
      violations += 1;
      yield await violationLine(outcomes, steps);
      if (violations === VIOLATIONS_MAX) break;
    }
    if (schedules % PROGRESS_EVERY === 0)
      yield { type: 'Schedule', schedules, steps: taken, seed: outcomes.seed };
  }
  const one = seeds === 1 && hash !== undefined ? { hash } : {};
  yield { type: 'Simulated', schedules, steps: taken, violations, seed, ...one };
}

async function violationLine(outcomes: Outcomes, steps: number): Promise<SimulateLine> {
  const shorter = await shrink(outcomes, { steps });
  const [violation = NONE] = shorter.violations;
  return {
    type: 'Violation',
    ...violation,
    seed: outcomes.seed,
    trace: told(shorter.trace),
    replay: `everwarm simulate --seed ${outcomes.seed} --steps ${steps}`,
  };
}

const NONE: Violation = { name: 'none', message: 'the shortened run does not fail' };

/** One line an event; the reads of one look are one. */
function told(trace: readonly TraceLine[]): readonly string[] {
  const lines: string[] = [];
  let looking: string | undefined;
  for (const { turn, at, text } of trace) {
    const [, pass] = /^(\S+) (?:get|list) \S+$/.exec(text) ?? [];
    if (pass !== undefined && pass === looking) continue;
    looking = pass;
    const what = pass === undefined ? text : `${pass} looks`;
    lines.push(`${String(turn).padStart(4)} ${(at / 1_000).toFixed(3).padStart(9)} s  ${what}`);
  }
  return lines;
}

async function* play(name: string, options: SimulateOptions): AsyncGenerator<SimulateLine> {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) {
    const names = SCENARIOS.map((one) => one.name).join(', ');
    throw new TerminalError(`there is no scenario ${name}; there are ${names}`);
  }
  const { seed = 1, seeds = 1 } = options;
  let violations = 0;
  let steps = 0;
  const did: Record<string, number> = {};
  for (let at = seed; at < seed + seeds; at += 1) {
    const played = await scenario.play(at);
    steps += played.steps;
    for (const kind of doneIn(played.trace)) did[kind] = (did[kind] ?? 0) + 1;
    for (const violation of played.violations) {
      violations += 1;
      const replay = `everwarm simulate --scenario ${name} --seed ${at}`;
      yield { type: 'Violation', ...violation, seed: at, trace: played.trace, replay };
    }
  }
  const { title } = scenario;
  yield { type: 'Simulated', schedules: seeds, steps, violations, seed, scenario: name, title, did };
}

/** The kinds of the actions that were carried out. */
function doneIn(trace: readonly string[]): readonly string[] {
  return trace.flatMap((line) => {
    const event = JSON.parse(line) as { readonly type: string; readonly action?: { readonly kind: string } };
    return event.type === 'ActionDone' && event.action !== undefined ? [event.action.kind] : [];
  });
}
