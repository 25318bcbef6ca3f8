import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
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
import { agreed, type Installation, NAMESPACE, startInstallation } from '../real/_installation.ts';
import { readAudit } from '../real-cluster/audit.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { FORWARDER, type Manifest, manifests } from './_chart.ts';
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

beforeAll(async () => {
  if (findBinaries().kind === 'missing' || findHelm().kind === 'missing') return;
  installation = await startInstallation({ readyAfterMs: 300 });
  const { admin, cluster } = installation;
  await agreed(admin.delete(EVERYTHING, { name: 'everwarm' }, {}));
  const writer = cluster.users.controller.name;
  const values = {
    ...FORWARDER,
    namespaces: [NAMESPACE],
    forwarder: { ...FORWARDER.forwarder, functions: { users: [writer] } },
  };
  for (const manifest of manifests(values)) {
    const resource = KINDS.get(manifest.kind);
    // One process watches and writes here: it is bound to both roles.
    if (resource !== undefined)
      await agreed(admin.create(resource, manifest.metadata.namespace, asOne(manifest, writer)));
  }
  // The server looks for new policies about once a second.
  await systemClock.sleep(3_000);
});

afterAll(async () => {
  await installation?.stop();
});

function asOne(manifest: Manifest, user: string): Manifest {
  if (manifest.kind !== 'RoleBinding') return manifest;
  return { ...manifest, subjects: [{ apiGroup: RBAC, kind: 'User', name: user }] };
}

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
  const running = await installation.up({ resyncMs: 5_000 });
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
  const ours = readAudit(cluster.auditLog).filter(({ user }) => user === cluster.users.controller.name);
  expect(ours.filter(({ verb }) => verb === 'delete').length).toBeGreaterThan(0);
  const refused = ours.filter(({ code }) => code === 403 || code === 422);
  expect([...new Set(refused.map(({ verb, resource, code }) => `${verb} ${resource} ${code}`))]).toEqual([]);

  async function configMapsOf(prefix: string): Promise<readonly KubeObject[]> {
    const listed = await admin.list(CONFIG_MAPS, { namespace: NAMESPACE });
    return listed.kind === 'ok'
      ? listed.value.items.filter(({ metadata }) => metadata.name.startsWith(prefix))
      : [];
  }
});
