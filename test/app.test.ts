import { afterEach, describe, expect, it } from 'vitest';
import { type App, type AppConfig, type AppDeps, createApp } from '../src/app.ts';
import { systemClock, systemRandom } from '../src/clock.ts';
import type { KubeApi, Outcome } from '../src/kube/api.ts';
import type { Observation, Platform } from '../src/platform/platform.ts';
import { UnreadableError } from '../src/platform/reading.ts';
import type { PoolKey } from '../src/pool/key.ts';
import type { Log } from '../src/telemetry/log.ts';
import { makeNotice } from '../src/transport/notice.ts';
import { sign } from '../src/transport/signature.ts';

const SECRET = Buffer.alloc(32, 7);
const KEY: PoolKey = { cluster: 'here', platform: 'warm', namespace: 'ide', name: 'java' };

/** A cluster with nothing in it, that counts what it is asked. */
function emptyCluster() {
  const calls: string[] = [];
  const answer = <T>(call: string, value: T): Promise<Outcome<T>> => {
    calls.push(call);
    return Promise.resolve({ kind: 'ok', value, serverTime: systemClock.now() });
  };
  const refuse = () =>
    Promise.resolve({ kind: 'forbidden', message: 'nothing may be written here' } as const);
  const api: KubeApi = {
    get: () => Promise.resolve({ kind: 'notFound', message: 'not there' }),
    list: () => answer('list', { resourceVersion: '1', items: [] }),
    async *watch(_resource, _options, signal) {
      await new Promise<void>((done) => {
        signal.addEventListener('abort', () => done(), { once: true });
      });
    },
    create: refuse,
    patch: refuse,
    delete: refuse,
  };
  return { api, calls };
}

/** A platform of which only the looking is looked at. */
function platformThat(observe: (name: string | undefined) => Promise<readonly Observation[]>): Platform {
  return { name: 'warm', watches: [], keysOf: () => [], observe: (_api, { name }) => observe(name) };
}

const running: App[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.stop();
});

async function start(platform: Platform, config: Partial<AppConfig> = {}, deps: Partial<AppDeps> = {}) {
  const logged: { readonly event: string; readonly fields: object }[] = [];
  const note: Log['info'] = (event, fields = {}) => void logged.push({ event, fields });
  const { api, calls } = emptyCluster();
  const app = await createApp(
    { cluster: 'here', namespaces: ['ide'], resyncMs: 60_000, dropNotices: 0, secret: SECRET, ...config },
    {
      api,
      platforms: [platform],
      clock: systemClock,
      random: systemRandom,
      log: { info: note, warn: note, error: note },
      report: () => {},
      ...deps,
    },
  );
  running.push(app);
  return { app, calls, logged };
}

function noticeOf(key: PoolKey): string {
  const object = {
    group: 'apps',
    kind: 'Deployment',
    namespace: 'ide',
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
  };
  const observedAt = systemClock.now();
  return JSON.stringify(
    makeNotice({ key, object, reason: 'changed', observedAt, coalesced: 1, epoch: 'e', seq: 1 }),
  );
}

async function post(app: App, body: string, { at = systemClock.now(), secret = SECRET as Uint8Array } = {}) {
  const [id, timestamp] = ['u/1', String(Math.floor(at / 1_000))];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id, timestamp, body }, secret),
  };
  const response = await fetch(`${app.webhook}/v1/notices/here/local`, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error?: string };
  return { status: response.status, error };
}

/** A promise that is resolved from outside, and the number of times it was waited for. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
}

describe('the ingest door', () => {
  it.each([
    {
      what: 'signed with another key',
      body: noticeOf(KEY),
      more: { secret: Buffer.alloc(32, 8) },
      status: 401,
    },
    { what: 'replayed late', body: noticeOf(KEY), more: { at: systemClock.now() - 301_000 }, status: 401 },
    { what: 'malformed', body: '{', more: {}, status: 400 },
    { what: "another cluster's", body: noticeOf({ ...KEY, cluster: 'there' }), more: {}, status: 400 },
    { what: 'too large', body: 'x'.repeat(20_001), more: {}, status: 413 },
  ])('refuses a notice that is $what, without a single call', async ({ body, more, status }) => {
    let looks = 0;
    const { app, calls } = await start(
      platformThat(async () => {
        looks += 1;
        return [];
      }),
    );
    const refused = await post(app, body, more);
    expect(refused.status).toBe(status);
    expect(refused.error).toMatch(/^[^\n]+$/);
    await app.idle();
    expect({ looks, calls }).toEqual({ looks: 0, calls: [] });
  });

  it('turns a signed notice into a pass over its pool', async () => {
    const seen: (string | undefined)[] = [];
    const { app } = await start(
      platformThat(async (name) => {
        seen.push(name);
        return [];
      }),
    );
    expect(await post(app, noticeOf(KEY))).toEqual({ status: 202, error: undefined });
    await app.idle();
    expect(seen).toEqual(['java']);
  });

  it('takes a notice of a platform that is not served, and leaves it at that', async () => {
    const { app, logged } = await start(platformThat(async () => []));
    expect((await post(app, noticeOf({ ...KEY, platform: 'other' }))).status).toBe(202);
    await app.idle();
    expect(logged.map(({ event }) => event)).toEqual(['pass.unknown-platform']);
  });
});

describe('pools', () => {
  it('have their passes side by side: one that hangs holds up no other', async () => {
    const hung = gate();
    const done: (string | undefined)[] = [];
    const { app } = await start(
      platformThat(async (name) => {
        if (name === 'java') await hung.promise;
        done.push(name);
        return [];
      }),
    );
    await post(app, noticeOf(KEY));
    await post(app, noticeOf({ ...KEY, name: 'python' }));
    while (done.length === 0) await systemClock.sleep(5);
    expect(done).toEqual(['python']);
    hung.open();
    await app.idle();
    expect(done).toEqual(['python', 'java']);
  });

  it('are looked at again after the cluster could not be read, and the process lives on', async () => {
    let looks = 0;
    const { app, logged } = await start(
      platformThat(async () => {
        looks += 1;
        if (looks === 1)
          throw new UnreadableError('services', { kind: 'unknown', message: 'connection refused' });
        return [];
      }),
    );
    await post(app, noticeOf(KEY));
    while (looks < 2) await systemClock.sleep(5);
    expect(logged).toEqual([
      {
        event: 'queue.retry',
        fields: expect.objectContaining({
          pool: 'here/warm/ide/java',
          cause: 'reading services: unknown, connection refused',
        }),
      },
    ]);
  });

  it('end the pass that they have before everything stops', async () => {
    const begun = gate();
    const hung = gate();
    const ended: string[] = [];
    const { app } = await start(
      platformThat(async () => {
        begun.open();
        await hung.promise;
        ended.push('pass');
        return [];
      }),
    );
    await post(app, noticeOf(KEY));
    await begun.promise;
    const stopped = app.stop().then(() => ended.push('everything'));
    // The door is shut long before: it lets nobody in while the pass goes on.
    await expect.poll(() => post(app, noticeOf(KEY)).catch(() => 'shut')).toBe('shut');
    hung.open();
    await stopped;
    expect(ended).toEqual(['pass', 'everything']);
  });
});

describe('the resync', () => {
  it('looks at each namespace as a whole, unasked, and skips while its predecessor still looks', async () => {
    const hung = gate();
    const seen: (string | undefined)[] = [];
    const skipped = gate();
    const log = {
      info: () => {},
      warn: (event: string) => {
        if (event === 'resync.skipped') skipped.open();
      },
      error: () => {},
    };
    const platform = platformThat(async (name) => {
      seen.push(name);
      await hung.promise;
      return [];
    });
    await start(platform, { resyncMs: 20 }, { log });
    await skipped.promise;
    expect(seen).toEqual([undefined]);
    hung.open();
    while (seen.length < 2) await systemClock.sleep(5);
    expect(seen[1]).toBeUndefined();
  });

  it('goes on after it failed', async () => {
    let looks = 0;
    const { logged } = await start(
      platformThat(async () => {
        looks += 1;
        throw new UnreadableError('pods', { kind: 'forbidden', message: 'may not' });
      }),
      { resyncMs: 10 },
    );
    while (looks < 3) await systemClock.sleep(5);
    expect(logged[0]).toEqual({
      event: 'resync.failed',
      fields: { namespace: 'ide', platform: 'warm', cause: 'reading pods: forbidden, may not' },
    });
  });
});
