import { AsyncLocalStorage } from 'node:async_hooks';
import { inject } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Resource } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  HTTP_ROUTES,
  LEASES,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
} from '../../src/platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { apiOf, type RealAddress, wireOf } from '../real-cluster/cluster.ts';
import { createMirror, type Mirror } from '../real-cluster/mirror.ts';
import type { Wire } from '../real-cluster/wire.ts';
import { createSyncSend, type SyncSend } from './_sync.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The cluster of this run, or why there is none. */
    realCluster: RealAddress | string;
  }
}

/** What all stories of one process share. */
export interface Stage {
  readonly mirror: Mirror;
  readonly send: SyncSend;
  readonly wire: Wire;
  readonly adminApi: KubeClient;
  readonly controllerApi: KubeClient;
  readonly operatorApi: KubeClient;
}

let stage: Promise<Stage> | undefined;

/** The cluster of this run, connected on first use. */
export function theCluster(): Promise<Stage> {
  stage ??= connect();
  return stage;
}

/** Worlds of one process begin so far apart: what they have to do at first would meet otherwise. */
const APART_MS = 1_500;
let turns: Promise<void> = Promise.resolve();

/** Resolves when one more world may begin. */
export function myTurn(): Promise<void> {
  const turn = turns;
  turns = turn.then(() => systemClock.sleep(APART_MS));
  return turn;
}

async function connect(): Promise<Stage> {
  const address = inject('realCluster');
  if (typeof address === 'string') throw new Error(address);
  const adminApi = apiOf(address, 'admin');
  const { watches } = createTheiaCloud({ mode: 'guard' });
  const resources: Resource[] = [
    ...[NAMESPACES, APP_DEFINITIONS_V1BETA11, PODS, LEASES],
    ...[PERSISTENT_VOLUME_CLAIMS, HTTP_ROUTES],
  ];
  for (const { resource } of watches)
    if (!resources.some(({ plural }) => plural === resource.plural)) resources.push(resource);
  const mirror = createMirror({ api: adminApi, resources });
  await mirror.ready;
  return {
    mirror,
    adminApi,
    send: createSyncSend({ ...address, token: address.users.admin.token }),
    wire: wireOf(address, 'admin'),
    controllerApi: apiOf(address, 'controller'),
    operatorApi: apiOf(address, 'operator'),
  };
}

const tests = new AsyncLocalStorage<(() => Promise<void>)[]>();

/** Runs a test, and afterwards what was left to be done at its end, whatever became of it. */
export async function withEnd(run: () => Promise<void>): Promise<void> {
  const ends: (() => Promise<void>)[] = [];
  try {
    await tests.run(ends, run);
  } finally {
    for (const end of ends) await end();
  }
}

/** Leaves `end` to be done when the test that is running is over. */
export function atTheEnd(end: () => Promise<void>): void {
  const ends = tests.getStore();
  if (ends === undefined) throw new Error('a world of a real cluster belongs to a test');
  ends.push(end);
}
