import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createWebhook } from '../../src/app/functions/webhook.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { leapingClock } from '../kube/_leaping-clock.ts';
import { SECRET_TEXT } from '../transport/_world.ts';
import { type Aws, startAws } from './_aws.ts';
import { CANARY, headersOf, type Knock, knock } from './_knocks.ts';

export interface FuzzOptions {
  readonly runs: number;
  /** The same seed, the same knocks. */
  readonly seed: number;
  /** Told now and then how many knocks there have been. */
  readonly onProgress?: (done: number) => void;
}

/** What became of all knocks. */
export interface Fuzzed {
  /** How many were answered how: `202 signed`. */
  readonly answers: Readonly<Record<string, number>>;
  /** Connections that were made to the cluster's API server. */
  readonly clusterConnections: number;
  /** Keys that were put into the queue. */
  readonly enqueued: number;
  /** Everything else that AWS was asked for, each once. */
  readonly otherCalls: readonly string[];
  /** Messages that nobody could read, in the queues for them. */
  readonly dead: number;
}

/** A seed stands for so many knocks: a long run says how far it is, and a failure is found again without all before it. */
const ROUND = 10_000;
/** The part of the signing secret that no text may hold. */
const SECRET_PART = SECRET_TEXT.slice('whsec_'.length, 16);

/** Knocks at the door of the function, as often as asked. Rejects with the smallest knock that was answered wrongly or told a secret. */
export async function fuzz({ runs, seed, onProgress }: FuzzOptions): Promise<Fuzzed> {
  const stage = await openStage();
  try {
    for (let done = 0; done < runs; done += ROUND) {
      const numRuns = Math.min(ROUND, runs - done);
      await fc.assert(fc.asyncProperty(knock, stage.knockOnce), { numRuns, seed: seed + done / ROUND });
      onProgress?.(done + numRuns);
    }
    return await stage.result();
  } finally {
    await stage.close();
  }
}

async function openStage() {
  const [aws, cluster] = await Promise.all([startAws(), startCluster()]);
  const directory = mkdtempSync(join(tmpdir(), 'everwarm-fuzz-'));
  aws.secrets.set('everwarm/dev/forwarder', JSON.stringify({ keys: { k1: SECRET_TEXT } }));
  aws.secrets.set('everwarm/dev/prod', `${CANARY}-token`);
  const clusters = [
    {
      id: 'prod',
      server: cluster.url,
      auth: { kind: 'serviceAccount', secret: 'everwarm/dev/prod' },
      signingKeys: 'everwarm/dev/forwarder',
      platforms: { 'theia-cloud': { namespaces: ['ide'] } },
    },
  ];
  const clustersFile = join(directory, 'clusters.json');
  writeFileSync(clustersFile, JSON.stringify({ clusters }));
  const env = aws.env('webhook');
  Object.assign(process.env, env);
  const told: string[] = [];
  const clock = leapingClock();
  const write = (line: string) => void told.push(line);
  const log = createLog({ clock, format: 'json', write });
  const metrics = createMetrics({ clock, namespace: 'Everwarm/dev', write });
  const config = { clustersFile, queueUrl: env['EVERWARM_QUEUE_URL'] ?? '' };
  const answer = createWebhook(config, { clock, random: () => 0.5, log, metrics });
  const answers: Record<string, number> = {};
  return {
    async knockOnce(given: Knock): Promise<void> {
      told.length = 0;
      const { text: body } = given;
      const request = { rawPath: '/v1/notices/prod/k1', method: 'POST', headers: headersOf(given), body };
      const reply = await answer({ ...request, isBase64Encoded: false });
      judge(given, reply, told);
      const name = `${reply.status} ${given.how === 'right' ? 'signed' : 'not signed'}`;
      answers[name] = (answers[name] ?? 0) + 1;
    },
    result: async (): Promise<Fuzzed> => ({
      answers,
      clusterConnections: cluster.connections(),
      ...countCalls(aws),
      dead: await aws.dead(),
    }),
    async close(): Promise<void> {
      rmSync(directory, { recursive: true });
      cluster.stop();
      await aws.stop();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Throws when a knock was let in or refused wrongly, or when anybody was told what is nobody's business. */
function judge(given: Knock, reply: Answer, told: readonly string[]): void {
  const isTooLarge = Buffer.byteLength(given.text) > 20_000;
  const allowed = isTooLarge ? [413] : given.how === 'right' ? [202, 400, 401] : [401];
  check(allowed.includes(reply.status), `${given.how}: ${reply.status} ${reply.body}`);
  const isReplay = reply.status === 401 && given.how === 'right';
  check(!isReplay || reply.body.includes('replayed'), `refused though rightly signed: ${reply.body}`);
  check(reply.body.length < 200, 'the answer is long');
  for (const text of [reply.body, ...told]) {
    check(!text.includes(CANARY) && !text.includes(SECRET_PART), `tells what it must not: ${text}`);
  }
  // Nothing in a request breaks out of its line.
  check(
    told.every((line) => line.indexOf('\n') === line.length - 1),
    'a line that is two',
  );
}

function check(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

function countCalls({ calls }: Aws): Pick<Fuzzed, 'enqueued' | 'otherCalls'> {
  const others = calls.filter(({ action }) => action !== 'sqs:SendMessage');
  return {
    enqueued: calls.length - others.length,
    otherCalls: [...new Set(others.map(({ action, resource }) => `${action} ${resource}`))].sort(),
  };
}

/** Where an API server would be: counts who comes. */
async function startCluster() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, connections: () => connections, stop: () => void server.close() };
}
