import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import type { PoolKey } from '../../src/pool/key.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { triggerOf } from '../../src/transport/queue.ts';
import { parseQueueMessage } from '../../src/transport/queue-message.ts';
import { consumeBatch, feed } from '../../src/transport/sqs-batch.ts';
import { createSqsQueue, groupOf, onceAt } from '../../src/transport/sqs-queue.ts';
import { sqsAt, startMapping } from './_mapping.ts';
import { notice, poolKey, recordingLog } from './_world.ts';

let server: FauxqsServer;
let sqs: SQSClient;
let queueUrl: string;
let laterUrl: string;

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
  sqs = sqsAt(server.address);
});
afterAll(() => server.stop());
beforeEach(async () => {
  const name = `q${Math.floor(random() * 1e9)}`;
  queueUrl = await create(`${name}.fifo`, { FifoQueue: 'true' });
  laterUrl = await create(`${name}-later`, {});
});

async function create(name: string, attributes: Record<string, string>): Promise<string> {
  const { QueueUrl = '' } = await sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  );
  return QueueUrl;
}

async function receive(url: string, group?: string): Promise<readonly Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return group === undefined ? Messages : Messages.filter((one) => one.Attributes?.MessageGroupId === group);
}

async function count(url: string): Promise<number> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  return Number(Attributes?.['ApproximateNumberOfMessages']);
}

const queueOf = () => createSqsQueue({ sqs, queueUrl, laterUrl, clock, random });

describe('the queue in SQS', () => {
  it('takes a retry of a notice for the same one, and a new notice for another, though the object is the same', async () => {
    const queue = queueOf();
    for (const seq of [1, 1, 2]) await queue.add(poolKey(), triggerOf(notice({ seq })));
    for (const epoch of ['a1', 'a1', 'b2']) await queue.add(poolKey('b'), triggerOf(notice({ epoch })));
    expect(await count(queueUrl)).toBe(4);
  });

  it('has a group for each pool, of a name that SQS takes', async () => {
    await queueOf().add(poolKey());
    await queueOf().add({ ...poolKey(), name: 'x'.repeat(200) });
    const groups = (await receive(queueUrl)).map(({ Attributes }) => Attributes?.MessageGroupId ?? '');
    expect(groups).toContain('prod/theia-cloud/ide/java');
    expect(groups.find((group) => !group.startsWith('prod'))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('holds nothing but a key and what it was woken by', async () => {
    await queueOf().add(poolKey(), triggerOf(notice()));
    const [message] = await receive(queueUrl);
    const { reason, object, observedAt } = triggerOf(notice());
    expect(JSON.parse(message?.Body ?? '')).toEqual({
      key: 'prod/theia-cloud/ide/java',
      trigger: { reason, object, observedAt },
    });
  });

  it('leads from many requests for one moment to one pass', async () => {
    const fed: string[] = [];
    const queue = {
      add: async (_: PoolKey, trigger?: { once?: string }) => void fed.push(trigger?.once ?? ''),
      addAfter: async () => {},
    };
    const { log } = recordingLog();
    const dueAt = Math.ceil(clock.now() / 1_000) + 5;
    const body = JSON.stringify({ key: 'prod/theia-cloud/ide/java', dueAt });
    const records = ['1', '2', '3'].map((messageId) => ({ messageId, body }));
    expect(await feed(records, { queue, log, metrics: { add: () => {} } })).toEqual([]);
    expect(new Set(fed)).toEqual(new Set([onceAt(dueAt)]));
  });

  it('asks for a moment that lies behind the pass that asks', async () => {
    const before = Math.floor(clock.now() / 1_000);
    await queueOf().addAfter(poolKey(), 0);
    await new Promise((resolve) =>
      startMapping(sqs, laterUrl, async ([record]) => {
        resolve(parseQueueMessage(record?.body ?? '').dueAt);
        return [];
      }),
    ).then((dueAt) => expect(dueAt).toBeGreaterThan(before));
  });
});

describe('a batch of messages', () => {
  function deps() {
    const { log, lines } = recordingLog();
    const counted: MetricName[] = [];
    const later: [PoolKey, number][] = [];
    const queue = {
      add: async () => {},
      addAfter: async (key: PoolKey, ms: number) => void later.push([key, ms]),
    };
    return {
      log,
      lines,
      counted,
      later,
      queue,
      metrics: { add: (name: MetricName) => void counted.push(name) },
    };
  }
  const record = (messageId: string, name: string) => ({
    messageId,
    body: JSON.stringify({ key: `prod/theia-cloud/ide/${name}` }),
  });

  it('is one pass a key, and a key that fails fails all its messages and no others', async () => {
    const passes: string[] = [];
    const given = deps();
    const records = [record('1', 'a'), record('2', 'b'), record('3', 'a'), record('4', 'c')];
    const failed = await consumeBatch(
      records,
      async ({ name }) => {
        passes.push(name);
        if (name === 'a') throw new Error('no');
        return {};
      },
      given,
    );
    expect(passes).toEqual(['a', 'b', 'c']);
    expect(failed).toEqual(['1', '3']);
    expect(given.counted).toEqual(expect.arrayContaining(['PassesFailed', 'PassesDone', 'PassesDone']));
  });

  it('comes again when the wish for a later pass could not be kept', async () => {
    const given = {
      ...deps(),
      queue: { add: async () => {}, addAfter: () => Promise.reject(new Error('no')) },
    };
    expect(await consumeBatch([record('1', 'a')], async () => ({ requeueAfterMs: 5 }), given)).toEqual(['1']);
  });

  it('answers only with ids that it was given, whatever the messages are', async () => {
    const bodies = [
      '',
      'null',
      '{',
      '[]',
      '{"key":7}',
      '{"key":"a/b"}',
      '{"key":"a/b/c/d","key":"a/b/c/e"}',
      '{"key":"a/b/c/d","order":"delete"}',
    ];
    const given = deps();
    const records = bodies.map((body, at) => ({ messageId: `m${at}`, body }));
    const failed = await consumeBatch([...records, record('good', 'a')], async () => ({}), given);
    expect(failed).toEqual(records.map(({ messageId }) => messageId));
    expect(given.lines).toHaveLength(bodies.length);
    expect(given.lines[0]).toBe('error queue.poisoned message=m0 cause="no queue message: not JSON"\n');
  });
});

describe('a message that nobody can read', () => {
  it('ends in the dead-letter queue after its tries, and its neighbours have their passes', async () => {
    const deadUrl = await create(`dead${Math.floor(random() * 1e9)}.fifo`, { FifoQueue: 'true' });
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] }),
    );
    const redrive = { deadLetterTargetArn: Attributes?.['QueueArn'], maxReceiveCount: 3 };
    await sqs.send(
      new SetQueueAttributesCommand({
        QueueUrl: queueUrl,
        Attributes: { RedrivePolicy: JSON.stringify(redrive) },
      }),
    );
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: '{"canary"',
        MessageGroupId: 'x',
        MessageDeduplicationId: '1',
      }),
    );
    const passes: string[] = [];
    const { log, lines } = recordingLog();
    const mapping = startMapping(sqs, queueUrl, (records) =>
      consumeBatch(
        records,
        async ({ name }) => {
          passes.push(name);
          return {};
        },
        { queue: queueOf(), log, metrics: { add: () => {} } },
      ),
    );
    onTestFinished(() => mapping.stop());
    await queueOf().add(poolKey('a'));
    const dead: Message[] = [];
    while (dead.length === 0) dead.push(...(await receive(deadUrl)));
    while (passes.length === 0) await clock.sleep(10);
    expect(dead[0]?.Body).toBe('{"canary"');
    expect(lines.filter((line) => line.includes('queue.poisoned'))).toHaveLength(3);
    expect(lines.join()).not.toContain('canary');
    expect(groupOf(poolKey('a'))).toBe('prod/theia-cloud/ide/a');
  });
});
