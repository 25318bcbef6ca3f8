import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { systemClock } from '../../src/clock.ts';
import type { QueueRecord } from '../../src/transport/sqs-batch.ts';

/** Credentials that open nothing. */
export const AWS = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example' },
};

export function sqsAt(endpoint: string): SQSClient {
  return new SQSClient({ ...AWS, endpoint });
}

/** Where SQS may be away for a moment: how long until it is asked again. */
const AGAIN_MS = 200;
/** And what failed comes again after this long. */
const AGAIN_SECONDS = 2;

/**
 * What Lambda's event source mapping does: hands over batches, deletes what did not fail, lets the rest come again. With
 * `outages` it outlives SQS and the handler's process: a batch that got no answer comes again as a whole, and nothing at once.
 */
export function startMapping(
  sqs: SQSClient,
  queueUrl: string,
  handle: (records: readonly QueueRecord[]) => Promise<readonly string[]>,
  { outages = false }: { readonly outages?: boolean } = {},
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const batches = new Set<Promise<void>>();

  async function handleBatch(messages: readonly Message[]): Promise<void> {
    const records = messages.map(({ MessageId = '', Body = '' }) => ({ messageId: MessageId, body: Body }));
    const all = records.map(({ messageId }) => messageId);
    const failed = await handle(records).catch((error: unknown) => {
      if (outages) return all;
      throw error;
    });
    for (const { MessageId = '', ReceiptHandle } of messages) {
      const place = { QueueUrl: queueUrl, ReceiptHandle };
      if (failed.includes(MessageId)) {
        const VisibilityTimeout = outages ? AGAIN_SECONDS : 0;
        await sqs.send(new ChangeMessageVisibilityCommand({ ...place, VisibilityTimeout }));
      } else await sqs.send(new DeleteMessageCommand(place));
    }
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      const messages = await receive();
      if (messages.length === 0) continue;
      const batch = handleBatch(messages).catch((error: unknown) => {
        // What could not be deleted comes again when its time is over.
        if (!outages) throw error;
      });
      batches.add(batch);
      void batch.finally(() => batches.delete(batch));
    }
  }

  async function receive(): Promise<readonly Message[]> {
    try {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
        { abortSignal: stopping.signal },
      );
      return Messages;
    } catch (error) {
      if (!outages || stopping.signal.aborted) throw error;
      await systemClock.sleep(AGAIN_MS);
      return [];
    }
  }

  const polling = poll().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    async stop() {
      stopping.abort();
      await polling;
      await Promise.all(batches);
    },
  };
}
