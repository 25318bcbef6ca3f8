import { readFileSync } from 'node:fs';
import { countResync, countWork, REQUEST_MS, type Work } from './_cost-counts.ts';

const PRICES = JSON.parse(read('aws/prices.json')) as Record<string, number> & {
  readonly region: string;
  readonly asOf: string;
  readonly source: string;
};

interface Case {
  readonly clusters: number;
  readonly pools: number;
  readonly everyMinutes: number;
}
const CASES: readonly Case[] = [
  { clusters: 1, pools: 3, everyMinutes: 1 },
  { clusters: 1, pools: 3, everyMinutes: 5 },
  { clusters: 20, pools: 20, everyMinutes: 1 },
  { clusters: 20, pools: 20, everyMinutes: 5 },
];

const DAYS = 30;
const MINUTES = DAYS * 24 * 60;
/** Each pool and day. */
const RELEASES = 1;
const USERS = 30;
/** Lambda asks each queue in five loops, each of which waits 20 s for a message. */
const POLLS = 2 * 5 * 3 * MINUTES;
const DOOR_SECONDS = 0.05;
const LOG_GB_PER_CALL = 1e-6;
/** As in serverless.yml: what looks at clusters has 1 GB, what only passes on half of it. */
const GB = { cluster: 1, door: 0.5 };

/** The monthly cost as a table for the docs, in Markdown: counted work times list prices. */
export async function costTable(): Promise<string> {
  const work = await countWork();
  const requests = new Map<number, number>();
  for (const pools of new Set(CASES.map(({ pools }) => pools))) requests.set(pools, await countResync(pools));
  const rows = CASES.map((one) => rowOf(one, work, requests.get(one.pools) ?? 0));
  return [
    '| clusters × pools | resync | functions | queues, bus, schedule | logs, metrics, alarms | keys, secrets | **a month** |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `List prices of ${PRICES.region} (${PRICES.asOf}; ${PRICES.source}).`,
    `A pool has ten instances, ${RELEASES} release and ${USERS} users a day. Counted: ${say(work.release, 'a release')};`,
    `${say(work.user, 'a user')}; a look at a cluster with ${[...requests].map(([pools, count]) => `${pools} pools is ${count} requests`).join(', with ')}.`,
    `Assumed: ${REQUEST_MS} ms a request, 1 kB of log a call, two secrets a cluster. Traffic and the forwarder's pod are not in it.`,
  ].join('\n');
}

function rowOf(
  { clusters, pools, everyMinutes }: Case,
  { release, user }: Record<'release' | 'user', Work>,
  requests: number,
): string {
  const ticks = MINUTES / everyMinutes;
  const monthly = (field: keyof Work) =>
    clusters * pools * DAYS * (RELEASES * release[field] + USERS * user[field]);
  const knocks = monthly('notices') + clusters * MINUTES;
  const passes = monthly('passes');
  // A pass is asked for later once at most.
  const calls = ticks + knocks + 2 * passes;
  // Clusters are looked at side by side.
  const gbSeconds =
    GB.cluster * (ticks * requests * (REQUEST_MS / 1_000) + monthly('seconds')) +
    GB.door * DOOR_SECONDS * (knocks + passes);
  const functions = calls * price('lambdaRequest') + gbSeconds * price('lambdaArmGbSecond');
  const queues =
    (3 * monthly('notices') + POLLS / 2) * price('sqsFifoRequest') +
    (3 * passes + POLLS / 2) * price('sqsRequest') +
    passes * price('busEvent') +
    ticks * price('schedulerInvocation');
  const seen =
    calls * LOG_GB_PER_CALL * price('logGb') +
    ALARMS * price('alarmMonth') +
    (METRICS.all + METRICS.perCluster * clusters) * price('metricMonth');
  const kept = price('keyMonth') + 2 * clusters * price('secretMonth');
  const cells = [functions, queues, seen, kept].map((dollars) => `$${dollars.toFixed(2)}`);
  const sum = functions + queues + seen + kept;
  return `| ${clusters} × ${pools} | ${everyMinutes} min | ${cells.join(' | ')} | **$${sum.toFixed(0)}** |`;
}

const ALARMS = [...read('aws/alarms.yml').matchAll(/Type: AWS::CloudWatch::Alarm/g)].length;
const METRICS = metrics();

/** Names that are counted, each once for all; and once more for each cluster where a cluster is said. */
function metrics(): { readonly all: number; readonly perCluster: number } {
  const all = [...read('../src/telemetry/metrics.ts').matchAll(/^ {2}\| '\w+'/gm)].length;
  const sources = ['accept.ts', 'passes.ts', 'resync.ts'].map((file) => read(`../src/app/functions/${file}`));
  const perCluster = [...sources.join('\n').matchAll(/metrics\.add\([^)]*cluster/g)].length;
  return { all, perCluster };
}

function price(name: string): number {
  const found = PRICES[name];
  if (found === undefined) throw new Error(`no price of ${name}`);
  return found;
}

function say({ notices, passes, requests, seconds }: Work, what: string): string {
  return `${what} is ${notices} notices, ${passes} passes, ${requests} requests and ${seconds.toFixed(0)} s of passes`;
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
