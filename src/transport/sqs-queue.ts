import { createHash } from 'node:crypto';
import {
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Clock, Random } from '../clock.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';
import { createBatches } from './batches.ts';
import type { Queue } from './queue.ts';
import { formatQueueMessage } from './queue-message.ts';

export interface SqsQueueOptions {
  readonly sqs: Pick<SQSClient, 'send'>;
  /** A FIFO queue: one group a key, so that a key has one pass at a time and keys go side by side. */
  readonly queueUrl: string;
  /** A standard queue, whose messages `feed` moves to the other one when their time has come. */
  readonly laterUrl?: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** SQS's own limit. A pass that comes too early asks again: the rest of the time costs one look. */
const DELAY_MAX_SECONDS = 900;
const GROUP = /^[\w./-]{1,128}$/;

type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** A queue in SQS. Adds of the same turn travel together; one that SQS does not take, after a few tries, rejects alone. */
export function createSqsQueue(options: SqsQueueOptions): Queue {
  const { clock, random, laterUrl } = options;
  const now = createBatches<Entry>({
    clock,
    random,
    send: (entries) => send(options, options.queueUrl, entries),
  });
  const later = createBatches<Entry>({
    clock,
    random,
    send: (entries) => send(options, laterUrl ?? '', entries),
  });
  return {
    add: (key, trigger) =>
      now({
        MessageBody: formatQueueMessage({ key, ...(trigger === undefined ? {} : { trigger }) }),
        MessageGroupId: groupOf(key),
        MessageDeduplicationId: digest(formatKey(key), trigger?.once ?? `${clock.now()} ${random()}`),
      }),
    async addAfter(key, delayMs) {
      if (laterUrl === undefined) throw new Error('this function has no queue for later');
      const dueAt = Math.ceil((clock.now() + Math.max(1_000, delayMs)) / 1_000);
      const delay = Math.min(DELAY_MAX_SECONDS, Math.ceil(dueAt - clock.now() / 1_000));
      await later({ MessageBody: formatQueueMessage({ key, dueAt }), DelaySeconds: delay });
    },
  };
}

/** What a message of the later queue is added with, so that many that are due at one time lead to one pass. */
export function onceAt(dueAt: number): string {
  return `due ${dueAt}`;
}

/** The key itself where SQS takes it for a group's name. */
export function groupOf(key: PoolKey): string {
  const text = formatKey(key);
  return GROUP.test(text) ? text : digest(text);
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

async function send(
  { sqs }: SqsQueueOptions,
  url: string,
  entries: readonly Entry[],
): Promise<readonly (string | undefined)[]> {
  const { Failed = [] } = await sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: entries.map((entry, at) => ({ ...entry, Id: String(at) })),
    }),
  );
  const codes = new Map(Failed.map(({ Id, Code }) => [Id, Code ?? 'unknown']));
  return entries.map((_, at) => codes.get(String(at)));
}
