import { type Random, seededRandom } from '../../src/clock.ts';
import type { Change, Delivery } from '../../src/simulator/driver.ts';

/** When somebody puts what lies in the dead-letter queue back on its way. */
export const REDRIVE_MS = 3_600_000;
/** A copy that was held up comes after so much at most: later than many notices that were sent after it. */
const DELAY_MAX_MS = 30_000;

/** What became of the notices of one run. */
export interface Journeys {
  readonly deliver: Delivery;
  readonly counts: {
    readonly sent: number;
    readonly lost: number;
    readonly doubled: number;
    readonly late: number;
    readonly redriven: number;
  };
}

/** How likely each fate is. They are told apart by the first number of a journey: lost, redriven, doubled, late, in that order. */
interface Odds {
  readonly lost: number;
  readonly redriven: number;
  readonly doubled: number;
  readonly late: number;
}

/**
 * A way that loses, doubles, reorders and holds back, and lets some arrive only after an hour in the dead-letter queue; which ones,
 * and how many of each, follows from the seed.
 */
export function journeys(seed: number): Journeys {
  const random = seededRandom(seed);
  const odds = oddsOf(random);
  const counts = { sent: 0, lost: 0, doubled: 0, late: 0, redriven: 0 };
  const soon = (change: Change): Change => ({ ...change, afterMs: Math.floor(random() * DELAY_MAX_MS) });
  const deliver: Delivery = (change) => {
    counts.sent += 1;
    let draw = random();
    const is = (likely: number): boolean => {
      draw -= likely;
      return draw < 0;
    };
    if (is(odds.lost)) {
      counts.lost += 1;
      return [];
    }
    if (is(odds.redriven)) {
      counts.redriven += 1;
      return [{ ...change, afterMs: REDRIVE_MS + Math.floor(random() * 1_000) }];
    }
    if (is(odds.doubled)) {
      counts.doubled += 1;
      // One copy at once, one out of its order, and now and then one that is found in the dead-letter queue as well.
      const again = random() < 0.2 ? [{ ...change, afterMs: REDRIVE_MS }] : [];
      return [change, soon(change), ...again];
    }
    if (is(odds.late)) {
      counts.late += 1;
      return [soon(change)];
    }
    return [change];
  };
  return { deliver, counts };
}

/** Most runs have a bit of everything; some lose nearly all, or double it, or get all of it after an hour. */
function oddsOf(random: Random): Odds {
  const nothing: Odds = { lost: 0, redriven: 0, doubled: 0, late: 0 };
  const kinds = ['lost', 'redriven', 'doubled', 'late'] as const;
  const only = kinds[Math.floor(random() * 8)];
  if (only !== undefined) return { ...nothing, [only]: 0.5 + random() / 2 };
  const [lost, redriven, doubled, late] = [random(), random(), random(), random()];
  const sum = lost + redriven + doubled + late + random();
  return { lost: lost / sum, redriven: redriven / sum, doubled: doubled / sum, late: late / sum };
}
