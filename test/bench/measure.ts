import { Bench } from 'tinybench';

/** One figure worth watching, with the goal it is held against. */
export interface Measure {
  /** Stable, `area.what`, as it appears in reports: `embedded.creates`. */
  readonly name: string;
  readonly unit: 'ms' | '1/s' | 'MB' | 'requests' | 'writes' | 'times';
  readonly goal: Goal;
  /** Takes the measurement, its own preparation and clean-up included. */
  readonly run: () => number | Promise<number>;
}

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export function meets(value: number, goal: Goal): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** The median time of one call in ms: a busy machine moves the mean, hardly the median. */
export async function medianMs(call: () => unknown): Promise<number> {
  const bench = new Bench({ time: 500, warmupTime: 100, iterations: 8 });
  bench.add('call', async () => {
    await call();
  });
  const [task] = await bench.run();
  if (task?.result.state !== 'completed') throw new Error('the call failed', { cause: task?.result });
  return task.result.latency.p50;
}

/** Calls a second over `calls` synchronous calls, the best of three rounds: other programs only ever take away. */
export function perSecond(calls: number, round: () => (index: number) => unknown): number {
  const rates = [1, 2, 3].map(() => {
    const call = round();
    const startedAt = performance.now();
    for (let index = 0; index < calls; index++) call(index);
    return (calls * 1000) / (performance.now() - startedAt);
  });
  return Math.max(...rates);
}
