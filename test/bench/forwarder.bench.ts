import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startLocalCluster } from '../../src/app/local-cluster.ts';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { APP_DEFINITIONS_V1BETA11, CONFIG_MAPS } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { startWebhookServer } from '../../src/transport/webhook-server.ts';
import type { Measure } from './measure.ts';

const POOLS = 200;
const CHANGES = 10_000;
const SECONDS = 10;
const NAMESPACE = 'theia';
const SECRET = Buffer.alloc(32, 7);

/** What 10,000 changes over 200 pools in ten seconds cost a forwarder that is a process of its own. */
interface Burst {
  readonly notices: number;
  readonly residentMb: number;
  readonly cpuMs: number;
}

let taken: Promise<Burst> | undefined;
const burst = (): Promise<Burst> => {
  taken ??= takeBurst();
  return taken;
};

async function takeBurst(): Promise<Burst> {
  const random = seededRandom(1);
  const crds = [fileURLToPath(new URL('../../src/app/crds', import.meta.url)), [WARM_POOL_CRD]];
  const cluster = await startLocalCluster({
    clock: systemClock,
    random,
    port: 0,
    readyAfterMs: 100,
    crds,
    namespaces: [NAMESPACE],
  });
  const told = new Map<string, number>();
  const door = await startWebhookServer({
    clock: systemClock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    secretOf: () => SECRET,
    accept: async ({ notice }) => void told.set(notice.subject, (told.get(notice.subject) ?? 0) + 1),
  });
  const folder = mkdtempSync(join(tmpdir(), 'everwarm-bench-'));
  await cluster.writeKubeconfig(join(folder, 'kubeconfig'), NAMESPACE);
  const child = await forward(folder, door.url);
  const admin = cluster.as('bench');
  for (let pool = 0; pool < POOLS; pool += 1) {
    const body = appDefinition(`pool-${pool}`, { minInstances: 1, maxInstances: 1 });
    const made = await admin.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, body);
    if (made.kind !== 'ok') throw new Error(made.message);
    const { apiVersion, kind, metadata } = made.value;
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
    const configMap = { metadata: { name: `instance-1-of-${pool}`, ownerReferences: [owner] }, data: {} };
    await admin.create(CONFIG_MAPS, NAMESPACE, configMap);
  }
  await settled(told);
  told.clear();
  const before = cpuMs(child);
  let residentMb = 0;
  const startedAt = performance.now();
  for (let change = 0; change < CHANGES; change += 1) {
    const place = { namespace: NAMESPACE, name: `instance-1-of-${change % POOLS}` };
    await admin.patch(CONFIG_MAPS, place, { type: 'merge', patch: { data: { change: String(change) } } });
    const aheadMs = (change * SECONDS * 1_000) / CHANGES - (performance.now() - startedAt);
    if (aheadMs > 5) await systemClock.sleep(aheadMs);
    if (change % 500 === 0) residentMb = Math.max(residentMb, residentIn(child));
  }
  await settled(told);
  const notices = [...told.values()].reduce((sum, count) => sum + count, 0);
  const figures = {
    notices,
    residentMb: Math.max(residentMb, residentIn(child)),
    cpuMs: cpuMs(child) - before,
  };
  if (told.size !== POOLS) throw new Error(`only ${told.size} of ${POOLS} pools were told of`);
  child.kill('SIGTERM');
  await door.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true });
  return figures;
}

/** As it runs in a pod: the image's own files, and the ServiceAccount from a folder. */
async function forward(folder: string, url: string): Promise<ChildProcess> {
  const path = (name: string) => join(folder, name);
  const { clusters, users } = JSON.parse(readFileSync(path('kubeconfig'), 'utf8'));
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const { hostname, port } = new URL(server);
  const write = (name: string, text: string) => writeFileSync(path(name), text);
  write('ca.crt', Buffer.from(ca, 'base64').toString());
  write('token', users[0].user.token);
  write('namespace', NAMESPACE);
  write('k1', `whsec_${SECRET.toString('base64')}`);
  const webhook = { url, key: 'k1', secretFile: path('k1') };
  const health = { host: '127.0.0.1', port: 0 };
  write('forward.json', JSON.stringify({ cluster: 'bench', namespaces: [NAMESPACE], webhook, health }));
  execFileSync(process.execPath, ['infra/image/context.ts', path('image')], { stdio: 'ignore' });
  const image = entryPoint(path('image'));
  const args = [...image.args, 'forward', '--config', path('forward.json'), '--json'];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...image.env,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      EVERWARM_SERVICE_ACCOUNT: folder,
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).type !== 'Ready') continue;
    child.stdout.resume();
    return child;
  }
  throw new Error('everwarm forward ended before it was ready');
}

/** What the Dockerfile says of the process, with its files where they are here. */
function entryPoint(context: string): {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
} {
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8');
  const [, ...args]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? '[]');
  const env = (/^ENV (.*)$/m.exec(text)?.[1] ?? '').split(' ').map((pair) => pair.split('='));
  return {
    args: args.map((arg) => arg.replace(/^\/everwarm/, join(context, 'everwarm'))),
    env: Object.fromEntries(env),
  };
}

/** Resolves when nothing more is told for longer than anything is held back. */
async function settled(told: ReadonlyMap<string, number>): Promise<void> {
  const sum = () => [...told.values()].reduce((all, count) => all + count, 0);
  for (let before = -1; before !== sum(); ) {
    before = sum();
    await systemClock.sleep(3_000);
  }
}

function residentIn({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** User and system time, in hundredths of a second as the kernel counts them. */
function cpuMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export const measures: readonly Measure[] = [
  {
    name: 'forwarder.burst.notices',
    unit: 'requests',
    // Of a pool that changes all the time one goes every two seconds, and one at the end.
    goal: { atMost: POOLS * (SECONDS / 2 + 1) },
    run: async () => (await burst()).notices,
  },
  {
    name: 'forwarder.burst.resident',
    unit: 'MB',
    goal: { atMost: 120 },
    run: async () => (await burst()).residentMb,
  },
  {
    name: 'forwarder.burst.cpu',
    unit: 'ms',
    goal: { atMost: 10_000 },
    run: async () => (await burst()).cpuMs,
  },
];
