import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../../src/app/up.ts';
import { systemClock } from '../../src/clock.ts';
import type { KubeObject, Resource } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  HTTP_ROUTES,
} from '../../src/platform/theia-cloud/resources.ts';
import { slotViews } from '../../src/simulator/_slot-view.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { createUsers, sessionName } from '../../src/simulator/world/users.ts';
import { folder, run, start } from '../cli/_program.ts';
import { agreed, type Installation, NAMESPACE, startInstallation } from '../real/_installation.ts';
import { readAudit } from '../real-cluster/audit.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { FORWARDER, type Manifest, manifests } from './_chart.ts';
import { LOOP_RIGHTS, READ_RIGHTS, type Rights, WATCH_RIGHTS } from './_rights.ts';
import { single } from './_working-day.ts';
import { findHelm } from './helm.ts';

/** What Everwarm may do is what the chart grants, less what its policies refuse: enough for a day's work? */
beforeEach(({ skip }) => {
  const found = findHelm();
  if (found.kind === 'missing') skip(found.reason);
});

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const kind = (group: string, name: string, plural: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  kind: name,
  plural,
  namespaced,
});
const KINDS = new Map(
  [
    kind(RBAC, 'Role', 'roles', true),
    kind(RBAC, 'RoleBinding', 'rolebindings', true),
    kind(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
    kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
  ].map((resource) => [resource.kind, resource]),
);
const EVERYTHING = kind(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', false);
const OLD = 'registry.example.org/ide/java-17:1.0.0';
const NEW = 'registry.example.org/ide/java-17:2.0.0';

let installation: Installation | undefined;
let running: Running | undefined;
const home = folder();

beforeAll(async () => {
  if (findBinaries().kind === 'missing' || findHelm().kind === 'missing') return;
  installation = await startInstallation({ readyAfterMs: 300 });
  const { admin, cluster } = installation;
  await agreed(admin.delete(EVERYTHING, { name: 'everwarm' }, {}));
  const { controller, viewer, nobody } = cluster.users;
  const functions = { users: [controller.name] };
  const values = {
    ...FORWARDER,
    namespaces: [NAMESPACE],
    forwarder: { ...FORWARDER.forwarder, functions, readers: { users: [nobody.name] } },
  };
  for (const manifest of manifests(values)) {
    const resource = KINDS.get(manifest.kind);
    if (resource === undefined) continue;
    // Whoever runs as one pod watches and writes; a forwarder only watches.
    const given = manifest.metadata.name.endsWith('-watch')
      ? boundTo(manifest, [controller.name, viewer.name])
      : manifest;
    await agreed(admin.create(resource, manifest.metadata.namespace, given));
  }
  // The server looks for new policies about once a second.
  await systemClock.sleep(3_000);
});

afterAll(async () => {
  await installation?.stop();
  home.remove();
});

function boundTo(manifest: Manifest, users: readonly string[]): Manifest {
  if (manifest.kind !== 'RoleBinding') return manifest;
  return { ...manifest, subjects: users.map((name) => ({ apiGroup: RBAC, kind: 'User', name })) };
}

/** What one of them asked the server for, as `deployments: get`, and what it was refused. */
function askedBy(user: string): { readonly used: ReadonlySet<string>; readonly refused: readonly string[] } {
  const audit = readAudit(installation?.cluster.auditLog ?? '').filter((entry) => entry.user === user);
  const refused = audit.filter(({ code }) => code === 403 || code === 422);
  return {
    used: new Set(audit.map(({ resource, verb }) => `${resource}: ${verb}`)),
    refused: refused.map(({ verb, resource, code }) => `${verb} ${resource} ${code}`),
  };
}

/** As the server's log has them, which knows no groups. */
const ungrouped = (...rights: readonly Rights[]): readonly string[] => [
  ...new Set(rights.flatMap(single).map((right) => right.slice(right.indexOf('/') + 1))),
];

/**
 * Asked for on other days than this one, as rights-used.test.ts has it: an Event that is told again, a patch that came too late,
 * a quota, a Session that was not listed, a Service or a volume that is lost, a WarmPool that was there first.
 */
const RARE = new Set([
  ...['services', 'configmaps', 'persistentvolumeclaims', 'deployments'].map((plural) => `${plural}: get`),
  ...['persistentvolumeclaims', 'configmaps'].map((plural) => `${plural}: patch`),
  ...['services: create', 'persistentvolumeclaims: create', 'warmpools: patch'],
  ...['events: get', 'events: patch', 'sessions: get', 'resourcequotas: list'],
]);

it('a pool is filled, healed, renewed and made smaller with the chart’s roles and policies, and nothing is refused', async () => {
  if (installation === undefined) throw new Error('not installed');
  const { admin, cluster, operator, truth } = installation;
  const sidecar = { name: 'lsp', image: 'lsp:1', port: 5_000, languages: ['java'], mountWorkspace: true };
  const place = { namespace: NAMESPACE, name: 'java' };
  const change = async (spec: object): Promise<void> => {
    await agreed(admin.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'merge', patch: { spec } }));
  };
  await operator.start();
  const spec = { minInstances: 3, maxInstances: 10, image: OLD, sidecars: [sidecar] };
  await agreed(admin.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, appDefinition('java', spec)));
  running = await installation.up({ resyncMs: 5_000 });
  await installation.settled(running);

  const users = createUsers({ api: admin, namespace: NAMESPACE });
  await agreed(users.come('anna@example.org', 'java'));
  await systemClock.sleep(4_000);
  const session = sessionName('anna@example.org', 'java');
  const sessions = kind('theia.cloud', 'Session', 'sessions', true);
  const found = await admin.get({ ...sessions, version: 'v1beta8' }, { namespace: NAMESPACE, name: session });
  const uid = found.kind === 'ok' ? found.value.metadata.uid : undefined;
  await admin.delete(HTTP_ROUTES, { namespace: NAMESPACE, name: `${uid}-route` }, {});
  const [proxy] = await configMapsOf('instance-1-proxy');
  await admin.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: proxy?.metadata.name ?? '' }, {});
  await systemClock.sleep(10_000);

  await change({ image: NEW });
  await installation.settled(running);
  await agreed(users.go('anna@example.org', 'java'));
  await systemClock.sleep(3_000);
  await installation.settled(running);
  await change({ minInstances: 2 });
  await installation.settled(running);

  const slots = slotViews(truth, 'java').filter(({ target }) => target);
  expect(slots.map(({ image, ready, claimable }) => ({ image, ready, claimable }))).toEqual(
    Array.from({ length: 2 }, () => ({ image: NEW, ready: true, claimable: true })),
  );
  const { used, refused } = askedBy(cluster.users.controller.name);
  expect([...new Set(refused)]).toEqual([]);
  const given = ungrouped(LOOP_RIGHTS, WATCH_RIGHTS);
  expect([...used].filter((right) => !given.includes(right))).toEqual([]);
  // A watch is in the log when it ends.
  expect(given.filter((right) => !used.has(right) && !RARE.has(right) && !right.endsWith(': watch'))).toEqual(
    [],
  );

  async function configMapsOf(prefix: string): Promise<readonly KubeObject[]> {
    const listed = await admin.list(CONFIG_MAPS, { namespace: NAMESPACE });
    return listed.kind === 'ok'
      ? listed.value.items.filter(({ metadata }) => metadata.name.startsWith(prefix))
      : [];
  }
});

describe('on the same server', () => {
  it('a forwarder watches with the right to watch, all of it, and asks for nothing else', async () => {
    if (installation === undefined) throw new Error('not installed');
    const { viewer } = installation.cluster.users;
    const secretFile = join(home.path, 'k1');
    writeFileSync(secretFile, `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`);
    const file = join(home.path, 'forward.yaml');
    const webhook = { url: 'http://127.0.0.1:9', key: 'k1', secretFile };
    const health = { host: '127.0.0.1', port: 0 };
    const config = { cluster: 'prod', namespaces: [NAMESPACE], webhook, health, drainSeconds: 0 };
    writeFileSync(file, JSON.stringify(config));
    const args = ['forward', '--config', file, '--kubeconfig', viewer.kubeconfig, '--json'];
    const forward = start(home.path, args);
    await forward.line(({ type }) => type === 'Ready');
    await systemClock.sleep(2_000);
    expect((await forward.end()).code).toBe(0);
    const { used, refused } = askedBy(viewer.name);
    expect(refused).toEqual([]);
    expect([...used].sort()).toEqual([...ungrouped(WATCH_RIGHTS)].sort());
  });

  it('who only looks sees the pool with the right to read, and asks for nothing else', async () => {
    if (installation === undefined) throw new Error('not installed');
    const { nobody } = installation.cluster.users;
    for (const command of [['status'], ['plan', 'java']]) {
      const args = [...command, '--kubeconfig', nobody.kubeconfig, '-n', NAMESPACE];
      const { out, err } = await run(home.path, args);
      expect({ err, out }).toEqual({ err: '', out: expect.stringContaining('java') });
    }
    const { used, refused } = askedBy(nobody.name);
    expect(refused).toEqual([]);
    const given = ungrouped(READ_RIGHTS);
    expect([...used].filter((right) => !given.includes(right))).toEqual([]);
    expect(given.filter((right) => !used.has(right) && !RARE.has(right))).toEqual([]);
  });
});
