import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import { parseKey } from '../../src/pool/key.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { createLocalQueue } from '../../src/transport/local-queue.ts';
import { type Consumer, type Queue, triggerOf } from '../../src/transport/queue.ts';
import { consumeBatch, feed } from '../../src/transport/sqs-batch.ts';
import { createSqsQueue } from '../../src/transport/sqs-queue.ts';
import { createWebhookClient } from '../../src/transport/webhook-client.ts';
import { startWebhookServer } from '../../src/transport/webhook-server.ts';
import { startMapping } from './_mapping.ts';
import { recordingLog, SECRET } from './_world.ts';
import type { OpenTransport } from './behaviour.ts';

const { log } = recordingLog();

/** A key added to a queue in this process. */
export const openLocal: OpenTransport = async (consume) => {
  const queue = createLocalQueue({ clock, random, log, concurrency: 4, consume });
  return {
    send: async (notice) => {
      const key = parseKey(notice.subject);
      if (key === undefined) throw new Error('the notice has no key');
      await queue.add(key, triggerOf(notice));
    },
    stop: () => queue.stop(),
  };
};

/** A signed POST in front of it. */
export const openWebhook: OpenTransport = async (consume) => {
  const queue = createLocalQueue({ clock, random, log, concurrency: 4, consume });
  const door = await startWebhookServer({
    clock,
    log,
    secretOf: () => SECRET,
    accept: ({ key, notice }) => queue.add(key, triggerOf(notice)),
  });
  const stopping = new AbortController();
  return {
    send: async (notice) => {
      const url = `${door.url}${notice.source.replace('clusters', 'v1/notices')}/k1`;
      const client = createWebhookClient({
        url,
        secret: SECRET,
        clock,
        random,
        log,
        signal: stopping.signal,
      });
      return await client.send(notice);
    },
    async stop() {
      stopping.abort();
      await door.stop();
      await queue.stop();
    },
  };
};

/** The FIFO queue and the one for later, with what Lambda and our functions do around them. */
export async function startSqsPasses(
  sqs: SQSClient,
  consume: Consumer,
): Promise<{ readonly queue: Queue; stop(): Promise<void> }> {
  const name = `t${Math.floor(random() * 1e9)}`;
  const { QueueUrl: queueUrl = '' } = await sqs.send(
    new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes: { FifoQueue: 'true' } }),
  );
  const { QueueUrl: laterUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: `${name}-later` }));
  const queue = createSqsQueue({ sqs, queueUrl, laterUrl, clock, random });
  const deps = { queue, log, metrics: NO_METRICS };
  const passes = startMapping(sqs, queueUrl, (records) => consumeBatch(records, consume, deps));
  const later = startMapping(sqs, laterUrl, (records) => feed(records, deps));
  return {
    queue,
    async stop() {
      await later.stop();
      await passes.stop();
    },
  };
}

export function openSqs(sqs: () => SQSClient): OpenTransport {
  return async (consume) => {
    const { queue, stop } = await startSqsPasses(sqs(), consume);
    return {
      send: async (notice) => {
        const key = parseKey(notice.subject);
        if (key === undefined) throw new Error('the notice has no key');
        await queue.add(key, triggerOf(notice));
      },
      stop,
    };
  };
}
