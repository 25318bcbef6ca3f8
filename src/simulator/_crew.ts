import { availableParallelism } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type Outcomes, runSchedule } from './schedule.ts';

/** Marks the threads that this file starts from itself. */
const CREW = 'everwarm schedules';
/** Below so many seeds starting threads takes longer than running them. */
const SEEDS_MIN = 40;

/** Runs one schedule for each seed from `first` on, on all cores, and yields what came of them in the order of the seeds. */
export async function* runAll(first: number, seeds: number, steps: number): AsyncGenerator<Outcomes> {
  const threads = seeds < SEEDS_MIN ? 1 : Math.min(availableParallelism(), seeds);
  if (threads === 1) {
    for (let seed = first; seed < first + seeds; seed += 1) yield await runSchedule({ seed, steps });
    return;
  }
  const results = Array.from({ length: seeds }, () => Promise.withResolvers<Outcomes>());
  let next = 0;
  const crew = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: CREW });
    let at = 0;
    const takeOne = (): void => {
      at = next;
      next += 1;
      if (at < seeds) worker.postMessage([first + at, steps]);
    };
    worker.on('message', (outcomes: Outcomes) => {
      results[at]?.resolve(outcomes);
      takeOne();
    });
    worker.on('error', (error) => results[at]?.reject(error));
    takeOne();
    return worker;
  });
  // Whoever stops asking early must not fall over an answer that nobody waits for.
  for (const { promise } of results) promise.catch(() => undefined);
  try {
    for (const { promise } of results) yield await promise;
  } finally {
    for (const worker of crew) void worker.terminate();
  }
}

if (workerData === CREW) {
  parentPort?.on('message', ([seed, steps]: readonly [number, number]) => {
    void runSchedule({ seed, steps }).then((outcomes) => parentPort?.postMessage(outcomes));
  });
}
