import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll } from 'vitest';
import { sqsAt } from './_mapping.ts';
import { openLocal, openSqs, openWebhook } from './_transports.ts';
import { describeTransport } from './behaviour.ts';

describeTransport('the queue inside the process', openLocal);
describeTransport('the signed webhook', openWebhook);

let server: FauxqsServer;
beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
});
afterAll(() => server.stop());
describeTransport(
  'SQS',
  openSqs(() => sqsAt(server.address)),
);
