import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { readBusEvent } from '../../src/transport/bus-event.ts';
import { createEventBridge } from '../../src/transport/eventbridge.ts';
import { makeHeartbeat } from '../../src/transport/heartbeat.ts';
import { leapingClock } from '../kube/_leaping-clock.ts';
import { AWS } from './_mapping.ts';
import { notice, poolKey, recordingLog } from './_world.ts';

interface Entry {
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

/** EventBridge as it answers: 200, and in it for each entry an id or an error. */
async function world(errorOf: (entry: Entry, call: number) => string | undefined) {
  const calls: Entry[][] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { Entries } = JSON.parse(text) as { Entries: Entry[] };
    calls.push(Entries);
    const results = Entries.map((entry) => {
      const code = errorOf(entry, calls.length);
      return code === undefined ? { EventId: 'e' } : { ErrorCode: code, ErrorMessage: 'canary' };
    });
    const failed = results.filter(({ ErrorCode }) => ErrorCode !== undefined).length;
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ FailedEntryCount: failed, Entries: results }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const { log, lines } = recordingLog();
  const counted: MetricName[] = [];
  const bus = createEventBridge({
    client: new EventBridgeClient({ ...AWS, endpoint: `http://127.0.0.1:${port}` }),
    busName: 'everwarm',
    clock: leapingClock(),
    random: () => 0.5,
    log,
    metrics: { add: (name) => void counted.push(name) },
  });
  return { bus, calls, lines, counted };
}

const event = (type: string) => ({ type, pool: 'prod/theia-cloud/ide/java', detail: { ready: 3 } });

describe('the bus', () => {
  it('is told of many outcomes ten at a time', async () => {
    const { bus, calls } = await world(() => undefined);
    await bus.put(Array.from({ length: 23 }, () => event('PoolConverged')));
    expect(calls.map((entries) => entries.length)).toEqual([10, 10, 3]);
    expect(calls[0]?.[0]).toMatchObject({
      EventBusName: 'everwarm',
      Source: 'dev.everwarm',
      DetailType: 'PoolConverged',
      Detail: '{"pool":"prod/theia-cloud/ide/java","ready":3}',
    });
  });

  it('is told again of what it failed to take, and only of that', async () => {
    const { bus, calls, counted } = await world((entry, call) =>
      entry.DetailType === 'B' && call === 1 ? 'InternalFailure' : undefined,
    );
    await bus.put([event('A'), event('B'), event('C')]);
    expect(calls.map((entries) => entries.map((entry) => entry.DetailType))).toEqual([
      ['A', 'B', 'C'],
      ['B'],
    ]);
    expect(counted).toEqual(['OutcomesSent', 'OutcomesSent', 'OutcomesSent']);
  });

  it('never loses an outcome silently', async () => {
    const { bus, calls, lines, counted } = await world((entry) =>
      entry.DetailType === 'B' ? 'Throttled' : undefined,
    );
    await bus.put([event('A'), event('B')]);
    expect(calls).toHaveLength(4);
    expect(counted.toSorted()).toEqual(['OutcomesLost', 'OutcomesSent']);
    expect(lines).toEqual(['error bus.lost type=B pool=prod/theia-cloud/ide/java cause=Throttled\n']);
  });

  it('tells a forwarder when it does not take its notice', async () => {
    const { bus } = await world(() => 'Throttled');
    await expect(bus.send(notice())).rejects.toThrow('Throttled');
  });

  it('carries a notice and a sign of life whole', async () => {
    const { bus, calls } = await world(() => undefined);
    const beat = makeHeartbeat({ cluster: 'prod', epoch: '0f', beat: 1, observedAt: 0, sent: 4 });
    await Promise.all([bus.send(notice()), bus.send(beat)]);
    const [first, second] = (calls[0] ?? []).map(({ DetailType, Detail }) =>
      readBusEvent({ id: '1', 'detail-type': DetailType, detail: JSON.parse(Detail) }),
    );
    expect(first).toMatchObject({ kind: 'notice', notice: notice(), key: poolKey() });
    expect(second).toMatchObject({ kind: 'heartbeat', cluster: 'prod', heartbeat: beat });
  });
});

describe('an event from the bus', () => {
  const request = (detail: unknown) => ({
    id: 'e1',
    'detail-type': 'dev.everwarm.request.v1',
    source: 'a person',
    detail,
  });

  it('is a wish for a pass when it names a pool', () => {
    expect(readBusEvent(request({ key: 'prod/theia-cloud/ide/java' }))).toEqual({
      kind: 'request',
      id: 'e1',
      key: poolKey(),
    });
  });

  it.each([
    ['names no pool', request({})],
    ['names something that is no pool', request({ key: '../x' })],
    ['says what to do', request({ key: 'prod/theia-cloud/ide/java', action: 'delete' })],
    ['is nothing', undefined],
    ['has no id', { 'detail-type': 'dev.everwarm.request.v1', detail: {} }],
    ['is of another type', { id: 'e1', 'detail-type': 'canary', detail: { canary: 1 } }],
  ])('is refused when it %s, and nothing of it is repeated', (_title, value) => {
    expect(() => readBusEvent(value)).toThrow(TerminalError);
    expect(() => readBusEvent(value)).not.toThrow(/canary/);
  });
});
