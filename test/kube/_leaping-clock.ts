import type { Clock } from '../../src/clock.ts';
import { createVirtualClock, type VirtualClock } from '../../src/simulator/virtual-clock.ts';

/** A virtual clock on which whoever sleeps moves the hands: waiting takes no time, and is written down. */
export interface LeapingClock extends VirtualClock {
  readonly slept: readonly number[];
}

export const START = Date.parse('2026-01-01T00:00:00Z');

export function leapingClock(): LeapingClock {
  const clock = createVirtualClock(START);
  const slept: number[] = [];
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (signal?.aborted) return;
    slept.push(ms);
    await clock.advance(ms);
  };
  return { ...clock, sleep, slept };
}
