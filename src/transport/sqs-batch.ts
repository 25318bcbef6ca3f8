import { TerminalError } from '../errors.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Consumer, Queue, Trigger } from './queue.ts';
import { parseQueueMessage, type QueueMessage } from './queue-message.ts';
import { onceAt } from './sqs-queue.ts';

/** A message as a queue delivers it. */
export interface QueueRecord {
  readonly messageId: string;
  readonly body: string;
}

export interface BatchDeps {
  readonly queue: Queue;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** All messages of one key in a batch. */
interface Pass {
  readonly key: PoolKey;
  readonly triggers: Trigger[];
  readonly ids: string[];
}

/**
 * Gives each key of a batch one pass, keys side by side, and answers the ids of the messages that must come again: all of a
 * key whose pass failed, and those that nobody can read, which end in the dead-letter queue. Never rejects.
 */
export async function consumeBatch(
  records: readonly QueueRecord[],
  consume: Consumer,
  deps: BatchDeps,
): Promise<readonly string[]> {
  const { messages, poisoned } = readAll(records, deps);
  const passes = new Map<string, Pass>();
  for (const { id, message } of messages) {
    const name = formatKey(message.key);
    const pass = passes.get(name) ?? { key: message.key, triggers: [], ids: [] };
    passes.set(name, pass);
    pass.ids.push(id);
    if (message.trigger !== undefined) pass.triggers.push(message.trigger);
  }
  const failed = await Promise.all([...passes.values()].map((pass) => passOver(pass, consume, deps)));
  return [...poisoned, ...failed.flat()];
}

/** Moves messages whose time has come to the queue. Answers the ids of those that must come again. Never rejects. */
export async function feed(records: readonly QueueRecord[], deps: BatchDeps): Promise<readonly string[]> {
  const { messages, poisoned } = readAll(records, deps);
  const failed = await Promise.all(
    messages.map(async ({ id, message: { key, dueAt = 0 } }) => {
      try {
        await deps.queue.add(key, { reason: 'resync', observedAt: dueAt * 1_000, once: onceAt(dueAt) });
        return [];
      } catch (error) {
        deps.log.error('later.not-fed', { pool: formatKey(key), cause: causeOf(error) });
        return [id];
      }
    }),
  );
  return [...poisoned, ...failed.flat()];
}

async function passOver({ key, triggers, ids }: Pass, consume: Consumer, deps: BatchDeps): Promise<string[]> {
  const { log, metrics, queue } = deps;
  const pool = formatKey(key);
  try {
    const { requeueAfterMs } = await consume(key, triggers);
    if (requeueAfterMs !== undefined) await queue.addAfter(key, requeueAfterMs);
    metrics.add('PassesDone', 1);
    return [];
  } catch (error) {
    metrics.add('PassesFailed', 1);
    const isTerminal = error instanceof TerminalError;
    log.error(isTerminal ? 'pass.gave-up' : 'pass.failed', { pool, cause: causeOf(error) });
    return isTerminal ? [] : ids;
  }
}

interface Read {
  readonly messages: readonly { readonly id: string; readonly message: QueueMessage }[];
  readonly poisoned: readonly string[];
}

function readAll(records: readonly QueueRecord[], { log, metrics }: BatchDeps): Read {
  const messages: { id: string; message: QueueMessage }[] = [];
  const poisoned: string[] = [];
  for (const { messageId: id, body } of records) {
    try {
      messages.push({ id, message: parseQueueMessage(body) });
    } catch (error) {
      metrics.add('MessagesPoisoned', 1);
      log.error('queue.poisoned', { message: id, cause: causeOf(error) });
      poisoned.push(id);
    }
  }
  return { messages, poisoned };
}

function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
