import type { FunctionConfig } from '../../config.ts';
import { TerminalError } from '../../errors.ts';
import { type Incoming, readBusEvent } from '../../transport/bus-event.ts';
import { accept, servedBy } from './accept.ts';
import { readClustersFile } from './clusters-file.ts';
import type { Runtime } from './runtime.ts';
import { openSqsQueue } from './sqs.ts';

/**
 * Takes in what was put on the bus by somebody whom IAM lets. An event that is none of ours is logged, counted and done with:
 * it would not be better at the next try. Rejects when the queue does not take it.
 */
export function createIngest(
  { clustersFile, queueUrl }: Pick<FunctionConfig, 'clustersFile' | 'queueUrl'>,
  runtime: Runtime,
): (event: unknown) => Promise<void> {
  const serves = servedBy(readClustersFile(clustersFile));
  const queue = openSqsQueue({ queueUrl }, runtime);
  return async (event) => {
    let incoming: Incoming;
    try {
      incoming = readBusEvent(event);
      if (incoming.kind !== 'heartbeat' && !serves(incoming.key))
        throw new TerminalError('its cluster, platform or namespace is not served');
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      runtime.metrics.add('NoticesRefused', 1, { reason: 'content' });
      runtime.log.warn('ingest.refused', { reason: error.message });
      return;
    }
    await accept(incoming, queue, runtime);
  };
}
