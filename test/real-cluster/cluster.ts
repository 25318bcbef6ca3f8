import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { makeIdentity } from '../../src/embedded/http/certificate.ts';
import { kubeconfigOf } from '../../src/embedded/http/kubeconfig.ts';
import { staticTokenCluster } from '../../src/kube/auth/static-token.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';
import { apiServer, CONTROLLERS, controllerManager, etcd, type Layout } from './_commands.ts';
import { createProcesses, type Processes } from './_processes.ts';
import { WRITE_VERBS } from './audit.ts';
import { findBinaries } from './build.ts';
import { createWire, type Wire } from './wire.ts';

export interface RealClusterOptions {
  /** Of the controller manager; none: it is not started (default: those that Everwarm's world needs). */
  readonly controllers?: readonly string[];
  readonly apiServerFlags?: readonly string[];
  readonly etcdFlags?: readonly string[];
  /** The audit log keeps the bodies of writes and of their answers. */
  readonly auditBodies?: boolean;
}

/** Somebody who is known to the server by a token. Nobody but the administrator has any rights at first. */
interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly token: string;
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
}

export type UserName = keyof typeof USERS;

/** What it takes to use a running cluster, from any process. */
export interface RealAddress {
  readonly server: string;
  readonly caPem: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly users: Readonly<Record<UserName, User>>;
  /** Path of the audit log: one JSON object a line, written before the request is answered. */
  readonly auditLog: string;
}

/** etcd, kube-apiserver and kube-controller-manager on the loopback address, ready for requests. */
export interface RealCluster extends RealAddress {
  /** Processor time that `etcd`, `kube-apiserver` or `kube-controller-manager` has used, ms. */
  cpuMs(program: string): number;
  /** Ends what was started, nothing else, and removes its files. */
  stop(): Promise<void>;
}

/** Everwarm's own client, as one of the users. */
export function apiOf({ server, caPem, users }: RealAddress, user: UserName): KubeClient {
  const cluster = staticTokenCluster({ server, ca: caPem, token: users[user].token });
  return createKubeApi({ cluster, clock: systemClock, random: systemRandom });
}

/** Plain requests, as one of the users. */
export function wireOf({ server, caPem, users }: RealAddress, user: UserName): Wire {
  return createWire({ server, caPem, token: users[user].token });
}

const USERS = {
  admin: { name: 'admin', groups: ['system:masters'] },
  controller: { name: 'everwarm:controller', groups: ['everwarm:controllers'] },
  operator: { name: 'everwarm:operator', groups: ['everwarm:operators'] },
  viewer: { name: 'everwarm:viewer', groups: ['everwarm:viewers'] },
  vendor: { name: 'vendor:theia', groups: ['vendors'] },
  nobody: { name: 'nobody', groups: ['nobodies'] },
} as const;

const READY_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 50;
/** Between finding a free port and listening on it somebody else may take it. */
const TRIES = 3;

/** Starts a fresh cluster. Throws where its programs are missing: see `findBinaries`. */
export async function startRealCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  for (let left = TRIES; ; left -= 1) {
    const attempt = await tryToStart(options);
    if (typeof attempt !== 'string') return attempt;
    if (left === 1 || !attempt.includes('address already in use')) throw new Error(attempt);
  }
}

/** The cluster, or why it did not come up. */
async function tryToStart(options: RealClusterOptions): Promise<RealCluster | string> {
  const binaries = findBinaries();
  if (binaries.kind === 'missing') throw new Error(binaries.reason);
  const [api = 0, etcdPort = 0, etcdPeer = 0] = await freePorts(3);
  const layout: Layout = {
    directory: mkdtempSync(join(tmpdir(), 'everwarm-real-')),
    pathOf: binaries.pathOf,
    ports: { api, etcd: etcdPort, etcdPeer },
    apiServerFlags: options.apiServerFlags ?? [],
    etcdFlags: options.etcdFlags ?? [],
    controllers: options.controllers ?? CONTROLLERS,
  };
  const { directory } = layout;
  const server = `https://127.0.0.1:${api}`;
  const address = writeFiles(directory, server, options.auditBodies === true);
  const processes = createProcesses(directory);
  processes.start(etcd(layout));
  processes.start(apiServer(layout));
  const admin = wireOf(address, 'admin');
  const problem =
    (await until(processes, () => isReady(admin))) ??
    (layout.controllers.length === 0 ? undefined : await startControllers(processes, layout, admin));
  admin.close();
  if (problem !== undefined) {
    await processes.stop();
    return problem;
  }
  return {
    ...address,
    cpuMs: (program) => processes.cpuMs(program),
    stop: () => processes.stop(),
  };
}

/** Keys, certificates, users and the audit policy. */
function writeFiles(directory: string, server: string, auditBodies: boolean): RealAddress {
  const write = (file: string, text: string): string => {
    const path = join(directory, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { caPem, certPem, keyPem } = makeIdentity();
  write('ca.crt', caPem);
  write('server.crt', certPem);
  write('server.key', keyPem);
  const account = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write('sa.key', account.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  write('sa.pub', account.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('audit-policy.json', JSON.stringify(auditPolicy(auditBodies)));
  const users = Object.fromEntries(
    Object.entries(USERS).map(([key, user]) => {
      const token = randomBytes(24).toString('base64url');
      const config = kubeconfigOf({ url: server, caPem, token, namespace: 'default' });
      return [key, { ...user, token, kubeconfig: write(`${key}.kubeconfig`, config) }];
    }),
  ) as unknown as Record<UserName, User>;
  const rows = Object.values(users).map(
    ({ name, groups, token }) => `${token},${name},uid-${name},"${groups.join(',')}"`,
  );
  write('tokens.csv', `${rows.join('\n')}\n`);
  const { kubeconfig } = users.admin;
  return { server, caPem, users, kubeconfig, auditLog: join(directory, 'audit.log') };
}

/** Who did what to which object and what came of it. */
function auditPolicy(hasBodies: boolean) {
  const verbs = [...WRITE_VERBS];
  const bodies = hasBodies ? [{ level: 'RequestResponse', verbs, omitManagedFields: true }] : [];
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [...bodies, { level: 'Metadata' }],
  };
}

async function isReady(admin: Wire): Promise<boolean> {
  const { status, text } = await admin.send('GET', '/readyz');
  return status === 200 && text === 'ok';
}

/** The controllers are at work when one of them has done something. */
async function startControllers(
  processes: Processes,
  layout: Layout,
  admin: Wire,
): Promise<string | undefined> {
  processes.start(controllerManager(layout));
  if (!layout.controllers.includes('serviceaccount-controller')) return undefined;
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  return await until(processes, async () => (await admin.send('GET', account)).status === 200);
}

async function until(processes: Processes, claim: () => Promise<boolean>): Promise<string | undefined> {
  const end = systemClock.now() + READY_WITHIN_MS;
  while (processes.trouble() === undefined) {
    if (await claim().catch(() => false)) return undefined;
    if (systemClock.now() > end) return `the real cluster is not ready after ${READY_WITHIN_MS} ms`;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  return processes.trouble();
}

/** Ports that nobody listens on now. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => resolve(server));
      });
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
