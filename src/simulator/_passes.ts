import type { Clock, Random } from '../clock.ts';
import type { OutcomeEvent } from '../controller/outcome.ts';
import { type Result, reconcile } from '../controller/reconcile.ts';
import { directApi } from '../embedded/direct.ts';
import type { EmbeddedStore } from '../embedded/store.ts';
import type { Platform } from '../platform/platform.ts';
import { UnreadableError } from '../platform/reading.ts';
import { type Call, withCalls } from './_calls.ts';
import { NAMESPACE } from './cluster.ts';
import { keyOf } from './driver.ts';
import type { Watcher } from './watcher.ts';

/** One pass of a worker, held at its requests. */
export interface RunningPass {
  readonly name: string;
  readonly pool: string;
  /** The request that is let go on next, out of all that wait for it; `undefined` while it sleeps or is over. */
  readonly pending: Call | undefined;
  readonly isOver: boolean;
  /** Set when it is over and was not killed. */
  readonly result: Result | undefined;
  /** Takes the pending request away, to be carried out or answered by the caller. */
  take(): Call | undefined;
  /** The process ends here and now: nothing of it goes on, and no answer reaches it. */
  kill(): void;
}

export interface PassDeps {
  readonly store: EmbeddedStore;
  readonly watcher: Watcher;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly random: Random;
  readonly report: (event: OutcomeEvent) => void;
  /** A pass ended by an error that is no answer of the cluster. */
  readonly onBug: (error: unknown) => void;
}

/** Starts `reconcile` for `pool` as one more worker would. `deadlineMs`: how long its process may live. */
export function beginPass(deps: PassDeps, pool: string, name: string, deadlineMs?: number): RunningPass {
  const { store, watcher, platform, clock, random, report } = deps;
  /** Requests that are sent side by side are carried out in any order. */
  let waiting: Call[] = [];
  let dead = false;
  let over = false;
  let result: Result | undefined;
  const judged = watcher.beginPass(pool);
  const direct = judged.judge(directApi(store, { user: judged.user, now: clock.now }));
  const api = withCalls(direct, (call) => {
    waiting.splice(Math.floor(random() * (waiting.length + 1)), 0, call);
  });
  // A sleeper whose process is gone never wakes.
  const own: Clock = {
    now: clock.now,
    after: clock.after,
    sleep: (ms) =>
      new Promise((resolve) => {
        clock.after(ms, () => {
          if (!dead) resolve();
        });
      }),
  };
  const endsAt = clock.now() + (deadlineMs ?? 0);
  const remaining = deadlineMs === undefined ? {} : { remainingMs: () => endsAt - clock.now() };
  reconcile({ api, platform, clock: own, random, report, ...remaining }, keyOf(NAMESPACE, pool))
    .then((value) => {
      result = value;
    })
    .catch((error: unknown) => {
      if (!(error instanceof UnreadableError)) deps.onBug(error);
      result = { requeueAfterMs: 1_000 };
    })
    .finally(() => {
      over = true;
    });
  return {
    name,
    pool,
    get pending() {
      return waiting[0];
    },
    get isOver() {
      return over || dead;
    },
    get result() {
      return result;
    },
    take: () => waiting.shift(),
    kill: () => {
      dead = true;
      waiting = [];
    },
  };
}
