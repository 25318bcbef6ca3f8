import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { readBusEvent } from '../../src/transport/bus-event.ts';
import { createEventBridge } from '../../src/transport/eventbridge.ts';
import { triggerOf } from '../../src/transport/queue.ts';
import { AWS, sqsAt, startMapping } from './_mapping.ts';
import { hasMoto, startMoto } from './_moto.ts';
import { openSqs, startSqsPasses } from './_transports.ts';
import { recordingLog } from './_world.ts';
import { describeTransport, type OpenTransport } from './behaviour.ts';

if (hasMoto) {
  let moto: Awaited<ReturnType<typeof startMoto>>;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto.stop());

  const { log } = recordingLog();

  /** A bus, a rule, and in place of the ingest function's invocation a queue whose messages are handed to its code. */
  const openEventBridge: OpenTransport = async (consume) => {
    const sqs = sqsAt(moto.url);
    const client = new EventBridgeClient({ ...AWS, endpoint: moto.url });
    const busName = `bus-${Math.floor(random() * 1e9)}`;
    await client.send(new CreateEventBusCommand({ Name: busName }));
    const { QueueUrl: url = '' } = await sqs.send(new CreateQueueCommand({ QueueName: `${busName}-ingest` }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
    );
    const pattern = { 'detail-type': ['dev.everwarm.notice.v1'] };
    await client.send(
      new PutRuleCommand({ Name: 'in', EventBusName: busName, EventPattern: JSON.stringify(pattern) }),
    );
    await client.send(
      new PutTargetsCommand({
        Rule: 'in',
        EventBusName: busName,
        Targets: [{ Id: 'ingest', Arn: Attributes?.['QueueArn'] }],
      }),
    );
    const passes = await startSqsPasses(sqs, consume);
    const ingest = startMapping(sqs, url, async (records) => {
      for (const { body } of records) {
        const incoming = readBusEvent(JSON.parse(body));
        if (incoming.kind === 'notice') await passes.queue.add(incoming.key, triggerOf(incoming.notice));
      }
      return [];
    });
    const bus = createEventBridge({ client, busName, clock, random, log, metrics: NO_METRICS });
    return {
      send: (notice) => bus.send(notice),
      async stop() {
        await ingest.stop();
        await passes.stop();
      },
    };
  };

  describeTransport(
    "moto's SQS",
    openSqs(() => sqsAt(moto.url)),
  );
  describeTransport("moto's EventBridge", openEventBridge);
} else {
  describe('moto', () => {
    it('has SQS and EventBridge to try them with', ({ skip }) => skip('moto_server is not on PATH'));
  });
}
