import { type Outcomes, runSchedule, type ScheduleOptions } from './schedule.ts';

/** Runs that may be spent on making one trace shorter. */
const RUNS_MAX = 150;

/**
 * The same violation with fewer turns: everything after it goes, then halves, quarters… of what is left, as long as the
 * violation of that name stays. Each turn has its own chance, so leaving one out leaves the others much as they were.
 */
export async function shrink(failed: Outcomes, options: Omit<ScheduleOptions, 'seed'>): Promise<Outcomes> {
  const name = failed.violations[0]?.name;
  const { seed, turns: end } = failed;
  const run = (kept: readonly number[], traced: boolean) =>
    runSchedule({ ...options, seed, turns: end, skip: without(end, kept), traced });
  let left = Array.from({ length: end }, (_, at) => at);
  let runs = 0;
  const fails = async (kept: readonly number[]): Promise<boolean> => {
    runs += 1;
    return (await run(kept, false)).violations[0]?.name === name;
  };
  for (let size = Math.ceil(left.length / 2); size >= 1 && runs < RUNS_MAX; size = Math.floor(size / 2)) {
    for (let at = 0; at < left.length && runs < RUNS_MAX; ) {
      const kept = [...left.slice(0, at), ...left.slice(at + size)];
      if (await fails(kept)) left = kept;
      else at += size;
    }
  }
  return run(left, true);
}

function without(end: number, kept: readonly number[]): ReadonlySet<number> {
  const keeps = new Set(kept);
  return new Set(Array.from({ length: end }, (_, at) => at).filter((at) => !keeps.has(at)));
}
