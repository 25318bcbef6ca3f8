import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { seededRandom, systemClock } from '../../src/clock.ts';
import type { KubeApi, KubeObject, Outcome } from '../../src/kube/api.ts';
import { kubeconfigCluster } from '../../src/kube/auth/kubeconfig.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import type { Measure } from './measure.ts';

const POOLS = 20;
const SIZE = 10;

interface Up {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly process: ChildProcess;
}

/** A real `everwarm up` on an empty world, and a client of its API server. */
async function up(): Promise<Up> {
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'everwarm-bench-')), 'kubeconfig');
  const args = ['src/cli/main.ts', 'up', '--world', 'empty', '--json', '--ready-after', '100ms'];
  const child = spawn(process.execPath, [...args, '--kubeconfig-out', kubeconfig], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { type, namespace } = JSON.parse(line);
    if (type !== 'Ready') continue;
    child.stdout.resume();
    const cluster = await kubeconfigCluster({ file: kubeconfig });
    const api = createKubeApi({ cluster, clock: systemClock, random: seededRandom(1) });
    return { api, namespace, process: child };
  }
  throw new Error('everwarm up ended before it was ready');
}

async function fill({ api, namespace }: Up, pools: number): Promise<void> {
  for (let at = 1; at <= pools; at += 1) {
    const body = appDefinition(`pool-${at}`, { minInstances: SIZE, maxInstances: SIZE });
    sure(
      await api.create(APP_DEFINITIONS_V1BETA11, namespace, {
        ...body,
        metadata: { ...body.metadata, namespace },
      }),
    );
  }
  await until(async () => {
    const { items } = sure(await api.list(WARM_POOLS, { namespace }));
    return items.length === pools && items.every((pool) => readyIn(pool) === SIZE);
  });
}

/** Resident memory with 20 pools of 10 at rest: cluster, kubelet, forwarder and loop in one process. */
async function residentMb(): Promise<number> {
  const world = await up();
  try {
    await fill(world, POOLS);
    const status = readFileSync(`/proc/${world.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  } finally {
    world.process.kill('SIGTERM');
  }
}

/** From a Deployment's deletion to its re-creation, the forwarder's debounce (250 ms; deletions go at once) included. */
async function replacedMs(): Promise<number> {
  const world = await up();
  const { api, namespace } = world;
  try {
    await fill(world, 1);
    const [victim] = sure(await api.list(DEPLOYMENTS, { namespace })).items;
    if (victim === undefined) throw new Error('there is no Deployment');
    const place = { namespace, name: victim.metadata.name };
    const startedAt = performance.now();
    sure(await api.delete(DEPLOYMENTS, place, { propagation: 'Background' }));
    await until(async () => {
      const found = await api.get(DEPLOYMENTS, place);
      return found.kind === 'ok' && found.value.metadata.uid !== victim.metadata.uid;
    });
    return performance.now() - startedAt;
  } finally {
    world.process.kill('SIGTERM');
  }
}

async function until(claim: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 6_000; look += 1) {
    if (await claim()) return;
    await systemClock.sleep(10);
  }
  throw new Error('it did not come about within a minute');
}

function readyIn(pool: KubeObject): number | undefined {
  const { status } = pool as unknown as { status?: { counts?: { ready?: number } } };
  return status?.counts?.ready;
}

function sure<T>(outcome: Outcome<T>): T {
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  return outcome.value;
}

export const measures: readonly Measure[] = [
  { name: 'up.20-pools-of-10.resident', unit: 'MB', goal: { atMost: 250 }, run: residentMb },
  { name: 'up.deleted-to-recreated', unit: 'ms', goal: { atMost: 750 }, run: replacedMs },
];
