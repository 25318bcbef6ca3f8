import type { FunctionConfig } from '../../config.ts';
import { TerminalError } from '../../errors.ts';
import type { PoolKey } from '../../pool/key.ts';
import { parseQueueMessage } from '../../transport/queue-message.ts';
import { consumeBatch, type QueueRecord } from '../../transport/sqs-batch.ts';
import { openBus, openRegistry } from './clients.ts';
import { createPasses } from './passes.ts';
import type { Runtime } from './runtime.ts';
import { openSqsQueue } from './sqs.ts';

/**
 * Gives each key of a batch one pass, keys side by side, and answers the ids of the messages that must come again. Throws
 * TerminalError when the clusters' file cannot be used.
 */
export function createReconciler(
  config: Omit<FunctionConfig, 'stage'>,
  runtime: Runtime,
): (records: readonly QueueRecord[], remainingMs: () => number) => Promise<readonly string[]> {
  const registry = openRegistry(config, runtime);
  const queue = openSqsQueue(config, runtime);
  const bus = openBus(config, runtime);
  return async (records, remainingMs) => {
    const pass = createPasses({ registry, bus, runtime, keys: keysIn(records), remainingMs });
    return await consumeBatch(records, pass, { queue, ...runtime });
  };
}

/** The keys that can be read, each once. */
function keysIn(records: readonly QueueRecord[]): readonly PoolKey[] {
  const keys = new Map<string, PoolKey>();
  for (const { body } of records) {
    try {
      const { key } = parseQueueMessage(body);
      keys.set(Object.values(key).join('/'), key);
    } catch (error) {
      // Told of where it is handed back to the queue.
      if (!(error instanceof TerminalError)) throw error;
    }
  }
  return [...keys.values()];
}
