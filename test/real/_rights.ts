import { systemClock } from '../../src/clock.ts';
import type { KubeApi, Outcome } from '../../src/kube/api.ts';
import { FORWARDER, manifests } from '../chart/_chart.ts';
import { LOOP_RIGHTS, type Rights, WATCH_RIGHTS } from '../chart/_rights.ts';
import { findHelm } from '../chart/helm.ts';
import type { Wire } from '../real-cluster/wire.ts';

/** One rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What the chart lets the loop do, and what it lets whoever watches do. */
export const LOOP_RULES: readonly Rule[] = rulesOf(LOOP_RIGHTS);
export const WATCH_RULES: readonly Rule[] = rulesOf(WATCH_RIGHTS);

const RBAC = 'rbac.authorization.k8s.io';
const POLICIES: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};
/** The server looks for new policies about once a second. */
const POLICIES_KNOWN_MS = 3_000;

/** Installs the chart's admission policies against `writer`; says why not where there is no helm to render them. */
export async function installPolicies(wire: Wire, writer: string): Promise<string | undefined> {
  const helm = findHelm();
  if (helm.kind === 'missing') return helm.reason;
  const values = {
    ...FORWARDER,
    forwarder: { ...FORWARDER.forwarder, functions: { users: [writer] } },
  };
  for (const manifest of manifests(values)) {
    const plural = POLICIES[manifest.kind];
    if (plural !== undefined) await create(wire, `/apis/${manifest.apiVersion}/${plural}`, manifest);
  }
  await systemClock.sleep(POLICIES_KNOWN_MS);
  return undefined;
}

/** Lets a group do in one namespace what a ClusterRole lists. */
export async function bindIn(wire: Wire, namespace: string, role: string, group: string): Promise<void> {
  await create(wire, `/apis/${RBAC}/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: role },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: group }],
  });
}

/** Sees by which requests somebody asks for more than roles and admission policies let them do. */
export function listeningForRefusals(api: KubeApi): { readonly api: KubeApi; readonly refusals: string[] } {
  const refusals: string[] = [];
  const call =
    <A extends readonly unknown[], T>(method: (...args: A) => Promise<Outcome<T>>) =>
    async (...args: A): Promise<Outcome<T>> => {
      const outcome = await method(...args);
      if (outcome.kind !== 'ok' && NO_RIGHT.test(outcome.message)) refusals.push(outcome.message);
      return outcome;
    };
  return {
    refusals,
    api: {
      get: call(api.get),
      list: call(api.list),
      create: call(api.create),
      patch: call(api.patch),
      delete: call(api.delete),
      watch: api.watch,
    },
  };
}

/** A full quota and a namespace on its way out are refused as forbidden, too: that is no matter of rights. */
const NO_RIGHT = /User "[^"]*" cannot |ValidatingAdmissionPolicy /;

function rulesOf(rights: Rights): readonly Rule[] {
  return rights.map((right) => {
    const [, group = '', resource = '', verbs = ''] = /^([^/]*)\/([^:]*): (.*)$/.exec(right) ?? [];
    return { apiGroups: [group], resources: [resource], verbs: verbs.split(' ') };
  });
}

async function create(wire: Wire, path: string, body: unknown): Promise<void> {
  const { status, text } = await wire.send('POST', path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
}
