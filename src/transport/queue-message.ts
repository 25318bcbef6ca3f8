import * as z from 'zod/mini';
import { TerminalError } from '../errors.ts';
import { formatKey, type PoolKey, parseKey } from '../pool/key.ts';
import { ObjectSchema } from './notice.ts';
import type { Trigger } from './queue.ts';
import { parseStrictJson } from './strict-json.ts';

/** What waits in a queue outside of the process: a key, and why it waits. Never what to do. */
const QueueMessageSchema = z.strictObject({
  key: z.string().check(z.maxLength(1_024)),
  trigger: z.optional(
    z.strictObject({
      reason: z.enum(['changed', 'deleted', 'sync', 'manual', 'resync']),
      object: z.optional(ObjectSchema),
      observedAt: z.int().check(z.gte(0)),
    }),
  ),
  /** When the pass is due, in epoch seconds: for a message that waits for its time. */
  dueAt: z.optional(z.int().check(z.gte(0))),
});

export interface QueueMessage {
  readonly key: PoolKey;
  readonly trigger?: Trigger;
  readonly dueAt?: number;
}

/** The message as it travels. */
export function formatQueueMessage({ key, trigger, dueAt }: QueueMessage): string {
  const { once: _, ...rest } = trigger ?? { once: '' };
  return JSON.stringify({
    key: formatKey(key),
    ...(trigger === undefined ? {} : { trigger: rest }),
    ...(dueAt === undefined ? {} : { dueAt }),
  });
}

/** The message that `text` spells. Throws TerminalError with a one-line reason that repeats nothing of the text. */
export function parseQueueMessage(text: string): QueueMessage {
  const json = parseStrictJson(text);
  if ('problem' in json) throw new TerminalError(`no queue message: ${json.problem}`);
  const result = QueueMessageSchema.safeParse(json.value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const where = issue?.path.join('.') || 'it';
    throw new TerminalError(`no queue message: ${where} is wrong (${issue?.code ?? 'unknown'})`);
  }
  const key = parseKey(result.data.key);
  if (key === undefined) throw new TerminalError('no queue message: key is no pool key');
  const { trigger, dueAt } = result.data;
  return {
    key,
    ...(trigger === undefined ? {} : { trigger: trigger as Trigger }),
    ...(dueAt === undefined ? {} : { dueAt }),
  };
}
