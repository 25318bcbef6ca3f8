import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts';
import type { FunctionConfig } from '../../config.ts';
import { createLog, type Log } from '../../telemetry/log.ts';
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts';

/** What every function has at hand. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The machine's own clock and chance, and lines that CloudWatch reads. */
export function createRuntime({ stage }: Pick<FunctionConfig, 'stage'>): Runtime {
  const clock = systemClock;
  return {
    clock,
    random: systemRandom,
    log: createLog({ clock, format: 'json' }),
    metrics: createMetrics({ clock, namespace: `Everwarm/${stage}` }),
  };
}
