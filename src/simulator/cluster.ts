import { type Random, seededRandom } from '../clock.ts';
import { createNamespaces, installCrds } from '../embedded/boot.ts';
import { createClaimProtection } from '../embedded/claims.ts';
import { createDeploymentController } from '../embedded/deployments.ts';
import { directApi } from '../embedded/direct.ts';
import { createGarbageCollector } from '../embedded/gc.ts';
import { createKubelet, type Kubelet, type KubeletOptions } from '../embedded/kubelet.ts';
import { createNamespaceController } from '../embedded/namespaces.ts';
import { createStore, type EmbeddedStore } from '../embedded/store.ts';
import type { Actor, StoreResponse } from '../embedded/types.ts';
import type { KubeObject, Place, Resource } from '../kube/api.ts';
import { DEPLOYMENTS } from '../platform/theia-cloud/resources.ts';
import type { Settings } from '../platform/theia-cloud/settings.ts';
import { WARM_POOL_CRD } from '../platform/warm-pool-crd.ts';
import { THEIA_CRDS } from './theia-crds.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  OPERATOR_DEPLOYMENT_NAME,
  RECORDED_SETTINGS,
} from './world/theia-install.ts';

/** Where everything of a simulated world stands. */
export const NAMESPACE = 'theia';
/** The person with kubectl. */
const ADMIN = 'admin';

export interface ClusterOptions {
  readonly seed: number;
  readonly now: () => number;
  /** Theia Cloud with logins: two ConfigMaps more an instance (default true). */
  readonly keycloak?: boolean;
  /** How long the garbage collector takes to look at a change (default 20 ms). */
  readonly gcLagMs?: () => number;
  readonly kubelet?: Partial<KubeletOptions>;
  /** Whether Everwarm's own kind is installed (default true). */
  readonly hasWarmPools?: boolean;
}

/** An embedded cluster with Theia Cloud installed and nobody in it yet. */
export interface Cluster {
  readonly store: EmbeddedStore;
  readonly kubelet: Kubelet;
  readonly actors: readonly Actor[];
  readonly settings: Settings;
  readonly random: Random;
  /** Requests of a person with all rights. Each throws unless the server agrees. */
  readonly admin: Admin;
}

interface Admin {
  create(resource: Resource, body: unknown): KubeObject;
  merge(resource: Resource, place: string | Place, body: unknown): KubeObject;
  /** False when there was nothing to delete. */
  remove(resource: Resource, name: string, propagation?: 'Background' | 'Foreground' | 'Orphan'): boolean;
  find(resource: Resource, name: string): KubeObject | undefined;
  list(resource: Resource): readonly KubeObject[];
}

/** A cluster with the kinds, the namespace, the operator's own Deployment and the shared objects of one installation. */
export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { now, seed } = options;
  const random = seededRandom(seed ^ 0x5f37_59df);
  const store = createStore({ now, random });
  installCrds(store, options.hasWarmPools === false ? THEIA_CRDS : [...THEIA_CRDS, WARM_POOL_CRD]);
  createNamespaces(store, [NAMESPACE]);
  const admin = adminOf(store);
  const settings = { ...RECORDED_SETTINGS, keycloak: options.keycloak !== false };
  const api = directApi(store, { user: ADMIN, now });
  await installBaseObjects(api, { namespace: NAMESPACE });
  await installOperatorDeployment(api, { namespace: NAMESPACE, settings });
  // The stand-in is no pod: the Deployment is there for its arguments alone.
  admin.merge(DEPLOYMENTS, OPERATOR_DEPLOYMENT_NAME, { spec: { replicas: 0 } });
  const kubelet = createKubelet(store, { now, random, ...options.kubelet });
  const lagMs = options.gcLagMs;
  const actors = [
    createDeploymentController(store, { now }),
    kubelet,
    createGarbageCollector(store, { now, ...(lagMs === undefined ? {} : { lagMs }) }),
    createNamespaceController(store, { now }),
    createClaimProtection(store, { now }),
  ];
  return { store, kubelet, actors, settings, random, admin };
}

function adminOf(store: EmbeddedStore): Admin {
  const at = (resource: Resource) => ({
    resource,
    user: ADMIN,
    ...(resource.namespaced ? { namespace: NAMESPACE } : {}),
  });
  const agreed = ({ code, body }: StoreResponse): KubeObject => {
    if (code < 300) return body;
    throw new Error(`the server refused an admin's request: ${code} ${body['message']}`);
  };
  return {
    create: (resource, body) => agreed(store.execute({ verb: 'create', body, ...at(resource) })),
    merge: (resource, place, body) => {
      const where = typeof place === 'string' ? { name: place } : place;
      return agreed(store.execute({ verb: 'patch', patchType: 'merge', body, ...at(resource), ...where }));
    },
    remove: (resource, name, propagation = 'Background') => {
      const answer = store.execute({ verb: 'delete', name, options: { propagation }, ...at(resource) });
      return answer.code === 404 ? false : agreed(answer) !== undefined;
    },
    find: (resource, name) => {
      const answer = store.execute({ verb: 'get', name, ...at(resource) });
      return answer.code === 200 ? answer.body : undefined;
    },
    list: (resource) =>
      agreed(store.execute({ verb: 'list', ...at(resource) }))['items'] as readonly KubeObject[],
  };
}
