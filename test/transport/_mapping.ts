import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueRecord } from '../../src/transport/sqs-batch.ts';

/** Credentials that open nothing. */
export const AWS = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example' },
};

export function sqsAt(endpoint: string): SQSClient {
  return new SQSClient({ ...AWS, endpoint });
}

/** What Lambda's event source mapping does: hands over batches, deletes what did not fail, lets the rest come again. */
export function startMapping(
  sqs: SQSClient,
  queueUrl: string,
  handle: (records: readonly QueueRecord[]) => Promise<readonly string[]>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const batches = new Set<Promise<void>>();

  async function handleBatch(messages: readonly Message[]): Promise<void> {
    const failed = await handle(
      messages.map(({ MessageId = '', Body = '' }) => ({ messageId: MessageId, body: Body })),
    );
    for (const { MessageId = '', ReceiptHandle } of messages) {
      const place = { QueueUrl: queueUrl, ReceiptHandle };
      if (failed.includes(MessageId)) {
        await sqs.send(new ChangeMessageVisibilityCommand({ ...place, VisibilityTimeout: 0 }));
      } else await sqs.send(new DeleteMessageCommand(place));
    }
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
        { abortSignal: stopping.signal },
      );
      if (Messages.length === 0) continue;
      const batch = handleBatch(Messages);
      batches.add(batch);
      void batch.finally(() => batches.delete(batch));
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
