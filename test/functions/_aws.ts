import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { sqsAt } from '../transport/_mapping.ts';

/** A call as AWS saw it: who made it, by access key, and what it was. */
export interface AwsCall {
  readonly caller: string;
  /** `sqs:SendMessage`, as policies say it. */
  readonly action: string;
  /** The queue, bus or secret, by its name. */
  readonly resource: string;
}

/** An account: SQS (fauxqs), and as much of Secrets Manager and EventBridge as the functions use. */
export interface Aws {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly laterUrl: string;
  readonly calls: readonly AwsCall[];
  /** What was put on the bus. */
  readonly events: readonly { readonly type: string; readonly detail: Record<string, unknown> }[];
  readonly secrets: Map<string, string>;
  /** How many messages lie in the queues for the dead ones. */
  dead(): Promise<number>;
  /** What a function of this name finds in its environment. */
  env(name: string): Record<string, string>;
  stop(): Promise<void>;
}

/** How policies call what the SDK does: a batch needs the permission of a single one. */
const ACTIONS: Readonly<Record<string, string>> = {
  'AmazonSQS.SendMessageBatch': 'sqs:SendMessage',
  'AWSEvents.PutEvents': 'events:PutEvents',
  'secretsmanager.GetSecretValue': 'secretsmanager:GetSecretValue',
};

/** Tries of a message before it goes to the dead ones, as in infra/aws/queues.yml. */
const redrive = (queue: string) => ({
  RedrivePolicy: JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:eu-central-1:000000000000:${queue}`,
    maxReceiveCount: '5',
  }),
});

/** The queues of the stack with their attributes, each after those that it points to. */
export const QUEUES: Readonly<Record<string, Record<string, string>>> = {
  'everwarm-dev-dead.fifo': { FifoQueue: 'true' },
  'everwarm-dev-later-dead': {},
  'everwarm-dev.fifo': { FifoQueue: 'true', ...redrive('everwarm-dev-dead.fifo') },
  'everwarm-dev-later': redrive('everwarm-dev-later-dead'),
};

export interface AwsOptions {
  /** Where SQS answers; its own in this process by default. */
  readonly sqsAddress?: string;
}

export async function startAws(options: AwsOptions = {}): Promise<Aws> {
  const own = options.sqsAddress === undefined ? await startFauxqs({ port: 0, logger: false }) : undefined;
  const sqsAddress = options.sqsAddress ?? own?.address ?? '';
  const calls: AwsCall[] = [];
  const events: { type: string; detail: Record<string, unknown> }[] = [];
  const secrets = new Map<string, string>();
  const queues = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const target = String(request.headers['x-amz-target']);
    const input = JSON.parse(body) as Record<string, unknown>;
    const caller = /Credential=(\w+)\//.exec(String(request.headers.authorization))?.[1] ?? '';
    calls.push({ caller, action: ACTIONS[target] ?? target, resource: resourceIn(input) });
    const type = String(request.headers['content-type']);
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(value));
    };
    if (target.startsWith('AmazonSQS.')) {
      // The region of a queue is read from the signature.
      const authorization = String(request.headers.authorization);
      const headers = { 'content-type': type, 'x-amz-target': target, authorization };
      const text = JSON.stringify({ ...input, QueueUrl: queues.get(resourceIn(input)) });
      try {
        const passed = await fetch(sqsAddress, { method: 'POST', headers, body: text });
        answer(passed.status, await passed.json());
      } catch {
        // As SQS answers while it is away: the SDK tries again.
        answer(503, { __type: 'ServiceUnavailable' });
      }
    } else if (target === 'secretsmanager.GetSecretValue') {
      const text = secrets.get(String(input['SecretId']));
      if (text === undefined) answer(400, { __type: 'ResourceNotFoundException' });
      else answer(200, { SecretString: text });
    } else {
      const entries = input['Entries'] as { DetailType: string; Detail: string }[];
      events.push(...entries.map((entry) => ({ type: entry.DetailType, detail: JSON.parse(entry.Detail) })));
      answer(200, { FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: 'e' })) });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sqs = sqsAt(sqsAddress);
  for (const [QueueName, Attributes] of Object.entries(QUEUES)) {
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    queues.set(QueueName, QueueUrl);
  }
  const waiting = async (name: string): Promise<number> => {
    const AttributeNames = ['ApproximateNumberOfMessages'] as const;
    const QueueUrl = queues.get(name);
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
    );
    return Number(Attributes?.['ApproximateNumberOfMessages']);
  };
  return {
    sqs,
    queueUrl: queues.get('everwarm-dev.fifo') ?? '',
    laterUrl: queues.get('everwarm-dev-later') ?? '',
    dead: async () => (await waiting('everwarm-dev-dead.fifo')) + (await waiting('everwarm-dev-later-dead')),
    calls,
    events,
    secrets,
    env: (name) => ({
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: 'canary-aws-key',
      AWS_ENDPOINT_URL: url,
      EVERWARM_STAGE: 'dev',
      // The SDK sends to the host of a queue's URL.
      EVERWARM_QUEUE_URL: `${url}/000000000000/everwarm-dev.fifo`,
      EVERWARM_LATER_URL: `${url}/000000000000/everwarm-dev-later`,
      EVERWARM_BUS: 'everwarm-dev',
    }),
    async stop() {
      sqs.destroy();
      server.close();
      server.closeAllConnections();
      await own?.stop();
    },
  };
}

function resourceIn(input: Record<string, unknown>): string {
  if (typeof input['SecretId'] === 'string') return input['SecretId'];
  const [entry] = (input['Entries'] ?? []) as { EventBusName?: string }[];
  return entry?.EventBusName ?? String(input['QueueUrl']).split('/').at(-1) ?? '';
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
