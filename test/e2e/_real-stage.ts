import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { systemClock as clock } from '../../src/clock.ts';
import type { Outcome } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  LEASES,
  NAMESPACES,
  PODS,
} from '../../src/platform/theia-cloud/resources.ts';
import { createTheiaCloud } from '../../src/platform/theia-cloud/theia-cloud.ts';
import { WRITE_VERBS } from '../real-cluster/audit.ts';
import { apiOf, type RealAddress, wireOf } from '../real-cluster/cluster.ts';
import { startKubelet } from '../real-cluster/kubelet.ts';
import { createMirror } from '../real-cluster/mirror.ts';
import { READY_AFTER_MS, type Stage } from './_stage.ts';

const LOOK_EVERY_MS = 5;

/**
 * A namespace of a real API server that runs already. Who wrote what is read from its audit log: a write is known of a few
 * milliseconds after it was answered. The watch does not say whose a change is.
 */
export async function realStage(address: RealAddress, namespace: string): Promise<Stage> {
  const admin = apiOf(address, 'admin');
  const { watches } = createTheiaCloud({ mode: 'guard' });
  const others = watches
    .map(({ resource }) => resource)
    .filter(({ plural }) => plural !== APP_DEFINITIONS_V1BETA11.plural);
  const mirror = createMirror({
    api: admin,
    resources: [NAMESPACES, APP_DEFINITIONS_V1BETA11, PODS, LEASES, ...others],
  });
  const view = mirror.view(namespace);
  await mirror.ready;
  startKubelet(view, wireOf(address, 'admin'), { readyAfterMs: READY_AFTER_MS });
  return {
    follow: (listener) => void view.onCommit(listener),
    onWrite: (listener) => void followLog(address, namespace, listener),
    mayBeOurs: () => true,
    as: (user) => (user === 'person' ? admin : apiOf(address, 'operator')),
    kubeconfig: await readFile(address.users.controller.kubeconfig, 'utf8'),
  };
}

/** The namespace of a story. */
export async function makeNamespace(address: RealAddress, namespace: string): Promise<void> {
  const admin = apiOf(address, 'admin');
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const made: Outcome<unknown> = await admin.create(NAMESPACES, undefined, body);
  admin.close();
  if (made.kind !== 'ok') throw new Error(`namespace ${namespace}: ${made.kind} ${made.message}`);
}

interface Entry {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly namespace?: string };
  readonly responseStatus?: { readonly code?: number };
}

async function followLog(address: RealAddress, namespace: string, onWrite: () => void): Promise<void> {
  const file = openSync(address.auditLog, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let rest = '';
  process.once('exit', () => closeSync(file));
  for (;;) {
    const length = readSync(file, buffer);
    if (length === 0) {
      await clock.sleep(LOOK_EVERY_MS);
      continue;
    }
    const lines = `${rest}${buffer.toString('utf8', 0, length)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (isWrite(JSON.parse(line) as Entry)) onWrite();
  }

  function isWrite({ stage, verb, user, objectRef, responseStatus }: Entry): boolean {
    return (
      stage === 'ResponseComplete' &&
      WRITE_VERBS.has(verb) &&
      user.username === address.users.controller.name &&
      objectRef?.namespace === namespace &&
      objectRef.resource !== 'events' &&
      (responseStatus?.code ?? 500) < 300
    );
  }
}
