import type { KubeApi, KubeObject, Resource } from '../../kube/api.ts';
import type { Scope } from '../platform.ts';
import { Reader, UnreadableError } from '../reading.ts';
import { WARM_POOLS } from '../warm-pool.ts';
import {
  type Allocation,
  type Environment,
  type Portal,
  readAllocation,
  readEnvironment,
  readPortal,
  readSession,
  readWorkshop,
  type Session,
  type Workshop,
} from './crds.ts';
import { COMPONENT_LABEL, PORTAL_NAME_LABEL } from './labels.ts';
import {
  SECRETS,
  TRAINING_PORTALS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from './resources.ts';

/** One portal's name, and everything that stands under it, at one time. */
export interface Snapshot {
  /** The API server's clock at the last read, epoch ms. */
  readonly now: number;
  readonly name: string;
  /** `undefined`: it is gone. */
  readonly portal: Portal | undefined;
  readonly others: readonly Portal[];
  /** By name. */
  readonly workshops: ReadonlyMap<string, Workshop>;
  readonly environments: readonly Environment[];
  readonly sessions: readonly Session[];
  /** Names of the Secrets that are made for a user; empty where they may not be read. */
  readonly secrets: ReadonlySet<string>;
  readonly allocations: readonly Allocation[];
  /** Its WarmPool, if there is one; `mayHave`: there can be one. */
  readonly warmPool: KubeObject | undefined;
  readonly mayHave: boolean;
  /** What may not be read; then the rest is empty. */
  readonly forbidden?: string;
}

/**
 * Reads what stands under one portal's name, the users' claims last, and what a claim writes last at the very end: a claim that
 * slips in between two reads is seen in the later one. Where Educates is not installed that costs one request.
 */
export async function readPortalAt(
  api: KubeApi,
  { namespace, name: asked }: Scope,
  name: string,
): Promise<Snapshot | undefined> {
  const reader = new Reader(api);
  // Whoever names a portal is to know why it cannot be read; whoever only looks around has none then.
  const listed =
    asked === undefined
      ? await reader.listIfAllowed(TRAINING_PORTALS, {})
      : await reader.listIfServed(TRAINING_PORTALS, {});
  if (listed === undefined) return undefined;
  const portals = listed.map(readPortal);
  const portal = portals.find((one) => one.name === name);
  const known = { name, portal, others: portals.filter((one) => one !== portal) };
  try {
    return { ...known, ...(await readRest(reader, namespace, name)) };
  } catch (error) {
    if (!(error instanceof UnreadableError) || error.failure.kind !== 'forbidden') throw error;
    return { ...known, ...NOTHING, now: reader.now, forbidden: error.message };
  }
}

const NOTHING = {
  workshops: new Map(),
  environments: [],
  sessions: [],
  secrets: new Set<string>(),
  allocations: [],
  warmPool: undefined,
  mayHave: false,
};

async function readRest(
  reader: Reader,
  namespace: string,
  name: string,
): Promise<Omit<Snapshot, 'name' | 'portal' | 'others'>> {
  const labelSelector = `${PORTAL_NAME_LABEL}=${name}`;
  const list = async <T>(resource: Resource, read: (object: KubeObject) => T): Promise<readonly T[]> =>
    ((await reader.listIfServed(resource, { labelSelector })) ?? []).map(read);
  const warmPools = await reader.listIfAllowed(WARM_POOLS, { namespace });
  const workshops = ((await reader.listIfServed(WORKSHOPS, {})) ?? []).map(readWorkshop);
  const environments = await list(WORKSHOP_ENVIRONMENTS, readEnvironment);
  const sessions = await list(WORKSHOP_SESSIONS, readSession);
  const secrets = await reader.listIfAllowed(SECRETS, {
    labelSelector: `${COMPONENT_LABEL}=request,${labelSelector}`,
    metadataOnly: true,
  });
  const allocations = await list(WORKSHOP_ALLOCATIONS, readAllocation);
  return {
    now: reader.now,
    workshops: new Map(workshops.map((workshop) => [workshop.name, workshop])),
    environments,
    sessions,
    secrets: new Set((secrets ?? []).map(({ metadata }) => metadata.name)),
    allocations,
    warmPool: warmPools?.find(({ metadata }) => metadata.name === name),
    mayHave: warmPools !== undefined,
  };
}
