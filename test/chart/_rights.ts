import { EVENTS } from '../../src/controller/write-events.ts';
import type { Resource } from '../../src/kube/api.ts';
import {
  APP_DEFINITION_VERSIONS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  LEASES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  RESOURCE_QUOTAS,
  SERVICES,
  SESSIONS,
} from '../../src/platform/theia-cloud/resources.ts';
import { WATCHES } from '../../src/platform/theia-cloud/watches.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';

/** `apps/deployments: get list`, one line a kind and verb list. */
export type Rights = readonly string[];

const line = ({ group, plural }: Resource, subresource: string, verbs: readonly string[]): string =>
  `${group}/${plural}${subresource}: ${[...verbs].sort().join(' ')}`;

/** What the reflectors ask for, and no more. */
export const WATCH_RIGHTS: Rights = WATCHES.map(({ resource }) =>
  line(resource, '', ['list', 'watch']),
).sort();

const PARTS = [SERVICES, CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, DEPLOYMENTS];
const [APP_DEFINITIONS = SESSIONS] = APP_DEFINITION_VERSIONS;

/** What a pass asks for: its reads (read.ts), its requests, the look that sorts out a refused patch, its Events. */
export const LOOP_RIGHTS: Rights = [
  line(APP_DEFINITIONS, '', ['list']),
  // One that stands as an owner and was not listed is asked for by name.
  line(SESSIONS, '', ['list', 'get']),
  line(WARM_POOLS, '', ['list', 'get', 'create', 'patch']),
  line(WARM_POOLS, '/status', ['patch']),
  ...PARTS.map((resource) => line(resource, '', ['list', 'get', 'create', 'patch', 'delete'])),
  line(PODS, '', ['list']),
  line(RESOURCE_QUOTAS, '', ['list']),
  line(LEASES, '', ['get']),
  line(HTTP_ROUTES, '', ['list', 'create']),
  line(EVENTS, '', ['get', 'create', 'patch']),
].sort();

/** What a look asks for that writes nothing. */
export const READ_RIGHTS: Rights = [
  line(APP_DEFINITIONS, '', ['list']),
  line(SESSIONS, '', ['list', 'get']),
  line(WARM_POOLS, '', ['list', 'get']),
  ...[...PARTS, PODS, RESOURCE_QUOTAS, HTTP_ROUTES].map((resource) => line(resource, '', ['list'])),
  line(LEASES, '', ['get']),
].sort();

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** A Role's rules, in the same words. */
export function rightsOf(rules: readonly Rule[]): Rights {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.map((resource) => `${group}/${resource}: ${[...verbs].sort().join(' ')}`),
      ),
    )
    .sort();
}
