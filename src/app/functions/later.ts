import type { FunctionConfig } from '../../config.ts';
import { feed, type QueueRecord } from '../../transport/sqs-batch.ts';
import type { Runtime } from './runtime.ts';
import { openSqsQueue } from './sqs.ts';

/** Moves keys whose time has come to the queue of those that wait for their pass. Answers the messages that must come again. */
export function createLater(
  config: Pick<FunctionConfig, 'queueUrl'>,
  runtime: Runtime,
): (records: readonly QueueRecord[]) => Promise<readonly string[]> {
  const queue = openSqsQueue(config, runtime);
  return (records) => feed(records, { queue, ...runtime });
}
