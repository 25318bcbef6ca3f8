import { EVENTS } from '../../src/controller/write-events.ts';
import type { Resource } from '../../src/kube/api.ts';
import {
  TRAINING_PORTALS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../src/platform/educates/resources.ts';
import { WATCHES as PORTAL_WATCHES } from '../../src/platform/educates/watches.ts';
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

const WARM_POOL_RIGHTS: Rights = [
  line(WARM_POOLS, '', ['list', 'get', 'create', 'patch']),
  line(WARM_POOLS, '/status', ['patch']),
  line(EVENTS, '', ['get', 'create', 'patch']),
];

/** What a pass asks for: its reads (read.ts), its requests, the look that sorts out a refused patch, its Events. */
export const LOOP_RIGHTS: Rights = [
  line(APP_DEFINITIONS, '', ['list']),
  // One that stands as an owner and was not listed is asked for by name.
  line(SESSIONS, '', ['list', 'get']),
  ...WARM_POOL_RIGHTS,
  ...PARTS.map((resource) => line(resource, '', ['list', 'get', 'create', 'patch', 'delete'])),
  line(PODS, '', ['list']),
  line(RESOURCE_QUOTAS, '', ['list']),
  line(LEASES, '', ['get']),
  line(HTTP_ROUTES, '', ['list', 'create']),
].sort();

/** What a look asks for that writes nothing. */
export const READ_RIGHTS: Rights = [
  line(APP_DEFINITIONS, '', ['list']),
  line(SESSIONS, '', ['list', 'get']),
  line(WARM_POOLS, '', ['list', 'get']),
  ...[...PARTS, PODS, RESOURCE_QUOTAS, HTTP_ROUTES].map((resource) => line(resource, '', ['list'])),
  line(LEASES, '', ['get']),
].sort();

/** Where training portals are: what belongs to no namespace, and what is asked for in a portal's own. */
export const PORTALS = {
  watch: PORTAL_WATCHES.filter(({ resource }) => !resource.namespaced)
    .map(({ resource }) => line(resource, '', ['list', 'watch']))
    .sort(),
  loop: [
    // A patch that is refused is looked after.
    line(TRAINING_PORTALS, '', ['list', 'get', 'patch']),
    line(WORKSHOPS, '', ['list', 'get', 'patch']),
    line(WORKSHOP_ENVIRONMENTS, '', ['list', 'get', 'patch', 'delete']),
    line(WORKSHOP_SESSIONS, '', ['list', 'delete']),
    line(WORKSHOP_ALLOCATIONS, '', ['list']),
  ].sort(),
  read: [TRAINING_PORTALS, WORKSHOPS, WORKSHOP_ENVIRONMENTS, WORKSHOP_SESSIONS, WORKSHOP_ALLOCATIONS]
    .map((resource) => line(resource, '', ['list']))
    .sort(),
  own: {
    watch: [line(WARM_POOLS, '', ['list', 'watch'])],
    loop: [line(APP_DEFINITIONS, '', ['list']), ...WARM_POOL_RIGHTS].sort(),
    read: [line(APP_DEFINITIONS, '', ['list']), line(WARM_POOLS, '', ['list', 'get'])].sort(),
  },
} as const;

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
