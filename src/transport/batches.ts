import type { Clock, Random } from '../clock.ts';

/** Why a service did not take an entry: its own short code. */
class RefusedEntryError extends Error {
  override readonly name = 'RefusedEntryError';
}

export interface BatchOptions<T> {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Sends at most `BATCH_MAX` entries. Resolves with the code of each that was not taken, in their order, `undefined` for one
   * that was; a rejection stands for all of them.
   */
  readonly send: (entries: readonly T[]) => Promise<readonly (string | undefined)[]>;
}

/** What SQS and EventBridge take in one call. */
const BATCH_MAX = 10;
const TRIES_MAX = 4;
const BACK_OFF_FIRST_MS = 200;

interface Waiting<T> {
  readonly entry: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends what is added in the same turn of the event loop together. An entry that the service failed is sent again, alone or
 * with the others that it failed; one that was taken never is. The returned function resolves when its entry was taken.
 */
export function createBatches<T>(options: BatchOptions<T>): (entry: T) => Promise<void> {
  let waiting: Waiting<T>[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += BATCH_MAX) void deliver(options, all.slice(at, at + BATCH_MAX));
  };
  return (entry) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(flush);
      waiting.push({ entry, resolve, reject });
    });
}

/** Never rejects: what became of each entry is told to whoever added it. */
async function deliver<T>(options: BatchOptions<T>, batch: readonly Waiting<T>[]): Promise<void> {
  const { clock, random, send } = options;
  let left = batch;
  for (let tries = 1; left.length > 0; tries += 1) {
    const failed: Waiting<T>[] = [];
    const isLast = tries === TRIES_MAX;
    const errors = await send(left.map(({ entry }) => entry)).then(
      (codes) => codes.map((code) => (code === undefined ? undefined : new RefusedEntryError(code))),
      (error: unknown) => left.map(() => (error instanceof Error ? error : new RefusedEntryError('unknown'))),
    );
    for (const [at, one] of left.entries()) {
      const error = errors[at];
      if (error === undefined) one.resolve();
      else if (isLast) one.reject(error);
      else failed.push(one);
    }
    left = failed;
    if (left.length > 0) await clock.sleep(BACK_OFF_FIRST_MS * 2 ** (tries - 1) * (0.5 + random() / 2));
  }
}
