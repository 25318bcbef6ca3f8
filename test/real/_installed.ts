import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';
import { type RealAddress, wireOf } from '../real-cluster/cluster.ts';
import { createNode } from '../real-cluster/kubelet.ts';
import type { Wire } from '../real-cluster/wire.ts';

/** What the operator does with: everything of its own kinds and of those that it makes instances from. */
const OPERATOR_RULES = [
  rule(['*'], ['theia.cloud'], ['*']),
  rule(['*'], [''], ['services', 'configmaps', 'pods', 'persistentvolumeclaims']),
  rule(['*'], ['apps'], ['deployments']),
  rule(['*'], ['coordination.k8s.io'], ['leases']),
  rule(['*'], ['gateway.networking.k8s.io'], ['httproutes']),
];

const READ = ['get', 'list', 'watch'];
/** What Everwarm reads, and the little that it writes. */
const EVERWARM_RULES = [
  rule(READ, ['theia.cloud'], ['appdefinitions', 'sessions', 'workspaces']),
  rule(READ, [''], ['pods', 'namespaces', 'resourcequotas', 'persistentvolumeclaims']),
  rule(READ, ['coordination.k8s.io'], ['leases']),
  rule([...READ, 'create'], ['gateway.networking.k8s.io'], ['httproutes']),
  rule([...READ, 'create', 'patch', 'delete'], [''], ['services', 'configmaps']),
  rule(['create', 'patch', 'delete'], [''], ['persistentvolumeclaims']),
  rule([...READ, 'create', 'patch', 'delete'], ['apps'], ['deployments']),
  rule([...READ, 'create', 'patch'], ['everwarm.dev'], ['warmpools', 'warmpools/status']),
  rule(['get', 'create', 'patch'], [''], ['events']),
];

/** A node, the kinds of Theia Cloud and ours, and the rights of the operator and of Everwarm. */
export async function install(address: RealAddress): Promise<void> {
  const wire = wireOf(address, 'admin');
  await createNode(wire);
  for (const definition of [...THEIA_CRDS, WARM_POOL_CRD]) await post(wire, CRDS, definition);
  for (const definition of [...THEIA_CRDS, WARM_POOL_CRD] as readonly Definition[]) {
    await established(wire, definition.metadata.name);
    await described(wire, definition);
  }
  await grant(wire, 'everwarm', EVERWARM_RULES, 'everwarm:controllers');
  await grant(wire, 'operator', OPERATOR_RULES, 'everwarm:operators');
  wire.close();
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

function rule(verbs: readonly string[], apiGroups: readonly string[], resources: readonly string[]) {
  return { verbs, apiGroups, resources };
}

async function grant(wire: Wire, name: string, rules: readonly unknown[], group: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name };
  await post(wire, `${RBAC}/clusterroles`, { metadata, rules });
  await post(wire, `${RBAC}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
  });
}

async function post(wire: Wire, path: string, body: unknown): Promise<void> {
  const { status, text } = await wire.send('POST', path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
}

type Definition = KubeObject & {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
};

/** The server tells of a kind's fields later than it serves it: `kubectl explain` would not find them yet. */
async function described(wire: Wire, { spec }: Definition): Promise<void> {
  const served = spec.versions.filter((version) => version.served);
  for (const { name } of served) {
    const path = `apis/${spec.group}/${name}`;
    const isTold = async () =>
      (await wire.send('GET', '/openapi/v3')).text.includes(`"${path}"`) &&
      (await wire.send('GET', `/openapi/v3/${path}`)).text.includes(`"kind":"${spec.names.kind}"`);
    while (!(await isTold())) await systemClock.sleep(20);
  }
}

async function established(wire: Wire, name: string): Promise<void> {
  for (;;) {
    const { text } = await wire.send('GET', `${CRDS}/${name}`);
    const { status } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } };
    if (status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')) return;
    await systemClock.sleep(20);
  }
}
