import type { KubeObject, Resource } from '../../kube/api.ts';
import type { WatchSpec } from '../platform.ts';
import { WARM_POOLS } from '../warm-pool.ts';
import { APP_DEFINITION_LABEL } from './labels.ts';
import { quotaFingerprint } from './neighbours.ts';
import {
  APP_DEFINITIONS_V1BETA10,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  PERSISTENT_VOLUME_CLAIMS,
  PROXY_TEMPLATE_NAME,
  RESOURCE_QUOTAS,
  SERVICES,
  SESSIONS,
} from './resources.ts';

/** v1beta10 is served by every release that we know; of a definition only its identity is forwarded. */
export const WATCHES: readonly WatchSpec[] = [
  { resource: APP_DEFINITIONS_V1BETA10, metadataOnly: true, urgent: false },
  // Our own status writes are no news, a new policy (generation) or request (annotations) is.
  { resource: WARM_POOLS, metadataOnly: true, urgent: false, changed: policyOf },
  { resource: SESSIONS, metadataOnly: false, urgent: true },
  { resource: SERVICES, metadataOnly: true, urgent: false },
  { resource: CONFIG_MAPS, metadataOnly: true, urgent: false },
  { resource: PERSISTENT_VOLUME_CLAIMS, metadataOnly: true, urgent: false },
  { resource: HTTP_ROUTES, metadataOnly: true, urgent: false, changed: identityOf },
  { resource: DEPLOYMENTS, metadataOnly: false, urgent: false, changed: essenceOf },
  {
    resource: RESOURCE_QUOTAS,
    metadataOnly: false,
    urgent: false,
    changed: (quota) => quotaFingerprint([quota]),
  },
];

/** Owners first; a part that lost its owner is found by its name, which any pool of the namespace may have given. */
export function keysOf(resource: Resource, object: KubeObject): readonly string[] {
  const { metadata } = object;
  switch (resource.kind) {
    case 'AppDefinition':
    case 'WarmPool':
      return [metadata.name];
    case 'Session':
      return [text(object, 'spec', 'appDefinition')];
    case 'HTTPRoute':
      return poolsOfRoute(object);
    case 'ResourceQuota':
      return ['*'];
    default: {
      const owner = metadata.ownerReferences?.find(
        ({ kind }) => kind === 'AppDefinition' || kind === 'WarmPool',
      );
      if (owner !== undefined) return [owner.name];
      const isOperator = resource.kind === 'Deployment' && metadata.ownerReferences === undefined;
      const shared = isOperator || metadata.name === PROXY_TEMPLATE_NAME;
      return shared || metadata.name.startsWith('instance-') ? ['*'] : [];
    }
  }
}

/** A Session's route names its pool, the shared one has all that use it as owners, and a new one is anybody's. */
function poolsOfRoute({ metadata }: KubeObject): readonly string[] {
  const named = metadata.labels?.[APP_DEFINITION_LABEL];
  const owners = metadata.ownerReferences?.filter(({ kind }) => kind === 'AppDefinition') ?? [];
  if (named !== undefined) return [named];
  return owners.length > 0 ? owners.map(({ name }) => name) : ['*'];
}

/** A Gateway writes a route's status again and again. */
function identityOf({ metadata }: KubeObject): string {
  const { uid, generation, ownerReferences, deletionTimestamp } = metadata;
  return JSON.stringify([uid, generation, ownerReferences, deletionTimestamp]);
}

function policyOf({ metadata }: KubeObject): string {
  return JSON.stringify([metadata.uid, metadata.generation, metadata.annotations, metadata.ownerReferences]);
}

/** A Deployment's status repeats itself; what counts is its template, its labels and whether it is available. */
function essenceOf(deployment: KubeObject): string {
  const { metadata } = deployment;
  const { status } = deployment as unknown as {
    status?: { availableReplicas?: number; conditions?: readonly Condition[] };
  };
  const conditions = (status?.conditions ?? []).map((c) => `${c.type}=${c.status}/${c.reason}`).sort();
  return JSON.stringify([
    metadata.uid,
    metadata.generation,
    metadata.labels,
    metadata.ownerReferences,
    metadata.deletionTimestamp,
    status?.availableReplicas ?? 0,
    conditions,
  ]);
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
}

function text(object: KubeObject, parent: string, name: string): string {
  const value = object[parent];
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : '';
}
