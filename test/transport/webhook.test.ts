import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import type { ParsedNotice } from '../../src/transport/notice.ts';
import { sign } from '../../src/transport/signature.ts';
import { createWebhookClient } from '../../src/transport/webhook-client.ts';
import { startWebhookServer } from '../../src/transport/webhook-server.ts';
import { type LeapingClock, leapingClock } from '../kube/_leaping-clock.ts';
import { serve } from '../kube/_server.ts';
import { notice, OTHER_SECRET, poolKey, recordingLog, SECRET, START } from './_world.ts';

const PATH = '/v1/notices/prod/k1';

/** A door for cluster `prod` with the active keys `k1` and `k2`, and what it let in. */
async function door(accept: (parsed: ParsedNotice) => Promise<void> = async () => {}) {
  const clock = leapingClock();
  const { log, lines } = recordingLog();
  const accepted: ParsedNotice[] = [];
  const secrets: Record<string, Uint8Array> = { 'prod/k1': SECRET, 'prod/k2': OTHER_SECRET };
  const server = await startWebhookServer({
    clock,
    log,
    secretOf: (cluster, keyId) => secrets[`${cluster}/${keyId}`],
    accept: async (parsed) => {
      await accept(parsed);
      accepted.push(parsed);
    },
  });
  onTestFinished(() => server.stop());
  return { url: server.url, clock, accepted, lines };
}

interface Shot {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  readonly secret?: Uint8Array;
  readonly ageSeconds?: number;
  readonly headers?: Record<string, string>;
}

/** One request to the door, rightly signed unless said otherwise. */
async function shoot(url: string, shot: Shot = {}): Promise<{ status: number; reply: unknown }> {
  const {
    path = PATH,
    method = 'POST',
    body = JSON.stringify(notice()),
    secret = SECRET,
    ageSeconds = 0,
  } = shot;
  const timestamp = String(START / 1_000 - ageSeconds);
  const headers = {
    'webhook-id': notice().id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id: notice().id, timestamp, body }, secret),
  };
  const response = await fetch(url + path, {
    method,
    headers: shot.headers ?? headers,
    ...(method === 'GET' ? {} : { body }),
  });
  return { status: response.status, reply: await response.json() };
}

describe('the ingest door', () => {
  it('lets a signed notice in and tells its own time', async () => {
    const { url, accepted } = await door();
    expect(await shoot(url)).toEqual({ status: 202, reply: { now: START } });
    expect(accepted).toMatchObject([{ notice: notice(), key: poolKey() }]);
  });

  it('knows several keys of a cluster, each by its name', async () => {
    const { url, accepted } = await door();
    expect((await shoot(url, { path: '/v1/notices/prod/k2', secret: OTHER_SECRET })).status).toBe(202);
    expect((await shoot(url, { path: '/v1/notices/prod/k2', secret: SECRET })).status).toBe(401);
    expect(accepted).toHaveLength(1);
  });

  const tooLarge = `${JSON.stringify(notice())}${' '.repeat(20_001)}`;
  it.each([
    { title: 'is not signed', shot: { headers: {} }, status: 401, error: 'not signed' },
    {
      title: 'is signed with another key',
      shot: { secret: OTHER_SECRET },
      status: 401,
      error: 'no signature fits',
    },
    {
      title: 'names a key that is not active',
      shot: { path: '/v1/notices/prod/k9' },
      status: 401,
      error: 'no signature fits',
    },
    {
      title: 'is signed with nothing, for a key that is not active',
      shot: { path: '/v1/notices/prod/k9', secret: new Uint8Array(24) },
      status: 401,
      error: 'no signature fits',
    },
    {
      title: 'names a cluster nobody knows',
      shot: { path: '/v1/notices/x/k1' },
      status: 401,
      error: 'no signature fits',
    },
    {
      title: 'is replayed late',
      shot: { ageSeconds: 301 },
      status: 401,
      error: 'signed more than 300 s ago',
    },
    {
      title: 'comes from the future',
      shot: { ageSeconds: -61 },
      status: 401,
      error: 'signed more than 60 s in the future',
    },
    {
      title: 'is malformed, and not signed either',
      shot: { body: '{', headers: {} },
      status: 401,
      error: 'not signed',
    },
    { title: 'is malformed', shot: { body: '{' }, status: 400, error: 'no notice: not JSON' },
    {
      title: 'is no notice',
      shot: { body: '{}' },
      status: 400,
      error: 'no notice: specversion is wrong (invalid_value)',
    },
    {
      title: "is about another cluster's pool",
      shot: { body: JSON.stringify(notice({ key: poolKey('java', 'other') })) },
      status: 400,
      error: "the notice is another cluster's",
    },
    { title: 'is too large', shot: { body: tooLarge }, status: 413, error: 'larger than 20000 bytes' },
    {
      title: 'is very much too large',
      shot: { body: 'x'.repeat(900_000) },
      status: 413,
      error: 'larger than 20000 bytes',
    },
    { title: 'knocks elsewhere', shot: { path: '/v1/notices/prod' }, status: 404, error: 'no such door' },
    { title: 'only looks', shot: { method: 'GET' }, status: 405, error: 'only POST' },
  ])('refuses what $title, with the reason on one line', async ({ shot, status, error }) => {
    const { url, accepted } = await door();
    expect(await shoot(url, shot)).toEqual({ status, reply: { error, now: START } });
    expect(accepted).toEqual([]);
  });

  it('takes a notice of just the largest size', async () => {
    const { url } = await door();
    const text = JSON.stringify(notice());
    expect((await shoot(url, { body: text + ' '.repeat(20_000 - text.length) })).status).toBe(202);
  });

  it('does not let the same header come twice', async () => {
    const { url, accepted } = await door();
    const body = JSON.stringify(notice());
    const timestamp = String(START / 1_000);
    const signature = sign({ id: notice().id, timestamp, body }, SECRET);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end(
      [
        `POST ${PATH} HTTP/1.1`,
        'host: door',
        `webhook-id: ${notice().id}`,
        `webhook-timestamp: ${timestamp}`,
        `webhook-signature: v1,AAAA`,
        `webhook-signature: ${signature}`,
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(accepted).toEqual([]);
  });

  it('asks to come again when it cannot take a notice now', async () => {
    const { url, lines } = await door(() => Promise.reject(new Error('the queue is not there')));
    expect((await shoot(url)).status).toBe(503);
    expect(lines.join()).toContain('error webhook.not-accepted cluster=prod');
  });

  it('writes neither a signature nor a secret nor a body into its log', async () => {
    const { url, lines } = await door();
    await shoot(url, { secret: OTHER_SECRET });
    await shoot(url, { body: '{"canary":"canary-3"}' });
    expect(lines).toEqual([
      'warn webhook.refused cluster=prod reason="no signature fits"\n',
      'warn webhook.refused cluster=prod reason="no notice: specversion is wrong (invalid_value)"\n',
    ]);
  });
});

describe('the sender', () => {
  function sender(url: string, clock: LeapingClock, secret = SECRET) {
    const stop = new AbortController();
    const { log, lines } = recordingLog();
    const client = createWebhookClient({
      url: url + PATH,
      secret,
      clock,
      random: () => 0.999_999,
      log,
      signal: stop.signal,
    });
    return { client, stop, lines };
  }

  it('gets its notice through the door', async () => {
    const { url, accepted, clock } = await door();
    expect(await sender(url, clock).client.send(notice())).toBe('accepted');
    expect(accepted.map(({ notice: { data } }) => data.seq)).toEqual([7]);
  });

  it('tries for ever, half a minute apart at most, and signs anew each time', async () => {
    let tries = 0;
    const { url, accepted, clock } = await door(async () => {
      tries += 1;
      if (tries <= 12) throw new Error('not yet');
    });
    const { client, lines } = sender(url, clock);
    expect(await client.send(notice())).toBe('accepted');
    // Each wait is the door's Retry-After of a second, and the jitter on top: five minutes after the first signature
    // an old one would not be let in.
    expect(clock.slept.map((ms) => ms / 1_000)).toEqual([2, 3, 5, 9, 17, 31, 31, 31, 31, 31, 31, 31]);
    expect(accepted).toHaveLength(1);
    expect(lines[0]).toContain(
      'warn webhook.retry pool=prod/theia-cloud/ide/java why="status 503" failures=1',
    );
  });

  it('goes on after connections that fail and doors that are shut', async () => {
    const server = await serve((response, _seen, index) => {
      if (index === 0) response.destroy();
      else
        response.writeHead([500, 401, 302, 429][index - 1] ?? 202, { location: 'http://127.0.0.1:1/' }).end();
    });
    const clock = leapingClock();
    expect(await sender(server.url, clock).client.send(notice())).toBe('accepted');
    expect(clock.slept).toHaveLength(5);
    expect(new Set(server.requests.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6);
  });

  it('follows no redirect', async () => {
    const elsewhere = await serve((response) => response.writeHead(202).end());
    const server = await serve((response, _seen, index) =>
      response.writeHead(index === 0 ? 307 : 202, { location: elsewhere.url }).end(),
    );
    expect(await sender(server.url, leapingClock()).client.send(notice())).toBe('accepted');
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  it.each([400, 413])('gives up on a notice that can never be taken (%i)', async (code) => {
    const server = await serve((response) => response.writeHead(code).end());
    const { client, lines } = sender(server.url, leapingClock());
    expect(await client.send(notice())).toBe('refused');
    expect(lines.join()).toContain('error webhook.refused');
  });

  it('stops when it is told to', async () => {
    const { client, stop } = sender('http://127.0.0.1:1', leapingClock());
    stop.abort();
    expect(await client.send(notice())).toBe('stopped');
  });

  it('stops in the middle of a try', async () => {
    const server = await serve(() => {});
    const { client, stop } = sender(server.url, leapingClock());
    const sent = client.send(notice());
    await server.next();
    stop.abort();
    expect(await sent).toBe('stopped');
  });

  it('says when its clock is wrong', async () => {
    const { url, clock } = await door();
    await clock.advance(90_000);
    const { client, lines } = sender(url, leapingClock());
    expect(await client.send(notice())).toBe('accepted');
    expect(lines).toEqual(['warn webhook.clock-skew skewMs=-90000\n']);
  });

  it('speaks to nobody in clear but to its own machine', () => {
    expect(() => sender('http://example.test', leapingClock())).toThrow(TerminalError);
    expect(() => sender('https://example.test', leapingClock())).not.toThrow();
  });
});
