import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { WatchEvent } from '../../src/kube/api.ts';
import { WatchError } from '../../src/kube/errors.ts';
import { leapingClock } from './_leaping-clock.ts';
import { json, serve, status } from './_server.ts';
import { clientFor, deployment, deployments, TOKEN } from './_world.ts';

const options = { namespace: 'ide', resourceVersion: '7', timeoutSeconds: 240 };
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

/** Everything a watch yields until it ends, or how it broke off. */
async function watchAll(url: string, signal = new AbortController().signal) {
  const events: WatchEvent[] = [];
  try {
    for await (const event of clientFor(url, leapingClock()).watch(deployments, options, signal))
      events.push(event);
    return { events };
  } catch (error) {
    return { events, failure: error instanceof WatchError ? error.failure : error };
  }
}

describe('a watch', () => {
  it('tells what happened, in order, wherever the network cuts the stream', async () => {
    const first = deployment('ünïcode-is-not-a-name', '8');
    const bytes = Buffer.from(
      line('ADDED', first) +
        line('BOOKMARK', { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { resourceVersion: '9' } }) +
        line('DELETED', deployment('b', '10')),
    );
    const server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const send = (at: number): void => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(send, at + 1));
      };
      send(0);
    });
    expect(await watchAll(server.url)).toEqual({
      events: [
        { type: 'ADDED', object: first },
        { type: 'BOOKMARK', resourceVersion: '9' },
        { type: 'DELETED', object: deployment('b', '10') },
      ],
    });
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
      timeoutSeconds: '240',
    });
  });

  it('passes on what the server says of its own trouble', async () => {
    const server = await serve((response) =>
      response.writeHead(200).end(line('ERROR', status(410, 'Expired', 'too old resource version: 1 (286)'))),
    );
    const { events } = await watchAll(server.url);
    expect(events).toEqual([
      {
        type: 'ERROR',
        code: 410,
        message: 'watch Deployment ide: 410 Expired: too old resource version: 1 (286)',
      },
    ]);
  });

  it.each([
    { title: '410', code: 410, kind: 'expired' },
    { title: '403', code: 403, kind: 'forbidden' },
    { title: '429', code: 429, kind: 'throttled' },
    { title: '500', code: 500, kind: 'unknown' },
  ])('that the server answers with $title does not begin', async ({ code, kind }) => {
    const server = await serve((response) => json(response, code, status(code, 'Reason', `no ${TOKEN}`)));
    expect(await watchAll(server.url)).toMatchObject({ events: [], failure: { kind } });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    { title: 'is cut off within a line', text: '{"type":"ADDED","object":{' },
    { title: 'holds a line that is no event', text: '{"type":"ADDED"}\n' },
    { title: 'holds a line that is no JSON', text: 'Internal error\n' },
  ])('breaks off when the stream $title', async ({ text }) => {
    const server = await serve((response) =>
      response.writeHead(200).end(line('ADDED', deployment('a')) + text),
    );
    const { events, failure } = await watchAll(server.url);
    expect(events).toHaveLength(1);
    expect(failure).toMatchObject({ kind: 'unknown' });
  });

  it('does not begin when the refusal never ends', async () => {
    const server = await serve((response) => response.writeHead(500).write('{"kind":'));
    const client = clientFor(server.url, systemClock, { deadlineMs: 100 });
    const stream = client.watch(deployments, options, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toThrow('watch Deployment ide: no answer within 100 ms');
  });

  it('breaks off when the connection does', async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      response.write(line('ADDED', deployment('a')), () => response.destroy());
    });
    expect(await watchAll(server.url)).toMatchObject({ failure: { kind: 'unknown' } });
  });

  it('ends quietly when nobody wants it any more, and hangs up', async () => {
    const stop = new AbortController();
    const hungUp = Promise.withResolvers<void>();
    const server = await serve((response) => {
      response.on('close', () => hungUp.resolve());
      response.writeHead(200).write(line('ADDED', deployment('a')) + line('ADDED', deployment('b')));
    });
    const seen: WatchEvent[] = [];
    for await (const event of clientFor(server.url, leapingClock()).watch(
      deployments,
      options,
      stop.signal,
    )) {
      seen.push(event);
      stop.abort();
    }
    await hungUp.promise;
    expect(seen).toHaveLength(1);
  });

  it('hangs up when its reader stops listening', async () => {
    const hungUp = Promise.withResolvers<void>();
    const server = await serve((response) => {
      response.on('close', () => hungUp.resolve());
      response.writeHead(200).write(line('ADDED', deployment('a')));
    });
    const client = clientFor(server.url, leapingClock());
    for await (const event of client.watch(deployments, options, new AbortController().signal)) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await hungUp.promise;
  });

  it('of metadata alone asks for the kind of one object, not of a list', async () => {
    const server = await serve((response) => response.writeHead(200).end());
    const watch = clientFor(server.url, leapingClock()).watch(
      deployments,
      { ...options, metadataOnly: true },
      new AbortController().signal,
    );
    for await (const event of watch) expect(event).toBeUndefined();
    expect(server.requests[0]?.headers.accept).toMatch(/as=PartialObjectMetadata;/);
  });
});
