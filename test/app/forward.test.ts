import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startForwarding } from '../../src/app/forward.ts';
import { readForwardConfig } from '../../src/app/forward-config.ts';
import { seededRandom } from '../../src/clock.ts';
import { directApi } from '../../src/embedded/direct.ts';
import { createStore } from '../../src/embedded/store.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { createDoor } from '../../src/transport/door.ts';
import type { Message } from '../../src/transport/message.ts';
import { json, serve } from '../kube/_server.ts';
import { configMaps } from '../kube/_world.ts';
import { recordingLog, SECRET, SECRET_TEXT, START } from '../transport/_world.ts';

const namespaces = { ...configMaps, kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** A platform whose objects are named after their pools. */
const platform: Pick<Platform, 'name' | 'watches' | 'keysOf'> = {
  name: 'theia-cloud',
  watches: [{ resource: configMaps, metadataOnly: true, urgent: false }],
  keysOf: (_, { metadata }) => [metadata.name],
};

/** A forwarder between an embedded cluster and a door on a real socket, which can be closed. */
async function world() {
  const clock = createVirtualClock(START);
  const random = seededRandom(1);
  const { log, lines } = recordingLog();
  const store = createStore({ now: () => clock.now(), random, historyMax: 100 });
  const user = 'test';
  store.execute({ verb: 'create', resource: namespaces, body: { metadata: { name: 'ide' } }, user });
  const inside = directApi(store, { user, now: () => clock.now() });
  let isReachable = true;
  const api: KubeClient = {
    ...inside,
    list: async (...args) =>
      isReachable ? await inside.list(...args) : { kind: 'unknown', message: 'ECONNREFUSED' },
    close: () => {},
  };
  const arrived: Message[] = [];
  let isOpen = true;
  const door = createDoor({
    // Its clock is a quarter of a minute behind.
    clock: { ...clock, now: () => clock.now() - 15_000 },
    log: recordingLog().log,
    metrics: NO_METRICS,
    serves: () => true,
    secretOf: async (cluster, key) => (cluster === 'prod' && key === 'k1' ? SECRET : undefined),
    accept: async (message) => void arrived.push(message),
  });
  const server = await serve((response, { method, path, headers, body }) => {
    if (!isOpen) return json(response, 503, {});
    const header = (name: string) => [String(headers[name] ?? '')];
    void door
      .answer({
        method,
        path,
        headers: {
          id: header('webhook-id'),
          timestamp: header('webhook-timestamp'),
          signature: header('webhook-signature'),
        },
        body: Buffer.from(body),
      })
      .then((reply) => response.writeHead(reply.status, reply.headers).end(reply.body));
  });
  const config = readForwardConfig(undefined, {
    cluster: 'prod',
    namespaces: 'ide',
    webhookUrl: server.url,
    webhookKey: 'k1',
    webhookSecret: SECRET_TEXT,
  });
  const start = async () => {
    const health = { host: '127.0.0.1', port: 0 };
    const forwarding = await startForwarding(
      { ...config, health },
      { api, platforms: [platform], clock, random, log },
    );
    onTestFinished(async () => void (await forwarding.stop()));
    return forwarding;
  };
  return {
    clock,
    arrived,
    lines,
    start,
    reach: (yes: boolean) => {
      isReachable = yes;
    },
    open: (yes: boolean) => {
      isOpen = yes;
    },
    put: (name: string) =>
      store.execute({
        verb: 'create',
        resource: configMaps,
        namespace: 'ide',
        body: { metadata: { name }, data: { password: 'canary-5d21' } },
        user,
      }),
    /** Lets time go by, and what is on the wire arrive, until it holds. */
    async until(holds: () => boolean, step = 100) {
      for (let steps = 0; steps < 10_000 && !holds(); steps += 1) {
        for (let turns = 0; turns < 5; turns += 1) await turn();
        await clock.advance(step);
      }
    },
  };
}

const asks = async (base: string, path: string) => {
  const response = await fetch(`${base}/${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
};

/** The numbers of a scrape, by name and labels. */
async function numbers(base: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('everwarm_'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

const KIND = '{platform="theia-cloud",namespace="ide",kind="ConfigMap"}';

describe('the forwarder as a process', () => {
  it('is alive but not ready while the cluster cannot be reached, and for no longer than four minutes', async () => {
    const { clock, reach, start, until } = await world();
    reach(false);
    const { health, ready } = await start();
    expect(await asks(health, 'livez')).toBe('200 ok');
    expect(await asks(health, 'readyz')).toBe('503 not every kind was listed yet');
    await clock.advance(241_000);
    expect(await asks(health, 'livez')).toBe('503 nothing was heard for 240 s of ide/ConfigMap');
    reach(true);
    let isReady = false;
    void ready.then(() => {
      isReady = true;
    });
    await until(() => isReady);
    expect(await asks(health, 'readyz')).toBe('200 ok');
    expect(await asks(health, 'livez')).toBe('200 ok');
    expect(await asks(health, 'secrets')).toBe('404 there are /livez, /readyz and /metrics');
    expect((await fetch(`${health}/livez`, { method: 'POST' })).status).toBe(405);
  });

  it('says each minute that it is alive, and how many notices it sent', async () => {
    const { put, start, until, arrived } = await world();
    put('java');
    put('python');
    await start();
    const beats = () =>
      arrived.flatMap((message) => (message.kind === 'heartbeat' ? [message.heartbeat.data.sent] : []));
    await until(() => beats().length === 1);
    put('rust');
    await until(() => beats().length === 2);
    expect(beats()).toEqual([2, 1]);
    expect(arrived.filter(({ kind }) => kind === 'notice')).toHaveLength(3);
  });

  it('counts what it does, for Prometheus, and tells nobody what is in an object', async () => {
    const { put, start, until, arrived, open, lines } = await world();
    put('java');
    const { health } = await start();
    await until(() => arrived.length === 1);
    open(false);
    put('python');
    await until(() => lines.some((line) => line.includes('webhook.retry')));
    expect(await numbers(health)).toMatchObject({ everwarm_outbox_size: 1 });
    open(true);
    await until(() => arrived.length === 2);
    let found = await numbers(health);
    // The door has taken it; now its answer has to arrive.
    while (found['everwarm_outbox_size'] !== 0) found = await numbers(health);
    expect(found).toMatchObject({
      everwarm_notices_sent_total: 2,
      everwarm_notices_coalesced_total: 0,
      everwarm_outbox_size: 0,
      everwarm_clock_skew_seconds: expect.closeTo(15, 0),
      [`everwarm_watch_absent${KIND}`]: 0,
      [`everwarm_watch_restarts_total${KIND}`]: 0,
      [`everwarm_relists_total${KIND}`]: 0,
    });
    expect(found['everwarm_notice_retries_total']).toBeGreaterThan(0);
    expect(found[`everwarm_watch_silence_seconds${KIND}`]).toBeLessThan(240);
    const said = JSON.stringify([arrived, lines, await (await fetch(`${health}/metrics`)).text()]);
    expect(said).not.toContain('canary-5d21');
    expect(said).not.toContain(SECRET_TEXT.slice('whsec_'.length));
  });

  it('that is asked to end sends first what it knows', async () => {
    const { put, start, until, arrived } = await world();
    const forwarding = await start();
    await forwarding.ready;
    put('java');
    await turn();
    const end = forwarding.stop();
    await until(() => arrived.length === 1, 0);
    expect(await end).toBe('drained');
  });

  it('that is asked to end while nobody takes its notices ends all the same', async () => {
    const { put, start, until, open, lines } = await world();
    open(false);
    put('java');
    const forwarding = await start();
    await forwarding.ready;
    let end = '';
    void forwarding.stop().then((how) => {
      end = how;
    });
    await until(() => end !== '');
    expect(end).toBe('cut');
    expect(lines.join()).toContain('warn forward.cut unsent=1');
    await expect(fetch(`${forwarding.health}/livez`)).rejects.toThrow();
  });
});
