import type { Clock } from '../clock.ts';

/** Everything that is counted. Closed: a dashboard and an alarm name each of them. */
export type MetricName =
  | 'NoticesAccepted'
  | 'NoticesRefused'
  | 'NoticesSent'
  | 'Heartbeats'
  | 'MessagesPoisoned'
  | 'PassesDone'
  | 'PassesFailed'
  | 'OutcomesSent'
  | 'OutcomesLost'
  | 'Resyncs'
  | 'ResyncsFailed'
  | 'PoolsSeen'
  | 'PoolsDue'
  | 'StaleSeconds';

type Labels = Readonly<Record<string, string>>;

/** Numbers for graphs and alarms. Labels come from closed sets: a cluster's id, a reason; never from a request. */
export interface Metrics {
  add(name: MetricName, value: number, labels?: Labels): void;
}

export interface MetricsOptions {
  readonly clock: Clock;
  /** What tells these numbers from those of another installation. */
  readonly namespace: string;
  /** Where a finished line (newline included) goes; stdout unless said otherwise. */
  readonly write?: (line: string) => void;
}

/** Writes each number as one line in CloudWatch's embedded metric format: no call, no agent, no permission. */
export function createMetrics({ clock, namespace, write = toStdout }: MetricsOptions): Metrics {
  return {
    add(name, value, labels = {}) {
      const line = {
        _aws: {
          Timestamp: clock.now(),
          CloudWatchMetrics: [
            {
              Namespace: namespace,
              // With and without the labels: an alarm watches the sum, a graph shows the parts.
              Dimensions: [[], ...(Object.keys(labels).length === 0 ? [] : [Object.keys(labels)])],
              Metrics: [{ Name: name, Unit: name === 'StaleSeconds' ? 'Seconds' : 'Count' }],
            },
          ],
        },
        ...labels,
        [name]: value,
      };
      write(`${JSON.stringify(line)}\n`);
    },
  };
}

/** Counts nothing: one process has its log and its status. */
export const NO_METRICS: Metrics = { add: () => {} };

function toStdout(line: string): void {
  process.stdout.write(line);
}
