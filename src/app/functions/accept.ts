import type { Metrics } from '../../telemetry/metrics.ts';
import type { Incoming } from '../../transport/bus-event.ts';
import type { Serves } from '../../transport/message.ts';
import { type Queue, triggerOf } from '../../transport/queue.ts';
import type { ClusterConfig } from './clusters-file.ts';
import type { Runtime } from './runtime.ts';

/** Which pools the configured clusters have room for. */
export function servedBy(clusters: readonly ClusterConfig[]): Serves {
  return ({ cluster, platform, namespace }) =>
    clusters.some(
      ({ id, platforms }) => id === cluster && platforms[platform]?.namespaces.includes(namespace),
    );
}

/** Enqueues what came in by a door, and counts it. A sign of life is only counted. */
export async function accept(incoming: Incoming, queue: Queue, { clock, metrics }: Runtime): Promise<void> {
  switch (incoming.kind) {
    case 'notice':
      await queue.add(incoming.key, triggerOf(incoming.notice));
      metrics.add('NoticesAccepted', 1, { cluster: incoming.cluster });
      return;
    case 'request': {
      const once = `request ${incoming.id}`;
      await queue.add(incoming.key, { reason: 'manual', observedAt: clock.now(), once });
      return;
    }
    case 'heartbeat':
      countHeartbeat(metrics, incoming.cluster, incoming.heartbeat.data.sent);
  }
}

/** What was sent is set against what was accepted: the difference got lost on the way. */
function countHeartbeat(metrics: Metrics, cluster: string, sent: number): void {
  metrics.add('Heartbeats', 1, { cluster });
  metrics.add('NoticesSent', sent, { cluster });
}
