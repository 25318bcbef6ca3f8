import type { KubeObject } from '../kube/api.ts';
import { type InstanceNames, instanceNames } from '../platform/theia-cloud/names.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  RESOURCE_QUOTAS,
  SERVICES,
  SESSIONS,
} from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Cluster } from './cluster.ts';
import { appDefinition } from './world/theia-install.ts';

/** What a release may change in the definition of a pool. */
interface PoolSpec {
  readonly image?: string;
  readonly minInstances?: number;
  readonly maxInstances?: number;
  readonly port?: number;
  readonly [option: string]: unknown;
}

/** The policy that a person writes into a WarmPool. */
interface PoolPolicy {
  readonly mode?: 'observe' | 'guard';
  readonly paused?: boolean;
  readonly staleness?: 'fields' | 'generation';
  readonly maxUnavailable?: number | string;
  /** Whether claimed instances are held until they are fresh. */
  readonly claims?: { readonly hold: boolean };
}

export type InstancePart = keyof InstanceNames;

/** What people do to the cluster, each by one request. */
export interface People {
  /** Ships a new pool. */
  createPool(name: string, spec?: PoolSpec): void;
  /** Ships a change of a pool's definition. */
  changePool(name: string, spec: PoolSpec): void;
  annotatePool(name: string, annotations: Readonly<Record<string, string | null>>): void;
  deletePool(name: string, propagation?: 'Background' | 'Foreground'): void;
  /** Writes the pool's WarmPool; makes it where it is missing. */
  setPolicy(name: string, policy: PoolPolicy): void;
  annotateWarmPool(name: string, annotations: Readonly<Record<string, string | null>>): void;
  /** A user asks for an instance; answers with the name of the Session. */
  claim(pool: string, session?: string): string;
  /** A user leaves, or is made to. */
  release(session: string): void;
  /** Deletes one object of a slot by hand; false when it was not there. */
  deletePart(pool: string, slot: number, part: InstancePart): boolean;
  /** Edits one object of a slot by hand, as a merge patch; false when it was not there. */
  editPart(pool: string, slot: number, part: InstancePart, patch: unknown): boolean;
  part(pool: string, slot: number, part: InstancePart): KubeObject | undefined;
  /** Limits the number of pods; `undefined` lifts the limit. */
  setQuota(pods: number | undefined): void;
}

const QUOTA = 'pods-max';
const RESOURCE_OF = {
  externalService: SERVICES,
  internalService: SERVICES,
  deployment: DEPLOYMENTS,
  proxyConfigMap: CONFIG_MAPS,
  emailConfigMap: CONFIG_MAPS,
} as const;

/** People with all rights on `cluster`. */
export function createPeople({ admin }: Pick<Cluster, 'admin'>): People {
  let sessions = 0;
  const namesOf = (pool: string, slot: number): InstanceNames | undefined => {
    const { uid } = admin.find(APP_DEFINITIONS_V1BETA11, pool)?.metadata ?? {};
    return uid === undefined ? undefined : instanceNames({ metadata: { uid }, spec: { name: pool } }, slot);
  };
  const part: People['part'] = (pool, slot, which) => {
    const name = namesOf(pool, slot)?.[which];
    return name === undefined ? undefined : admin.find(RESOURCE_OF[which], name);
  };
  return {
    createPool: (name, spec = {}) => {
      admin.create(APP_DEFINITIONS_V1BETA11, appDefinition(name, spec));
    },
    changePool: (name, spec) => {
      admin.merge(APP_DEFINITIONS_V1BETA11, name, { spec });
    },
    annotatePool: (name, annotations) => {
      admin.merge(APP_DEFINITIONS_V1BETA11, name, { metadata: { annotations } });
    },
    deletePool: (name, propagation) => {
      admin.remove(APP_DEFINITIONS_V1BETA11, name, propagation);
    },
    setPolicy: (name, { maxUnavailable, ...rest }) => {
      const spec = { ...rest, ...(maxUnavailable === undefined ? {} : { rollout: { maxUnavailable } }) };
      if (admin.find(WARM_POOLS, name) !== undefined) admin.merge(WARM_POOLS, name, { spec });
      else
        admin.create(WARM_POOLS, {
          apiVersion: 'everwarm.dev/v1alpha1',
          kind: 'WarmPool',
          metadata: { name },
          spec,
        });
    },
    annotateWarmPool: (name, annotations) => {
      admin.merge(WARM_POOLS, name, { metadata: { annotations } });
    },
    claim: (pool, session) => {
      sessions += 1;
      const name = session ?? `user-${sessions}`;
      admin.create(SESSIONS, sessionOf(name, pool));
      return name;
    },
    release: (session) => {
      admin.remove(SESSIONS, session);
    },
    deletePart: (pool, slot, which) => {
      const name = namesOf(pool, slot)?.[which];
      return name !== undefined && admin.remove(RESOURCE_OF[which], name);
    },
    editPart: (pool, slot, which, patch) => {
      const standing = part(pool, slot, which);
      if (standing === undefined) return false;
      admin.merge(RESOURCE_OF[which], standing.metadata.name, patch);
      return true;
    },
    part,
    setQuota: (pods) => {
      admin.remove(RESOURCE_QUOTAS, QUOTA);
      if (pods === undefined) return;
      const spec = { hard: { pods: String(pods) } };
      admin.create(RESOURCE_QUOTAS, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: QUOTA },
        spec,
      });
    },
  };
}

function sessionOf(name: string, pool: string): unknown {
  return {
    apiVersion: 'theia.cloud/v1beta8',
    kind: 'Session',
    metadata: { name },
    spec: { name, appDefinition: pool, user: `${name}@example.org` },
  };
}
