import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifact, bundleFunctions } from '../../infra/bundle.ts';
import { systemClock as clock } from '../../src/clock.ts';
import { RECORDED_SETTINGS } from '../../src/simulator/world/theia-install.ts';
import { start } from '../cli/_program.ts';
import { type Aws, startAws } from '../functions/_aws.ts';
import { FUNCTIONS, type FunctionName, failedIn } from '../functions/_cloud.ts';
import { sqsEvent } from '../functions/_events.ts';
import { type Lambda, startLambda, unzip } from '../functions/_lambda.ts';
import type { RealAddress } from '../real-cluster/cluster.ts';
import { startMapping } from '../transport/_mapping.ts';
import { SECRET_TEXT } from '../transport/_world.ts';
import { type Child, type Kept, keepUp, type Running, startChild } from './_child.ts';
import { type FunctionUrl, startUrl } from './_url.ts';
import { CLUSTER, NAMESPACE, type Question, type State } from './_words.ts';

/** Processes that a run may lose. */
export const VICTIMS = ['forwarder', 'sqs', 'api-server', 'reconcile', 'webhook'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The packaged functions, unpacked: made once for all runs. */
export interface Packages {
  readonly tasks: Readonly<Record<FunctionName, string>>;
  remove(): Promise<void>;
}

export async function makePackages(): Promise<Packages> {
  const directory = await mkdtemp(join(tmpdir(), 'everwarm-e2e-'));
  const clustersFile = await writeClusters(directory, NAMESPACE);
  const artifacts = await bundleFunctions({ clustersFile, directory: join(directory, 'zips') });
  const unpack = async ({ name, file }: Artifact) => [name, await unzip(file)] as const;
  const unpacked = await Promise.all(artifacts.map(unpack));
  const tasks = Object.fromEntries(unpacked.map(([name, task]) => [name, task.directory]));
  return {
    // One artifact for each name.
    tasks: tasks as Record<FunctionName, string>,
    async remove() {
      await Promise.all(unpacked.map(([, task]) => task.remove()));
      await rm(directory, { recursive: true });
    },
  };
}

async function writeClusters(directory: string, namespace: string): Promise<string> {
  const platforms = {
    'theia-cloud': { namespaces: [namespace], mode: 'guard', settings: RECORDED_SETTINGS },
  };
  const auth = { kind: 'kubeconfig', secret: 'everwarm/dev/cluster' };
  const clusters = [{ id: CLUSTER, auth, signingKeys: 'everwarm/dev/forwarder', platforms }];
  const clustersFile = join(directory, 'clusters.json');
  await writeFile(clustersFile, JSON.stringify({ clusters }));
  return clustersFile;
}

/** Where a story is told. */
export interface Place {
  readonly packages: Packages;
  readonly namespace: string;
  /** A real API server that runs already; without it, the story has an embedded one of its own. */
  readonly real?: RealAddress;
}

/**
 * Everything of an installation that is split between a cluster and AWS, each part in a process of its own. This process is
 * what AWS keeps up: the function URL, the mappings from queues to functions, the schedule, the account's other services.
 */
export interface Scene {
  readonly aws: Aws;
  readonly url: FunctionUrl;
  invoke(name: FunctionName, event: unknown, remainingMs?: number): Promise<unknown>;
  /** While it is so, no message gets to `reconcile`, as with a reserved concurrency of 0. */
  throttle(isSo: boolean): void;
  /** What a function wrote since it was last started. */
  output(name: FunctionName): Promise<string>;
  ask(question: Question): Promise<unknown>;
  state(): Promise<State>;
  pid(victim: Victim): Promise<number>;
  deaths(victim: Victim): number;
  stop(): Promise<void>;
}

export async function startScene(place: Place, losesEvery = 0): Promise<Scene> {
  const ends: (() => unknown)[] = [];
  const kept = async <T extends Running>(start: () => Promise<T>): Promise<Kept<T>> => {
    const one = await keepUp(start);
    ends.push(() => one.stop());
    return one;
  };
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    return { ...(await raise({ place, losesEvery, kept, ends })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Raising {
  readonly place: Place;
  readonly losesEvery: number;
  readonly kept: <T extends Running>(start: () => Promise<T>) => Promise<Kept<T>>;
  /** What ends what was started, in the order in which it was. */
  readonly ends: (() => unknown)[];
}

async function raise(raising: Raising): Promise<Omit<Scene, 'stop'>> {
  const { place, losesEvery, kept, ends } = raising;
  const directory = await mkdtemp(join(tmpdir(), 'everwarm-e2e-'));
  ends.push(() => rm(directory, { recursive: true }));
  const { cluster, front, config } = await raiseCluster(raising, directory);
  const { sqs, aws, lambdas } = await raiseFunctions(raising, directory, config);
  const invoke: Scene['invoke'] = async (name, event, remainingMs) =>
    (await lambdas[name].up()).invoke(event, remainingMs);
  const url = await startUrl(() => lambdas.webhook.up(), losesEvery);
  ends.push(() => url.stop());
  const throttle = connect(raising, aws, invoke);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, config);
  const forwarder = await kept(() =>
    startForwarder({ directory, namespace: place.namespace, url: url.url, kubeconfig }),
  );
  const victims: Readonly<Record<Victim, Kept<Running>>> = {
    forwarder,
    sqs,
    'api-server': front,
    reconcile: lambdas.reconcile,
    webhook: lambdas.webhook,
  };
  return {
    aws,
    url,
    invoke,
    throttle,
    output: async (name) => (await lambdas[name].up()).output(),
    ask: (question) => cluster.ask(question),
    state: async () => (await cluster.ask({ ask: 'state' })) as State,
    pid: async (victim) => (await victims[victim].up()).pid,
    deaths: (victim) => victims[victim].deaths(),
  };
}

/** The cluster, the way to it, and a kubeconfig that takes that way. */
async function raiseCluster({ place, kept, ends }: Raising, directory: string) {
  const { namespace, real } = place;
  const address = real === undefined ? [] : [JSON.stringify(real)];
  const cluster = await startChild('_cluster-process.ts', directory, namespace, ...address);
  ends.push(() => cluster.stop());
  const config = JSON.parse(cluster.value) as { clusters: { cluster: { server: string } }[] };
  const target = new URL(config.clusters[0]?.cluster.server ?? '').port;
  const front = await kept(onItsPort('_front-process.ts', (port) => [target, port]));
  const server = `https://127.0.0.1:${(await front.up()).value}`;
  for (const one of config.clusters) one.cluster.server = server;
  return { cluster, front, config: JSON.stringify(config) };
}

/** SQS, the account around it, and the functions with what they find there. */
async function raiseFunctions({ place, kept, ends }: Raising, directory: string, kubeconfig: string) {
  const sqs = await kept(onItsPort('_sqs-process.ts', (port) => [port]));
  const aws = await startAws({ sqsAddress: (await sqs.up()).value });
  ends.push(() => aws.stop());
  aws.secrets.set('everwarm/dev/cluster', kubeconfig);
  aws.secrets.set('everwarm/dev/forwarder', JSON.stringify({ keys: { k1: SECRET_TEXT } }));
  const clustersFile = await writeClusters(directory, place.namespace);
  const entries = await Promise.all(
    FUNCTIONS.map(async (name) => {
      const file = join(place.packages.tasks[name], 'index.mjs');
      const env = { ...aws.env(name), EVERWARM_CLUSTERS_FILE: clustersFile };
      return [name, await kept(() => startLambda(file, env))] as const;
    }),
  );
  // One for each name.
  const lambdas = Object.fromEntries(entries) as Record<FunctionName, Kept<Lambda>>;
  return { sqs, aws, lambdas };
}

/** Lets the queues' messages go to their functions; the returned function holds those for `reconcile` back, or lets them go. */
function connect({ ends }: Raising, aws: Aws, invoke: Scene['invoke']): Scene['throttle'] {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const handTo =
    (name: FunctionName) =>
    async (records: Parameters<typeof sqsEvent>[0]): Promise<readonly string[]> => {
      if (name === 'reconcile') await gate.promise;
      return failedIn(await invoke(name, sqsEvent(records)));
    };
  const mappings = [
    startMapping(aws.sqs, aws.queueUrl, handTo('reconcile'), { outages: true }),
    startMapping(aws.sqs, aws.laterUrl, handTo('later'), { outages: true }),
  ];
  ends.push(() => {
    gate.resolve();
    return Promise.all(mappings.map((mapping) => mapping.stop()));
  });
  return (isSo) => {
    if (isSo) gate = Promise.withResolvers<void>();
    else gate.resolve();
  };
}

/** Starts a process that listens; once it has a port it keeps it, whatever becomes of it. */
function onItsPort(file: string, argsOf: (port: string) => readonly string[]): () => Promise<Child> {
  let port = '0';
  return async () => {
    const child = await startChild(file, ...argsOf(port));
    port = /\d+$/.exec(child.value)?.[0] ?? '0';
    return child;
  };
}

/** The real program, telling the function URL. Resolves when it watches. */
async function startForwarder(where: {
  readonly directory: string;
  readonly namespace: string;
  readonly url: string;
  readonly kubeconfig: string;
}): Promise<Running> {
  const { directory, namespace, url, kubeconfig } = where;
  const file = join(directory, 'forward.json');
  const secretFile = join(directory, 'k1');
  await writeFile(secretFile, SECRET_TEXT);
  await writeFile(
    file,
    JSON.stringify({
      cluster: CLUSTER,
      namespaces: [namespace],
      webhook: { url, key: 'k1', secretFile },
      health: { host: '127.0.0.1', port: 0 },
      heartbeatSeconds: 1,
      drainSeconds: 0,
    }),
  );
  const args = ['forward', '--config', file, '--kubeconfig', kubeconfig, '--json'];
  const { pid, ended, end, line } = start(directory, args);
  await line(({ type }) => type === 'Ready');
  return { pid, ended, stop: () => end('SIGKILL') };
}

/** Asks again until it is so; `false` when it was not within `limitMs`. */
export async function within(limitMs: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const end = clock.now() + limitMs;
  while (!(await isSo())) {
    if (clock.now() > end) return false;
    await clock.sleep(100);
  }
  return true;
}
