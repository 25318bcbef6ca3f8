import {
  type EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import type { Clock, Random } from '../clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createBatches } from './batches.ts';
import type { Bus } from './bus.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Notice } from './notice.ts';

export interface EventBridgeOptions {
  readonly client: Pick<EventBridgeClient, 'send'>;
  readonly busName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An EventBridge bus. */
export interface EventBridge extends Bus {
  /** Puts a forwarder's message on the bus. Rejects when it was not taken after a few tries. */
  send(message: Notice | Heartbeat): Promise<void>;
}

/** Who is said to have sent it: what the bus's rules and policies go by. */
const OUTCOME_SOURCE = 'dev.everwarm';
const FORWARDER_SOURCE = 'dev.everwarm.forwarder';

/** A bus by its name. EventBridge answers 200 with failed entries inside: the result of each is looked at. */
export function createEventBridge(options: EventBridgeOptions): EventBridge {
  const { clock, random, log, metrics, busName } = options;
  const put = createBatches<PutEventsRequestEntry>({
    clock,
    random,
    send: (entries) => putEvents(options, entries),
  });
  const entry = (source: string, type: string, resource: string, detail: unknown): PutEventsRequestEntry => ({
    EventBusName: busName,
    Source: source,
    DetailType: type,
    Resources: [resource],
    Detail: JSON.stringify(detail),
  });
  return {
    async put(events) {
      const puts = events.map(async ({ type, pool, detail }) => {
        try {
          await put(entry(OUTCOME_SOURCE, type, pool, { pool, ...detail }));
          metrics.add('OutcomesSent', 1);
        } catch (error) {
          metrics.add('OutcomesLost', 1);
          log.error('bus.lost', { type, pool, cause: error instanceof Error ? error.message : 'unknown' });
        }
      });
      await Promise.all(puts);
    },
    send: (message) => put(entry(FORWARDER_SOURCE, message.type, message.source, message)),
  };
}

async function putEvents(
  { client }: EventBridgeOptions,
  entries: readonly PutEventsRequestEntry[],
): Promise<readonly (string | undefined)[]> {
  const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: [...entries] }));
  return entries.map((_, at) => {
    const result = Entries[at];
    // An id is the only proof that it was taken.
    return result?.EventId === undefined ? (result?.ErrorCode ?? 'no result') : undefined;
  });
}
