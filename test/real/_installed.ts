import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';
import { type RealAddress, wireOf } from '../real-cluster/cluster.ts';
import { createNode } from '../real-cluster/kubelet.ts';
import type { Wire } from '../real-cluster/wire.ts';
import { LOOP_RULES, type Rule, WATCH_RULES } from './_rights.ts';

/** What the operator does with: everything of its own kinds and of those that it makes instances from. */
const OPERATOR_RULES = [
  rule(['*'], ['theia.cloud'], ['*']),
  rule(['*'], [''], ['services', 'configmaps', 'pods', 'persistentvolumeclaims']),
  rule(['*'], ['apps'], ['deployments']),
  rule(['*'], ['coordination.k8s.io'], ['leases']),
  rule(['*'], ['gateway.networking.k8s.io'], ['httproutes']),
];

/** The ClusterRole with what the loop may do, for whoever binds it, and the group to bind. */
export const LOOP_ROLE = 'everwarm-loop';
export const CONTROLLERS_GROUP = 'everwarm:controllers';

/**
 * A node, the kinds of Theia Cloud and ours, and the rights of the operator and of Everwarm: in all namespaces, or where
 * somebody binds them.
 */
export async function install(address: RealAddress, { everwarm = 'everywhere' }: Scope = {}): Promise<void> {
  const wire = wireOf(address, 'admin');
  await createNode(wire);
  for (const definition of [...THEIA_CRDS, WARM_POOL_CRD]) await post(wire, CRDS, definition);
  for (const definition of [...THEIA_CRDS, WARM_POOL_CRD] as readonly Definition[]) {
    await established(wire, definition.metadata.name);
    await described(wire, definition);
  }
  if (everwarm === 'everywhere')
    await grant(wire, 'everwarm', [...LOOP_RULES, ...WATCH_RULES], CONTROLLERS_GROUP);
  else await post(wire, `${RBAC}/clusterroles`, { metadata: { name: LOOP_ROLE }, rules: LOOP_RULES });
  await grant(wire, 'operator', OPERATOR_RULES, 'everwarm:operators');
  wire.close();
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

interface Scope {
  readonly everwarm?: 'everywhere' | 'where it is bound';
}

function rule(verbs: readonly string[], apiGroups: readonly string[], resources: readonly string[]): Rule {
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
