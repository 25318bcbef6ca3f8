import type { Clock } from '../../src/clock.ts';
import { nextDue } from '../../src/embedded/runner.ts';
import type { Actor } from '../../src/embedded/types.ts';
import type { Api } from './_api.ts';

/** Lets time pass for the actors of a cluster, doing what is due in its order. */
export function runFor(api: Api, actors: readonly Actor[], ms: number): void {
  const end = api.now() + ms;
  for (;;) {
    const actor = nextDue(actors);
    const due = actor?.dueAt();
    if (actor === undefined || due === undefined || due > end) break;
    api.pass(Math.max(0, due - api.now()));
    actor.run();
  }
  api.pass(Math.max(0, end - api.now()));
}

/** A clock that stands still until a test moves it. */
export interface HandClock extends Clock {
  pass(ms: number): void;
}

export function handClock(start: number): HandClock {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let time = start;
  const after = (ms: number, run: () => void) => {
    const timer = { at: time + ms, run };
    timers.add(timer);
    return () => {
      timers.delete(timer);
    };
  };
  return {
    now: () => time,
    after,
    sleep: (ms) => new Promise((resolve) => after(ms, resolve)),
    pass: (ms) => {
      const end = time + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        time = next.at;
        next.run();
      }
      time = end;
    },
  };
}
