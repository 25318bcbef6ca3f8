import { EVENTS } from '../../src/controller/write-events.ts';
import type { Failure, KubeApi, Outcome, Resource } from '../../src/kube/api.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICES,
} from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import type { Rights } from './_rights.ts';

/** What came of a working day: what was asked for, what was refused, and how things stood after each part of it. */
export interface Day {
  /** `apps/deployments: get`. */
  readonly used: ReadonlySet<string>;
  readonly refused: number;
  readonly portraits: readonly Portrait[];
}

interface Portrait {
  readonly after: string;
  readonly stands: string;
}

/** One right a line: `apps/deployments: get`. */
export function single(rights: Rights): readonly string[] {
  return rights
    .flatMap((right) => {
      const [what, verbs = ''] = right.split(': ');
      return verbs.split(' ').map((verb) => `${what}: ${verb}`);
    })
    .sort();
}

/** A day on which every right of the loop is needed, lived through with all rights or with all but one. */
export async function workingDay(without?: string): Promise<Day> {
  const used = new Set<string>();
  const refusals = { count: 0 };
  let world: World | undefined;
  const between = gate(used, without, refusals, (resource, name) => {
    // Somebody else is quicker, once for each kind: a refused patch is to be told from one that came too late.
    world?.cluster.admin.merge(resource, name, { metadata: { annotations: { 'example.com/seen': 'yes' } } });
  });
  world = await createWorld({ operator: { rollsOut: false }, between });
  const portraits: Portrait[] = [];
  for (const [after, part] of PARTS) {
    await part(world);
    // Where a right is missing it may never come to rest: what stands by then is what counts.
    await world.settle(SETTLED_WITHIN_MS).catch(() => undefined);
    portraits.push({ after, stands: JSON.stringify(portrait(world)) });
  }
  return { used, refused: refusals.count, portraits };
}

const SETTLED_WITHIN_MS = 240_000;

const PARTS: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  [
    'two pools are filled',
    async (world) => {
      world.startEverwarm();
      await world.startOperator();
      const sidecar = { name: 'lsp', image: 'lsp:1', port: 5_000, languages: ['java'], mountWorkspace: true };
      world.createPool('java', { minInstances: 4, image: 'ide:1', sidecars: [sidecar] });
      // A person has written down the policy of a pool before there is one: it is adopted.
      const { group, version, kind } = WARM_POOLS;
      const policy = { spec: { mode: 'guard' }, metadata: { name: 'python' } };
      world.cluster.admin.create(WARM_POOLS, { apiVersion: `${group}/${version}`, kind, ...policy });
      world.createPool('python', { minInstances: 1, image: 'ide:1' });
    },
  ],
  [
    'a user came, and the route, an object of the instance and one of a free one were lost',
    async (world) => {
      const anna = world.claim('java');
      await world.run(5_000);
      world.cluster.admin.remove(HTTP_ROUTES, `${world.session(anna)?.metadata.uid}-route`);
      world.deletePart('java', 1, 'proxyConfigMap');
      world.deletePart('java', 3, 'internalService');
      await world.run(60_000);
    },
  ],
  [
    'the user left while the operator was down',
    async (world) => {
      const [anna] = world.slots('java').flatMap(({ user }) => (user === undefined ? [] : [user]));
      await world.stopOperator();
      if (anna !== undefined) world.release(anna);
      await world.run(60_000);
      await world.startOperator();
    },
  ],
  [
    'a volume was lost',
    async (world) => {
      const { admin } = world.cluster;
      const [volume] = admin
        .list(PERSISTENT_VOLUME_CLAIMS)
        .filter(({ metadata }) => metadata.name.startsWith('instance-2-'));
      if (volume !== undefined) admin.remove(PERSISTENT_VOLUME_CLAIMS, volume.metadata.name);
      await world.run(60_000);
    },
  ],
  [
    'a release came while the namespace was full',
    async (world) => {
      world.setQuota(5);
      world.changePool('java', { minInstances: 4, image: 'ide:2' });
      await world.run(120_000);
    },
  ],
  ['the namespace had room again', async (world) => world.setQuota(undefined)],
  ['the pool got smaller', async (world) => world.changePool('java', { minInstances: 2 })],
];

/** How things stand, for whoever looks from outside. */
function portrait(world: World): object {
  const { admin } = world.cluster;
  const names = (resource: Resource) =>
    admin
      .list(resource)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('instance-') || resource === HTTP_ROUTES)
      .sort();
  const told = admin.list(EVENTS).map((event) => {
    const { reason, count = 1, source } = event as unknown as Told;
    return source?.component === 'everwarm' ? `${reason}${count > 1 ? ', again' : ''}` : '';
  });
  return {
    slots: ['java', 'python'].map((pool) =>
      world
        .slots(pool)
        .map(({ slot, image, ready, claimable, user }) => [slot, image, ready, claimable, user]),
    ),
    objects: [DEPLOYMENTS, SERVICES, CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, HTTP_ROUTES].map(names),
    pools: ['java', 'python'].map((pool) => conditionsOf(world, pool)),
    told: [...new Set(told)].sort(),
  };
}

interface Told {
  readonly reason: string;
  readonly count?: number;
  readonly source?: { readonly component?: string };
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { type: string; status: string; reason: string }[] };
}

function conditionsOf(world: World, pool: string): readonly string[] {
  const { status } = (world.warmPool(pool) ?? {}) as Conditioned;
  return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);
}

/** Notes each right that is asked for, and refuses the one that is missing, as the server does. */
function gate(
  used: Set<string>,
  without: string | undefined,
  refusals: { count: number },
  overtake: (resource: Resource, name: string) => void,
): (api: KubeApi) => KubeApi {
  const overtaken = new Set<string>();
  const ask = async <T>(
    { group, plural }: Resource,
    verb: string,
    request: () => Promise<Outcome<T>>,
    subresource = '',
  ): Promise<Outcome<T>> => {
    const right = `${group}/${plural}${subresource}: ${verb}`;
    used.add(right);
    if (right !== without) return await request();
    refusals.count += 1;
    return FORBIDDEN;
  };
  return (api) => ({
    get: (resource, place) => ask(resource, 'get', () => api.get(resource, place)),
    list: (resource, options) => ask(resource, 'list', () => api.list(resource, options)),
    create: (resource, namespace, body) =>
      ask(resource, 'create', () => api.create(resource, namespace, body)),
    patch: (resource, place, patch) => {
      const isFirst = place.subresource === undefined && !overtaken.has(resource.plural);
      if (isFirst && OVERTAKEN.has(resource.plural)) {
        overtaken.add(resource.plural);
        overtake(resource, place.name);
      }
      const sub = place.subresource === undefined ? '' : `/${place.subresource}`;
      return ask(resource, 'patch', () => api.patch(resource, place, patch), sub);
    },
    delete: (resource, place, options) => ask(resource, 'delete', () => api.delete(resource, place, options)),
    watch: api.watch,
  });
}

const OVERTAKEN = new Set(
  [SERVICES, CONFIG_MAPS, DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS].map(({ plural }) => plural),
);
const FORBIDDEN: Failure = { kind: 'forbidden', message: 'the right was taken away' };
