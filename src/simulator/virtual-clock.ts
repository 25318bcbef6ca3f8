import type { Clock } from '../clock.ts';

/** A clock whose time stands still until it is told to move. Programs that sleep on it wake in the order of their due times. */
export interface VirtualClock extends Clock {
  /** When the next timer is due; `undefined` while nobody waits. */
  nextAt(): number | undefined;
  /** Lets every program run until all of them wait for a timer (or for something outside). Time does not move. */
  settle(): Promise<void>;
  /** Settles, moves to the next timer if it is due by `limit`, runs it and settles; tells whether there was one. */
  step(limit: number): Promise<boolean>;
  /** Moves to `at`, timer by timer, settling before and after each. */
  runUntil(at: number): Promise<void>;
  /** `runUntil(now() + ms)`. */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that starts at `startMs` and moves only when asked to, by whole milliseconds. Timers of one instant run in the order they were set. */
export function createVirtualClock(startMs: number): VirtualClock {
  const timers = new Set<Timer>();
  let time = startMs;
  let order = 0;

  const next = (): Timer | undefined => {
    let earliest: Timer | undefined;
    for (const timer of timers) if (earliest === undefined || isBefore(timer, earliest)) earliest = timer;
    return earliest;
  };
  const after = (ms: number, run: () => void): (() => void) => {
    order += 1;
    const timer: Timer = { at: time + Math.max(0, Math.ceil(ms)), order, run };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const step = async (limit: number): Promise<boolean> => {
    await settle();
    const timer = next();
    if (timer === undefined || timer.at > limit) return false;
    timers.delete(timer);
    time = Math.max(time, timer.at);
    timer.run();
    await settle();
    return true;
  };
  const runUntil = async (at: number): Promise<void> => {
    while (await step(at));
    time = Math.max(time, at);
  };

  return {
    now: () => time,
    after,
    sleep: (ms, signal) => sleep(after, ms, signal),
    nextAt: () => next()?.at,
    settle,
    step,
    runUntil,
    advance: (ms) => runUntil(time + ms),
  };
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function sleep(after: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = after(ms, wake);
    signal?.addEventListener('abort', wake);
  });
}

/** A macrotask runs only after every promise that can go on has gone on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
