import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifact, bundleFunctions } from '../../infra/bundle.ts';
import { startMapping } from '../transport/_mapping.ts';
import { SECRET_TEXT } from '../transport/_world.ts';
import { type Aws, startAws } from './_aws.ts';
import { NAMESPACE, SETTINGS, startCluster, startSilence } from './_cluster.ts';
import { sqsEvent } from './_events.ts';
import { type Lambda, startLambda, unzip } from './_lambda.ts';

export type FunctionName = 'webhook' | 'ingest' | 'reconcile' | 'later' | 'resync' | 'invoke';
export const FUNCTIONS: readonly FunctionName[] = [
  'webhook',
  'ingest',
  'reconcile',
  'later',
  'resync',
  'invoke',
];

/** Planted in every secret that a function can see; it must never be seen again. */
const CANARY = 'canary';

/** The packaged functions, each in its process, with an account and a cluster around them. */
export interface Cloud {
  readonly aws: Aws;
  readonly artifacts: readonly Artifact[];
  readonly cluster: Awaited<ReturnType<typeof startCluster>>;
  /** The cluster `gone`. */
  readonly silence: { stop(): void };
  readonly lambdas: Readonly<Record<FunctionName, Lambda>>;
  /** Where each function was unpacked. */
  readonly tasks: Readonly<Record<FunctionName, string>>;
  /** Lets the queues' messages go to the functions, as their event source mappings do. */
  connect(): void;
  stop(): Promise<void>;
}

/** `course` is a cluster; `gone` is configured as well, and takes connections without ever answering. */
export async function startCloud(): Promise<Cloud> {
  const directory = await mkdtemp(join(tmpdir(), 'everwarm-cloud-'));
  const [aws, cluster, silence] = await Promise.all([startAws(), startCluster(), startSilence()]);
  const platforms = { 'theia-cloud': { namespaces: [NAMESPACE], mode: 'guard', settings: SETTINGS } };
  const clusters = [
    {
      id: 'course',
      auth: { kind: 'kubeconfig', secret: 'everwarm/dev/course' },
      signingKeys: 'everwarm/dev/forwarder',
      platforms,
    },
    {
      id: 'gone',
      server: silence.url,
      auth: { kind: 'serviceAccount', secret: 'everwarm/dev/gone' },
      platforms,
    },
  ];
  aws.secrets.set('everwarm/dev/course', cluster.kubeconfig);
  aws.secrets.set('everwarm/dev/gone', `${CANARY}-token`);
  aws.secrets.set('everwarm/dev/forwarder', JSON.stringify({ keys: { k1: SECRET_TEXT } }));
  const clustersFile = join(directory, 'clusters.json');
  await writeFile(clustersFile, JSON.stringify({ clusters }));
  const artifacts = await bundleFunctions({ clustersFile, directory: join(directory, 'zips') });
  const removals = [() => rm(directory, { recursive: true })];
  const entries = await Promise.all(
    artifacts.map(async ({ name, file }) => {
      const task = await unzip(file);
      removals.push(() => task.remove());
      const env = { ...aws.env(name), EVERWARM_CLUSTERS_FILE: join(task.directory, 'clusters.json') };
      return [name, await startLambda(join(task.directory, 'index.mjs'), env), task.directory] as const;
    }),
  );
  // One artifact for each name.
  const lambdas = Object.fromEntries(entries.map(([name, lambda]) => [name, lambda])) as Record<
    FunctionName,
    Lambda
  >;
  const tasks = Object.fromEntries(entries.map(([name, , task]) => [name, task])) as Record<
    FunctionName,
    string
  >;
  const mappings: ReturnType<typeof startMapping>[] = [];
  const handOver = (lambda: Lambda) => async (records: Parameters<typeof sqsEvent>[0]) =>
    failedIn(await lambda.invoke(sqsEvent(records)));
  return {
    aws,
    artifacts,
    cluster,
    silence,
    lambdas,
    tasks,
    connect() {
      mappings.push(startMapping(aws.sqs, aws.queueUrl, handOver(lambdas.reconcile)));
      mappings.push(startMapping(aws.sqs, aws.laterUrl, handOver(lambdas.later)));
    },
    async stop() {
      await Promise.all(mappings.map((mapping) => mapping.stop()));
      await Promise.all(Object.values(lambdas).map((lambda) => lambda.stop()));
      silence.stop();
      await cluster.cluster.stop();
      await aws.stop();
      for (const remove of removals) await remove();
    },
  };
}

/** The ids that a function says must come again. */
export function failedIn(result: unknown): readonly string[] {
  const { batchItemFailures } = result as { batchItemFailures: { itemIdentifier: string }[] };
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}
