import type { SQSClient } from '@aws-sdk/client-sqs';
import { startLocalCluster } from '../../src/app/local-cluster.ts';
import { systemClock as clock, seededRandom, systemRandom } from '../../src/clock.ts';
import { planOnly, type ReconcileDeps, reconcile } from '../../src/controller/reconcile.ts';
import { resync } from '../../src/controller/resync.ts';
import { startForwarder } from '../../src/forwarder/main.ts';
import type { KubeApi, KubeObject, Outcome } from '../../src/kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS } from '../../src/platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { isEmpty } from '../../src/pool/plan.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';
import {
  appDefinition,
  installBaseObjects,
  RECORDED_SETTINGS,
} from '../../src/simulator/world/theia-install.ts';
import { triggerOf } from '../../src/transport/queue.ts';
import { createWebhookClient } from '../../src/transport/webhook-client.ts';
import { startWebhookServer } from '../../src/transport/webhook-server.ts';
import { KINDS, masked } from './_course.ts';
import { type LossyProxy, startLossyProxy } from './_lossy-proxy.ts';
import { startSqsPasses } from './_transports.ts';
import { poolKey, recordingLog, SECRET } from './_world.ts';

const KEY = poolKey();
const { cluster: CLUSTER, namespace: NAMESPACE, name: POOL } = KEY;
const RESYNC_MS = 3_000;
const LIMIT_MS = 240_000;
const image = (tag: string) => ({ image: `registry.example.org/ide/java-17:${tag}` });

export interface HttpOutcome {
  /** Every object, without what differs from run to run. */
  readonly state: readonly unknown[];
  /** Objects that one more pass changed. */
  readonly changedAfter: readonly string[];
  readonly fates: LossyProxy['counts'];
}

/** A pool, a release, a Deployment deleted by hand: over sockets and a queue, on a way that treats the notices as the seed has it. */
export async function playOverHttp(seed: number, sqs: SQSClient): Promise<HttpOutcome> {
  const { log } = recordingLog();
  // One seed for all clusters: the same names.
  const cluster = await startLocalCluster({
    clock,
    random: seededRandom(1),
    port: 0,
    readyAfterMs: 200,
    crds: [THEIA_CRDS, [WARM_POOL_CRD]],
    namespaces: [NAMESPACE],
  });
  const person = cluster.as('person');
  await installBaseObjects(person, { namespace: NAMESPACE });
  const definition = appDefinition(POOL, { minInstances: 2, ...image('1.0.0') });
  await agreed(person.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, definition));
  const { oAuth2ProxyImage } = RECORDED_SETTINGS;
  const platform = createTheiaCloud({ mode: 'guard', settings: RECORDED_SETTINGS, oAuth2ProxyImage });
  const deps = { api: cluster.everwarm, platform, clock, random: systemRandom, report: () => undefined };
  const passes = await startSqsPasses(sqs, (key) => reconcile(deps, key));
  const door = await startWebhookServer({
    clock,
    log,
    secretOf: () => SECRET,
    accept: ({ key, notice }) => passes.queue.add(key, triggerOf(notice)),
  });
  const proxy = await startLossyProxy(door.url, seededRandom(seed));
  const stopping = new AbortController();
  const { signal } = stopping;
  const url = `${proxy.url}/v1/notices/${CLUSTER}/k1`;
  const client = createWebhookClient({ url, secret: SECRET, clock, random: systemRandom, log, signal });
  const forwarder = startForwarder({
    ...deps,
    log,
    platforms: [platform],
    clusterId: CLUSTER,
    namespaces: [NAMESPACE],
    send: (notice) => client.send(notice),
  });
  const enqueue = (key: typeof KEY) => void passes.queue.add(key);
  const looking = (async () => {
    for (; !signal.aborted; await clock.sleep(RESYNC_MS, signal))
      await resync({ ...deps, cluster: CLUSTER, namespace: NAMESPACE, enqueue });
  })();
  try {
    await rest(deps);
    const release = { type: 'merge', patch: { spec: image('2.0.0') } } as const;
    await agreed(person.patch(APP_DEFINITIONS_V1BETA11, at(POOL), release));
    await rest(deps);
    const [first] = await listed(person, [DEPLOYMENTS]);
    await agreed(person.delete(DEPLOYMENTS, at(first?.metadata.name ?? ''), {}));
    await rest(deps);
    await proxy.redrive();
    await clock.sleep(1_000);
    await rest(deps);
    const before = await listed(person);
    await reconcile(deps, KEY);
    const after = await listed(person);
    const known = new Set(before.map(versionOf));
    const changedAfter = after.map(versionOf).filter((version) => !known.has(version));
    return { state: after.map(masked), changedAfter, fates: proxy.counts };
  } finally {
    stopping.abort();
    await looking;
    await forwarder.stop();
    await proxy.stop();
    await door.stop();
    await passes.stop();
    await cluster.stop();
  }
}

const at = (name: string) => ({ namespace: NAMESPACE, name });

async function agreed<T>(request: Promise<Outcome<T>>): Promise<T> {
  const outcome = await request;
  if (outcome.kind === 'ok') return outcome.value;
  throw new Error(`the server refused: ${outcome.message}`);
}

async function listed(api: KubeApi, kinds = KINDS): Promise<readonly KubeObject[]> {
  const lists = kinds.map(async (kind) => (await agreed(api.list(kind, { namespace: NAMESPACE }))).items);
  return (await Promise.all(lists)).flat();
}

function versionOf({ kind, metadata: { name, uid, resourceVersion } }: KubeObject): string {
  return `${kind}/${name} ${uid} ${resourceVersion}`;
}

/** Waits until nothing is left to do and nothing will be later; throws when that takes far too long. */
async function rest(deps: ReconcileDeps): Promise<void> {
  const end = clock.now() + LIMIT_MS;
  for (;;) {
    const look = await planOnly(deps, KEY);
    if (look !== undefined && isEmpty(look.plan) && look.plan.nextCheckAt === undefined) return;
    if (clock.now() > end) throw new Error(`not at rest: ${JSON.stringify(look?.plan)}`);
    await clock.sleep(200);
  }
}
