import type { Clock } from '../clock.ts';
import { AGE_MAX_SECONDS, AHEAD_MAX_SECONDS } from './signature.ts';

/**
 * The signatures that were let in lately, by this process. A replay elsewhere costs one look at the pool and nothing else;
 * this spares even that.
 */
export interface Replays {
  has(signature: string): boolean;
  add(signature: string): void;
}

/** A flood pushes the oldest out: forgetting one is harmless. */
const SIGNATURES_MAX = 10_000;
/** As long as the timestamp under a signature can still be in time; it counts in whole seconds. */
const REMEMBERED_MS = (AGE_MAX_SECONDS + AHEAD_MAX_SECONDS + 1) * 1_000;

/** Remembers nothing yet. */
export function createReplays(clock: Pick<Clock, 'now'>): Replays {
  const until = new Map<string, number>();
  return {
    has: (signature) => (until.get(signature) ?? 0) > clock.now(),
    add(signature) {
      const now = clock.now();
      // In the order they came: the first one that is still good ends the search.
      for (const [old, end] of until) {
        if (end > now && until.size < SIGNATURES_MAX) break;
        until.delete(old);
      }
      until.set(signature, now + REMEMBERED_MS);
    },
  };
}
