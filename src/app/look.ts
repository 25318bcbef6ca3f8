import type { KubeApi, KubeObject, Outcome } from '../kube/api.ts';
import { bare } from '../platform/educates/crds.ts';
import { GROUP } from '../platform/educates/resources.ts';
import type { Observation, Scope } from '../platform/platform.ts';
import { planPool } from '../pool/plan.ts';
import type { Plan } from '../pool/types.ts';
import type { OpenCluster } from './cluster.ts';
import { goesBy, type PoolName } from './names.ts';

/** One pool as it is now, what would be done about it, and the objects from which both were read. */
export interface PoolLook {
  readonly observation: Observation;
  readonly plan: Plan;
  /** Every object that was read on the way, of other pools as well. */
  readonly objects: readonly KubeObject[];
}

/** Which pools to look at: all of the cluster's namespaces, or those that go by one name. */
export type Selection = PoolName | 'all';

/** What of a cluster it takes to look at its pools, or to work on them. */
export interface ServedCluster extends Pick<OpenCluster, 'id' | 'namespaces' | 'platforms'> {
  readonly api: KubeApi;
}

/** Looks at pools, reading only. Rejects with UnreadableError when the cluster cannot be read. */
export async function lookAtPools(
  cluster: ServedCluster,
  selection: Selection,
): Promise<readonly PoolLook[]> {
  const namespaces =
    selection === 'all' || selection.namespace === undefined ? cluster.namespaces : [selection.namespace];
  const looks: PoolLook[] = [];
  for (const namespace of namespaces) {
    const name = selection === 'all' ? {} : { name: selection.name };
    looks.push(...(await lookAtNamespace(cluster, { cluster: cluster.id, namespace, ...name })));
  }
  return looks.filter(({ observation }) => selection === 'all' || goesBy(observation.key, selection));
}

async function lookAtNamespace(cluster: ServedCluster, scope: Scope): Promise<readonly PoolLook[]> {
  const looks: PoolLook[] = [];
  for (const platform of cluster.platforms) {
    const { api, objects } = remembering(cluster.api);
    const observations = await platform.observe(api, scope, { quota: false });
    const read = [...objects.values()];
    looks.push(
      ...observations.map((observation) => ({ observation, plan: planOf(observation), objects: read })),
    );
  }
  return looks;
}

function planOf({ desired, observed, policy, now }: Observation): Plan {
  return planPool(desired, { ...observed, pass: { token: '', refusals: [] } }, policy, now);
}

/** An API that remembers the objects it read, so that what is told about a decision is what it was made from. */
function remembering(api: KubeApi): { readonly api: KubeApi; readonly objects: Map<string, KubeObject> } {
  const objects = new Map<string, KubeObject>();
  const remember = (object: KubeObject): void => {
    // Educates' objects are full of passwords.
    const kept = object.apiVersion.startsWith(`${GROUP}/`) ? bare(object) : object;
    objects.set(object.metadata.uid ?? `${object.kind}/${object.metadata.name}`, kept);
  };
  const told = <T>(outcome: Outcome<T>, each: (value: T) => void): Outcome<T> => {
    if (outcome.kind === 'ok') each(outcome.value);
    return outcome;
  };
  return {
    objects,
    api: {
      ...api,
      get: async (resource, place) => told(await api.get(resource, place), remember),
      list: async (resource, options) =>
        told(await api.list(resource, options), ({ items }) => {
          for (const item of items) remember(item);
        }),
    },
  };
}
