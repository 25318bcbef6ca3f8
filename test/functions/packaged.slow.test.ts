import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../src/clock.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { makeHeartbeat } from '../../src/transport/heartbeat.ts';
import type { NoticeParts } from '../../src/transport/notice.ts';
import { notice, SECRET } from '../transport/_world.ts';
import { type Cloud, FUNCTIONS, failedIn, startCloud } from './_cloud.ts';
import { NAMESPACE } from './_cluster.ts';
import { busEvent, noticeEvent, signedHeaders, sqsEvent, urlEvent } from './_events.ts';
import { startLambda } from './_lambda.ts';
import { roleOf } from './_roles.ts';
import { packageService, type Template } from './_template.ts';

const POOL = 'java-17';
const TICK_MS = 1_000;
const key = (cluster = 'course', name = POOL) => ({
  cluster,
  platform: 'theia-cloud',
  namespace: NAMESPACE,
  name,
});
const keyText = (cluster?: string, name?: string) => Object.values(key(cluster, name)).join('/');
const record = (messageId: string, text: string) => ({ messageId, body: JSON.stringify({ key: text }) });

let cloud: Cloud;
let template: Template;
beforeAll(async () => {
  template = packageService().template;
  cloud = await startCloud();
  const made = await cloud.cluster.person.create(
    APP_DEFINITIONS_V1BETA11,
    NAMESPACE,
    definition('registry.example.org/ide:1'),
  );
  if (made.kind !== 'ok') throw new Error(`${made.kind}: ${made.message}`);
});
afterAll(() => cloud.stop());

function definition(image: string, name = POOL): object {
  const { metadata, ...rest } = appDefinition(name, { minInstances: 3, image });
  return { ...rest, metadata: { ...metadata, namespace: NAMESPACE } };
}

/** Knocks at the packaged webhook with a signed notice, or whatever `change` makes of it. */
async function knock(parts: Partial<NoticeParts> = {}): Promise<{ status: number; body: string }> {
  const sent = notice({ key: key(), ...parts });
  const body = JSON.stringify(sent);
  return await post(urlEvent(body, signedHeaders(body, sent.id, SECRET, clock.now())));
}

async function post(event: unknown): Promise<{ status: number; body: string }> {
  const { statusCode, body } = (await cloud.lambdas.webhook.invoke(event)) as {
    statusCode: number;
    body: string;
  };
  return { status: statusCode, body };
}

describe('the packaged webhook', () => {
  it('takes a signed notice, and a sign of life', async () => {
    const before = cloud.aws.calls.length;
    expect(await knock({ seq: 1 })).toEqual({ status: 202, body: expect.stringMatching(/^\{"now":\d+\}$/) });
    const beat = makeHeartbeat({ cluster: 'course', epoch: '0f', beat: 1, observedAt: clock.now(), sent: 1 });
    const body = JSON.stringify(beat);
    expect((await post(urlEvent(body, signedHeaders(body, beat.id, SECRET, clock.now())))).status).toBe(202);
    const calls = cloud.aws.calls.slice(before).map(({ caller, action }) => `${caller} ${action}`);
    expect(calls).toEqual(['webhook secretsmanager:GetSecretValue', 'webhook sqs:SendMessage']);
    await cloud.lambdas.webhook.wrote('"Heartbeats":1');
  });

  const whole = JSON.stringify(notice({ key: key(), seq: 2 }));
  const { id } = notice();
  const signed = (body = whole, at = clock.now()) => signedHeaders(body, id, SECRET, at);
  it.each<[string, () => unknown, number]>([
    ['is not signed', () => urlEvent(whole, {}), 401],
    [
      'is signed wrongly',
      () => urlEvent(whole, { ...signed(), 'webhook-signature': `v1,${'A'.repeat(43)}=` }),
      401,
    ],
    [
      'is signed with a key that was taken back',
      () => urlEvent(whole, signed(), { path: '/v1/notices/course/k0' }),
      401,
    ],
    ['is too old', () => urlEvent(whole, signed(whole, clock.now() - 302_000)), 401],
    ['comes from the future', () => urlEvent(whole, signed(whole, clock.now() + 62_000)), 401],
    ['was written anew', () => urlEvent(JSON.stringify(JSON.parse(whole), null, 1), signed()), 401],
    ['is cut', () => urlEvent(whole.slice(0, -1), signed()), 401],
    [
      'is flagged as bytes',
      () => urlEvent(Buffer.from(whole).toString('base64'), signed(), { isBase64Encoded: true }),
      401,
    ],
    ['has its id twice', () => urlEvent(whole, { ...signed(), 'webhook-id': `${id},${id}` }), 401],
    ['has its time twice', () => urlEvent(whole, { ...signed(), 'webhook-timestamp': '1,2' }), 401],
    [
      'has its signature twice',
      () => urlEvent(whole, { ...signed(), 'webhook-signature': `v1,AAAA,${signed()['webhook-signature']}` }),
      401,
    ],
    ['is too large', () => urlEvent(whole + ' '.repeat(20_000), signed(whole + ' '.repeat(20_000))), 413],
    ['is not JSON', () => urlEvent('{', signed('{')), 400],
    ['is nothing', () => urlEvent('', signed('')), 400],
    ['is no notice', () => urlEvent('{}', signed('{}')), 400],
    [
      'is of a cluster that nobody knows',
      () => urlEvent(whole, signed(), { path: '/v1/notices/other/k1' }),
      401,
    ],
    ['is of a platform that nobody knows', () => foreign({ ...key(), platform: 'gitpod' }), 400],
    ["is about another cluster's pool", () => foreign(key('gone')), 400],
    ['knocks elsewhere', () => urlEvent(whole, signed(), { path: '/' }), 404],
    ['only looks', () => urlEvent('', {}, { method: 'GET' }), 405],
    ['is no request at all', () => ({}), 400],
  ])('refuses what %s', async (_title, event, status) => {
    const before = cloud.aws.calls.filter(({ action }) => action.startsWith('sqs')).length;
    const answer = await post(event());
    expect(answer.status).toBe(status);
    expect(answer.body.length).toBeLessThan(200);
    expect(cloud.aws.calls.filter(({ action }) => action.startsWith('sqs'))).toHaveLength(before);
  });

  function foreign(of: ReturnType<typeof key>): unknown {
    const body = JSON.stringify(notice({ key: of }));
    return urlEvent(body, signed(body));
  }

  it('refuses what was let in already', async () => {
    const body = JSON.stringify(notice({ key: key(), seq: 3 }));
    const event = urlEvent(body, signed(body));
    expect((await post(event)).status).toBe(202);
    expect((await post(event)).status).toBe(401);
  });
});

describe('the packaged functions', () => {
  it('do for a cluster what is due although another one does not answer', async () => {
    const writes: string[] = [];
    const forget = cloud.cluster.cluster.store.onCommit(({ request }) => {
      if (request.user === 'admin') writes.push(request.verb);
    });
    const records = [record('there', keyText()), record('gone', keyText('gone')), record('poison', '{')];
    const failed = await cloud.lambdas.reconcile.invoke(sqsEvent(records));
    forget();
    expect(failedIn(failed)).toEqual(['poison', 'gone']);
    expect(writes.length).toBeGreaterThan(0);
    const result = (await cloud.lambdas.resync.invoke({ time: 'now' })) as { seen: number; failed: string[] };
    expect(result).toMatchObject({ seen: 1, failed: ['gone'] });
    // From here on it refuses at once, which is quicker.
    cloud.silence.stop();
  });

  it('bring a pool to what its definition says, and again when that changes, all by themselves', async () => {
    cloud.connect();
    await knock({ seq: 10 });
    await resyncUntil(isConverged);
    const { person } = cloud.cluster;
    const patch = [{ op: 'replace', path: '/spec/image', value: 'registry.example.org/ide:2' }] as const;
    await person.patch(
      APP_DEFINITIONS_V1BETA11,
      { namespace: NAMESPACE, name: POOL },
      { type: 'json', patch },
    );
    await resyncUntil(
      async () => (await isConverged()) && (await images()).every((image) => image.endsWith(':2')),
    );
    expect(cloud.aws.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['PoolCreated', 'PoolConverged', 'InstanceReplaced']),
    );
  });

  it('write nothing more once that is so', async () => {
    let writes = 0;
    const forget = cloud.cluster.cluster.store.onCommit(({ request }) => {
      if (request.user === 'admin') writes += 1;
    });
    expect(await cloud.lambdas.resync.invoke({})).toMatchObject({ seen: 1, due: 0 });
    expect(failedIn(await cloud.lambdas.reconcile.invoke(sqsEvent([record('1', keyText())])))).toEqual([]);
    forget();
    expect(writes).toBe(0);
  });

  it('take what is put on the bus, and refuse the rest of it without trying again', async () => {
    const before = cloud.aws.calls.length;
    const { ingest } = cloud.lambdas;
    await ingest.invoke(noticeEvent(notice({ key: key(), epoch: 'b0' })));
    await ingest.invoke(busEvent('dev.everwarm.request.v1', { key: keyText() }));
    await ingest.invoke(busEvent('dev.everwarm.request.v1', { key: keyText('other') }));
    await ingest.invoke(busEvent('dev.everwarm.request.v1', { key: keyText(), action: 'delete' }));
    await ingest.invoke(busEvent('dev.everwarm.notice.v1', 'canary'));
    const calls = cloud.aws.calls.slice(before).filter(({ caller }) => caller === 'ingest');
    expect(calls).toHaveLength(2);
    // What it writes takes another way than its answers.
    await expect.poll(() => ingest.output().match(/ingest\.refused/g), { timeout: 30_000 }).toHaveLength(3);
  });

  it.each(
    globSync('infra/aws/samples/*.json')
      .sort()
      .map((file) => [basename(file), file] as const),
  )('answer the saved sample %s', async (name, file) => {
    const [wanted = ''] = name.split('-');
    const lambda = cloud.lambdas[wanted as keyof Cloud['lambdas']];
    const answer = await lambda.invoke(JSON.parse(readFileSync(file, 'utf8')));
    if (wanted !== 'invoke') return;
    expect(answer).toMatchObject({
      pools: [expect.objectContaining({ pool: keyText() })],
      unreadable: [{ cluster: 'gone' }],
    });
  });

  it.each([
    [
      'names no pool that there is',
      { action: 'plan', pool: keyText('course', 'nothing') },
      'there is no pool course/theia-cloud/theia/nothing',
    ],
    ['names no pool at all', { action: 'plan', pool: '../x' }, 'names no pool'],
    ['does not say over what', { action: 'reconcile' }, 'say which pool, or "all": true'],
    [
      'asks for what nobody does',
      { action: 'delete', pool: POOL },
      'not an event of this function: action is wrong',
    ],
    ['says more', { action: 'plan', canary: 1 }, 'not an event of this function: it is wrong'],
  ])('tell a person whose order %s', async (_title, order, message) => {
    await expect(cloud.lambdas.invoke.invoke(order)).rejects.toThrow(message);
  });

  it('have passes by hand, now or, without the time for them, by the queue', async () => {
    const { person } = cloud.cluster;
    const place = { namespace: NAMESPACE, name: 'python' };
    const order = { action: 'reconcile', pool: keyText('course', 'python') };
    const pass = async () =>
      (await cloud.lambdas.invoke.invoke(order)) as {
        pools: [{ requeueAfterMs?: number; outcomes: { type: string }[] }];
      };
    await person.create(
      APP_DEFINITIONS_V1BETA11,
      NAMESPACE,
      definition('registry.example.org/ide:1', 'python'),
    );
    const { pools } = await pass();
    expect(pools[0].outcomes[0]?.type).toBe('PoolCreated');
    const patch = [{ op: 'replace', path: '/spec/image', value: 'registry.example.org/ide:2' }] as const;
    await person.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'json', patch });
    const answer = await pass();
    expect(answer.pools[0].requeueAfterMs).toBeGreaterThan(0);
    expect(await cloud.lambdas.invoke.invoke(order, 10_000)).toMatchObject({ pools: [{ enqueued: true }] });
  });

  it('let no secret out', () => {
    const kubeconfig = JSON.parse(cloud.cluster.kubeconfig) as { users: { user: { token: string } }[] };
    const told =
      Object.values(cloud.lambdas)
        .map((lambda) => lambda.output())
        .join() + JSON.stringify(cloud.aws.events);
    for (const secret of [
      'canary',
      kubeconfig.users[0]?.user.token ?? 'none',
      'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    ])
      expect(told).not.toContain(secret);
  });
});

describe('a packaged function that is told something wrong', () => {
  it.each([
    ['no file', { EVERWARM_CLUSTERS_FILE: '/nowhere/clusters.json' }, '/nowhere/clusters.json: no such file'],
    ['a file that is none', { EVERWARM_CLUSTERS_FILE: 'package.json' }, 'package.json: clusters: '],
    ['no queue', { EVERWARM_QUEUE_URL: '' }, 'EVERWARM_QUEUE_URL is not set'],
  ])('fails at its start and says what: %s', async (_title, env, message) => {
    const file = join(cloud.tasks.reconcile, 'index.mjs');
    const clusters = join(cloud.tasks.reconcile, 'clusters.json');
    const whole = { ...cloud.aws.env('reconcile'), EVERWARM_CLUSTERS_FILE: clusters, ...env };
    await expect(startLambda(file, whole)).rejects.toThrow(`TerminalError: ${message}`);
  });
});

describe('the roles of the functions', () => {
  it.each(FUNCTIONS)('let %s do what it was seen to do, and nothing else', (name) => {
    const { allowed, needed } = roleOf(template, name, cloud.aws.calls);
    expect(allowed).toEqual(needed);
  });
});

async function isConverged(): Promise<boolean> {
  const read = await cloud.cluster.person.get(WARM_POOLS, { namespace: NAMESPACE, name: POOL });
  if (read.kind !== 'ok') return false;
  const status = read.value['status'] as { counts?: { ready: number; current: number } } | undefined;
  return status?.counts?.ready === 3 && status.counts.current === 3;
}

async function images(): Promise<readonly string[]> {
  const list = await cloud.cluster.person.list(DEPLOYMENTS, { namespace: NAMESPACE });
  if (list.kind !== 'ok') return [''];
  return list.value.items
    .filter(({ metadata }) => metadata.name.startsWith('instance-'))
    .map((item) => JSON.stringify(item['spec']).match(/registry\.example\.org\/ide:\d/)?.[0] ?? '');
}

/** Lets the schedule tick, far faster than in the cloud, until something is so. */
async function resyncUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await cloud.lambdas.resync.invoke({});
    await clock.sleep(TICK_MS);
  }
}
