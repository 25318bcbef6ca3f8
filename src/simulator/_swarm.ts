import type { Random } from '../clock.ts';

/** How a random run goes: drawn once a seed, so that different seeds try different weathers. */
export interface Swarm {
  readonly slots: number;
  readonly keycloak: boolean;
  /** In a WarmPool that a person made before; `undefined`: nobody did. */
  readonly maxUnavailable: number | string | undefined;
  /** The operator's stand-in runs at the start, and rolls releases out itself. */
  readonly operatorRuns: boolean;
  readonly rollsOut: boolean;
  readonly twoPools: boolean;
  /** The pool stands when Everwarm first sees it. */
  readonly adopted: boolean;
  /** Relative weights of the kinds of step. */
  readonly steps: Readonly<Record<StepKind, number>>;
  /** Chance of each fault at one request. */
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** The events that happen in this run, with their weights. */
  readonly events: Readonly<Record<string, number>>;
  /** Quotas and full nodes stay as they are in the end. */
  readonly keepsLimits: boolean;
  readonly readyAfterMs: number;
  readonly gcLagMs: number;
  /** How many times slower than measured the operator is; five times is still within Everwarm's grace period. */
  readonly slowness: number;
}

export type StepKind = 'begin' | 'work' | 'time' | 'event' | 'freeze' | 'thaw';
/**
 * `killBefore`, `killAfter`: the process ends before or after the server carried the request out. `lostAnswer`,
 * `lostRequest`: the caller learns nothing, and it happened or did not. `late`: the caller learns nothing, and it happens
 * later. `throttled`: refused for now.
 */
export type FaultKind = 'killBefore' | 'killAfter' | 'lostAnswer' | 'lostRequest' | 'late' | 'throttled';

const FAULTS: readonly FaultKind[] = [
  'killBefore',
  'killAfter',
  'lostAnswer',
  'lostRequest',
  'late',
  'throttled',
];

/** One in so many requests meets with a fault of one kind, where that kind is on. */
const FAULT_RATES = [0, 0, 0.005, 0.02, 0.06] as const;
/** What a pool is there for, and what Everwarm is there for. */
const OFTEN: ReadonlyMap<string, number> = new Map([
  ['claim', 8],
  ['release', 4],
  ['ship', 4],
  ['scale', 2],
  ['operator', 2],
  ['deletePart', 2],
]);
const EVENT_RATES = [0, 0, 1, 1, 3] as const;

export function drawSwarm(random: Random, eventNames: readonly string[], fixed: Partial<Swarm> = {}): Swarm {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const faultless = random() < 0.15;
  return {
    slots: pick([1, 2, 2, 3, 3, 4]),
    keycloak: random() < 0.6,
    maxUnavailable: pick([undefined, undefined, 1, '50%', 2]),
    operatorRuns: random() < 0.6,
    rollsOut: random() < 0.3,
    twoPools: random() < 0.1,
    adopted: random() < 0.7,
    steps: {
      begin: pick([2, 4]),
      work: 12,
      time: pick([2, 4, 8]),
      event: pick([1, 2, 4]),
      freeze: pick([0, 0.2, 0.8]),
      thaw: pick([0.1, 0.4]),
    },
    faults: Object.fromEntries(
      FAULTS.map((fault) => [fault, faultless ? 0 : pick(FAULT_RATES)]),
    ) as Swarm['faults'],
    events: Object.fromEntries(eventNames.map((name) => [name, pick(EVENT_RATES) * (OFTEN.get(name) ?? 1)])),
    keepsLimits: random() < 0.3,
    readyAfterMs: pick([50, 500, 2_000, 8_000]),
    gcLagMs: pick([1, 20, 1_500]),
    slowness: pick([1, 2, 5]),
    ...fixed,
  };
}

/** A key by its weight; `undefined` when all weigh nothing. */
export function weighted<K extends string>(
  weights: Readonly<Record<K, number>>,
  random: Random,
): K | undefined {
  const entries = Object.entries(weights) as [K, number][];
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [key, weight] of entries) {
    left -= weight;
    if (weight > 0 && left < 0) return key;
  }
  return undefined;
}
