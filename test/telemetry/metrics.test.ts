import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

describe('a number for graphs and alarms', () => {
  it('is one line that CloudWatch reads as a metric, summed up and by its labels', () => {
    const lines: string[] = [];
    const metrics = createMetrics({
      clock: createVirtualClock(1_000),
      namespace: 'Everwarm/dev',
      write: (line) => lines.push(line),
    });
    metrics.add('NoticesRefused', 2, { reason: 'size' });
    metrics.add('StaleSeconds', 9);
    expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        _aws: {
          Timestamp: 1_000,
          CloudWatchMetrics: [
            {
              Namespace: 'Everwarm/dev',
              Dimensions: [[], ['reason']],
              Metrics: [{ Name: 'NoticesRefused', Unit: 'Count' }],
            },
          ],
        },
        reason: 'size',
        NoticesRefused: 2,
      },
      {
        _aws: {
          Timestamp: 1_000,
          CloudWatchMetrics: [
            {
              Namespace: 'Everwarm/dev',
              Dimensions: [[]],
              Metrics: [{ Name: 'StaleSeconds', Unit: 'Seconds' }],
            },
          ],
        },
        StaleSeconds: 9,
      },
    ]);
  });
});
