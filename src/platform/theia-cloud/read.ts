import type { KubeApi, KubeObject } from '../../kube/api.ts';
import type { Hints, Scope } from '../platform.ts';
import { Reader, UnreadableError } from '../reading.ts';
import { WARM_POOLS } from '../warm-pool.ts';
import {
  APP_DEFINITION_VERSIONS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  LEASES,
  OPERATOR_LEASE_NAME,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  RESOURCE_QUOTAS,
  SERVICES,
  SESSIONS,
} from './resources.ts';

/** A namespace, or what one pool needs of it, at one time. */
export interface Snapshot {
  /** The API server's clock at the last read, epoch ms. */
  readonly now: number;
  readonly warmPools: readonly KubeObject[];
  readonly sources: readonly KubeObject[];
  readonly services: readonly KubeObject[];
  readonly deployments: readonly KubeObject[];
  readonly configMaps: readonly KubeObject[];
  readonly volumeClaims: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
  readonly quotas: readonly KubeObject[];
  /** By name; absent where they may not be read, or are not served. */
  readonly routes?: ReadonlyMap<string, KubeObject>;
  readonly lease: KubeObject | undefined;
  /** The API server's clock when the Lease was read: a look may take long after it. */
  readonly leaseReadAt: number;
  /** What of the namespace may not be read; then the rest is empty. */
  readonly forbidden?: string;
  /** By uid; those that stand as owners but were not in the list are confirmed one by one. */
  readonly sessions: ReadonlyMap<string, KubeObject>;
}

/**
 * Reads what pools are made of, the users' Sessions last: a claim that slips in between two reads is then seen with its
 * Session, never without. A Session that stands as an owner counts as gone only after a GET says so (P2).
 */
export async function readNamespace(api: KubeApi, scope: Scope, hints: Hints): Promise<Snapshot | undefined> {
  const reader = new Reader(api);
  const warmPools = await readWarmPools(reader, scope);
  const sources = await readSources(reader, scope);
  const asked = sources.filter(({ metadata }) => scope.name === undefined || metadata.name === scope.name);
  if (asked.length === 0) return undefined;
  try {
    return { warmPools, sources, ...(await readParts(reader, scope, hints, warmPools)) };
  } catch (error) {
    if (!(error instanceof UnreadableError) || error.failure.kind !== 'forbidden') throw error;
    return { warmPools, sources, ...NOTHING, now: reader.now, forbidden: error.message };
  }
}

const NOTHING = {
  services: [],
  deployments: [],
  configMaps: [],
  volumeClaims: [],
  pods: [],
  quotas: [],
  lease: undefined,
  leaseReadAt: 0,
  sessions: new Map(),
};

async function readParts(
  reader: Reader,
  { namespace }: Scope,
  hints: Hints,
  warmPools: readonly KubeObject[],
): Promise<Omit<Snapshot, 'warmPools' | 'sources'>> {
  const services = await reader.list(SERVICES, { namespace });
  const deployments = await reader.list(DEPLOYMENTS, { namespace });
  const configMaps = await reader.list(CONFIG_MAPS, { namespace });
  const volumeClaims = await reader.list(PERSISTENT_VOLUME_CLAIMS, { namespace });
  const pods = await reader.list(PODS, { namespace });
  const waitsForQuota = hints.quota || warmPools.some(mentionsQuota);
  const quotas = waitsForQuota ? await reader.list(RESOURCE_QUOTAS, { namespace }) : [];
  const routes = await readRoutes(reader, namespace);
  const lease = await reader.get(LEASES, { namespace, name: OPERATOR_LEASE_NAME });
  const leaseReadAt = reader.now;
  const sessions = await readSessions(reader, namespace, [...services, ...deployments]);
  return {
    now: reader.now,
    services,
    deployments,
    configMaps,
    volumeClaims,
    pods,
    quotas,
    ...(routes === undefined ? {} : { routes }),
    lease,
    leaseReadAt,
    sessions,
  };
}

/** Without them no route is missed: a right that is not given, or a kind that is not served, stops nothing else. */
async function readRoutes(
  reader: Reader,
  namespace: string,
): Promise<ReadonlyMap<string, KubeObject> | undefined> {
  const listed = await reader.listIfAllowed(HTTP_ROUTES, { namespace });
  return listed && new Map(listed.map((route) => [route.metadata.name, route]));
}

async function readWarmPools(reader: Reader, { namespace, name }: Scope): Promise<readonly KubeObject[]> {
  if (name === undefined) return (await reader.listIfServed(WARM_POOLS, { namespace })) ?? [];
  const pool = await reader.get(WARM_POOLS, { namespace, name });
  return pool === undefined ? [] : [pool];
}

/**
 * From the newest version that is served; a cluster of an older release does not know the newest. All of the namespace, also
 * for one pool: two definitions of one name would share their pods.
 */
async function readSources(reader: Reader, { namespace }: Scope): Promise<readonly KubeObject[]> {
  for (const version of APP_DEFINITION_VERSIONS) {
    const found = await reader.listIfServed(version, { namespace });
    if (found !== undefined) return found;
  }
  return [];
}

async function readSessions(
  reader: Reader,
  namespace: string,
  claimables: readonly KubeObject[],
): Promise<ReadonlyMap<string, KubeObject>> {
  const listed = await reader.list(SESSIONS, { namespace });
  const sessions = new Map(listed.map((session) => [session.metadata.uid ?? '', session]));
  const owners = claimables.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  const unseen = new Map(
    owners
      .filter(({ kind, uid }) => kind === SESSIONS.kind && !sessions.has(uid))
      .map((owner) => [owner.uid, owner]),
  );
  for (const [uid, { name }] of unseen) {
    const session = await reader.get(SESSIONS, { namespace, name });
    if (session?.metadata.uid === uid) sessions.set(uid, session);
  }
  return sessions;
}

function mentionsQuota(warmPool: KubeObject): boolean {
  const status = warmPool['status'];
  if (typeof status !== 'object' || status === null || !('waiting' in status)) return false;
  return Array.isArray(status.waiting) && status.waiting.some((entry) => entry?.cause === 'quota');
}
