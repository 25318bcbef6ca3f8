import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { sqsAt } from '../transport/_mapping.ts';

/** A call as AWS saw it: who made it, by access key, and what it was. */
interface AwsCall {
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

export async function startAws(): Promise<Aws> {
  const fauxqs = await startFauxqs({ port: 0, logger: false });
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
      const passed = await fetch(fauxqs.address, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...input, QueueUrl: queues.get(resourceIn(input)) }),
      });
      answer(passed.status, await passed.json());
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
  const sqs = sqsAt(fauxqs.address);
  const create = async (QueueName: string, Attributes: Record<string, string>): Promise<string> => {
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    queues.set(QueueName, QueueUrl);
    return QueueUrl;
  };
  const queueUrl = await create('everwarm-dev.fifo', { FifoQueue: 'true' });
  const laterUrl = await create('everwarm-dev-later', {});
  return {
    sqs,
    queueUrl,
    laterUrl,
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
      await fauxqs.stop();
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
