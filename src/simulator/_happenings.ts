import type { Random } from '../clock.ts';
import type { KubeObject } from '../kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, PODS, SERVICES, SESSIONS } from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import { HAND_MARK } from './_standing.ts';
import type { Cluster } from './cluster.ts';
import type { InstancePart, People } from './people.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { TheiaOperator } from './world/theia-operator.ts';

/** What happenings happen to. */
export interface Scene {
  readonly cluster: Cluster;
  readonly people: People;
  readonly operator: TheiaOperator;
  readonly clock: VirtualClock;
  /** The highest number of instances that anybody asks for. */
  readonly slotsMax: number;
  /** Failures that are switched on, to be lifted in the end. */
  readonly lifts: (() => void)[];
  /** Quotas and full nodes: these may stay. */
  readonly limits: (() => void)[];
}

/** Something that happens to the world; answers with what it was in words, or nothing when there was no occasion. */
type Happening = (scene: Scene, pool: string, random: Random) => string | undefined;

const IMAGES = ['1', '2', '3'].map((tag) => `registry.example.org/ide:${tag}`);
const TYPO = 'registry.example.org/ide:typo';
const PARTS: readonly InstancePart[] = [
  'externalService',
  'internalService',
  'deployment',
  'proxyConfigMap',
  'emailConfigMap',
];

const pick = <T>(choices: readonly T[], random: Random): T | undefined =>
  choices[Math.floor(random() * choices.length)];

/** Mostly one that the pool wants now. */
function slotIn({ cluster, slotsMax }: Scene, pool: string, random: Random): number {
  const { minInstances = 0 } = (cluster.admin.find(APP_DEFINITIONS_V1BETA11, pool)?.['spec'] ?? {}) as {
    minInstances?: number;
  };
  const among = random() < 0.85 && minInstances > 0 ? minInstances : slotsMax;
  return 1 + Math.floor(random() * among);
}

function change(scene: Scene, pool: string, spec: Readonly<Record<string, unknown>>): string {
  scene.people.changePool(pool, spec);
  return `${pool} is changed: ${JSON.stringify(spec)}`;
}

/** A pool without its definition cannot be changed. */
const ofStanding =
  (happening: Happening): Happening =>
  (scene, pool, random) =>
    scene.cluster.admin.find(APP_DEFINITIONS_V1BETA11, pool) === undefined
      ? undefined
      : happening(scene, pool, random);

const withPolicy =
  (happening: Happening): Happening =>
  (scene, pool, random) =>
    scene.cluster.admin.find(WARM_POOLS, pool) === undefined ? undefined : happening(scene, pool, random);

function edit(
  scene: Scene,
  pool: string,
  slot: number,
  part: InstancePart,
  patch: unknown,
): string | undefined {
  const done = scene.people.editPart(pool, slot, part, patch);
  return done ? `${part} of ${pool} ${slot} is edited by hand: ${JSON.stringify(patch)}` : undefined;
}

const isOf = (image: string) => (pod: KubeObject) => JSON.stringify(pod['spec']).includes(`"${image}"`);

const HAPPENINGS: Readonly<Record<string, Happening>> = {
  claim: ofStanding(({ people }, pool) => `${people.claim(pool)} comes to ${pool}`),
  release: ({ cluster, people }, _pool, random) => {
    const session = pick(cluster.admin.list(SESSIONS), random)?.metadata.name;
    if (session === undefined) return undefined;
    people.release(session);
    return `${session} leaves`;
  },
  ship: ofStanding((scene, pool, random) => change(scene, pool, { image: pick(IMAGES, random) })),
  typo: ofStanding((scene, pool) => {
    scene.lifts.push(scene.cluster.kubelet.fail(isOf(TYPO), { kind: 'image' }));
    return change(scene, pool, { image: TYPO });
  }),
  scale: ofStanding((scene, pool, random) =>
    change(scene, pool, { minInstances: Math.floor(random() * (scene.slotsMax + 1)) }),
  ),
  retime: ofStanding((scene, pool, random) =>
    change(scene, pool, { timeout: 60 + Math.floor(random() * 1_000) }),
  ),
  deletePart: (scene, pool, random) => {
    const slot = slotIn(scene, pool, random);
    const part = pick(PARTS, random) ?? 'deployment';
    return scene.people.deletePart(pool, slot, part) ? `${part} of ${pool} ${slot} is deleted` : undefined;
  },
  deletePod: ({ cluster }, _pool, random) => {
    const pod = pick(cluster.admin.list(PODS), random)?.metadata.name;
    return pod !== undefined && cluster.admin.remove(PODS, pod) ? `pod ${pod} is deleted` : undefined;
  },
  setImage: (scene, pool, random) => {
    const slot = slotIn(scene, pool, random);
    const image = pick(IMAGES, random) ?? '';
    const containers = containersOf(scene.people.part(pool, slot, 'deployment')).map((container) =>
      container['name'] === pool ? { ...container, image } : container,
    );
    return edit(scene, pool, slot, 'deployment', { spec: { template: { spec: { containers } } } });
  },
  stop: (scene, pool, random) =>
    edit(scene, pool, slotIn(scene, pool, random), 'deployment', { spec: { replicas: 0 } }),
  unlabel: (scene, pool, random) => {
    const label = { 'theia-cloud.io/appdefinition-generation': null };
    const part = pick(['deployment', 'proxyConfigMap', 'emailConfigMap'] as const, random) ?? 'deployment';
    return edit(scene, pool, slotIn(scene, pool, random), part, { metadata: { labels: label } });
  },
  editProxy: (scene, pool, random) =>
    edit(scene, pool, slotIn(scene, pool, random), 'proxyConfigMap', {
      data: { 'oauth2-proxy.cfg': `# ${HAND_MARK}` },
    }),
  lockOut: (scene, pool, random) =>
    edit(scene, pool, slotIn(scene, pool, random), 'emailConfigMap', {
      data: { 'authenticated-emails-list': '' },
    }),
  operator: ({ operator }, _pool, random) => {
    if (operator.isRunning()) {
      const how = random() < 0.5 ? 'kill' : 'terminate';
      void operator.stop(how);
      return `the operator ends (${how})`;
    }
    void operator.start();
    return 'the operator starts';
  },
  policy: withPolicy(({ people }, pool, random) => {
    const maxUnavailable = pick([1, 2, '25%', '50%'], random) ?? 1;
    people.setPolicy(pool, { maxUnavailable });
    return `maxUnavailable of ${pool} is ${maxUnavailable}`;
  }),
  pause: withPolicy(({ people }, pool, random) => {
    const paused = random() < 0.5;
    people.setPolicy(pool, { paused });
    return `${pool} is ${paused ? 'paused' : 'resumed'}`;
  }),
  mode: withPolicy(({ people }, pool, random) => {
    const mode = random() < 0.4 ? 'observe' : 'guard';
    people.setPolicy(pool, { mode });
    return `mode of ${pool} is ${mode}`;
  }),
  refresh: withPolicy(({ people, clock }, pool, random) => {
    const slot = pick(['', '-1', '-2'], random) ?? '';
    people.annotateWarmPool(pool, { [`everwarm.dev/refresh${slot}`]: new Date(clock.now()).toISOString() });
    return `a new instance of ${pool}${slot} is asked for`;
  }),
  quota: ({ people, limits }, _pool, random) => {
    const pods = random() < 0.4 ? undefined : Math.floor(random() * 6);
    people.setQuota(pods);
    limits.push(() => people.setQuota(undefined));
    return `the quota is ${pods ?? 'lifted'}`;
  },
  room: ({ cluster, limits }, _pool, random) => {
    const pods = random() < 0.4 ? undefined : Math.floor(random() * 6);
    cluster.kubelet.setMaxPods(pods);
    limits.push(() => cluster.kubelet.setMaxPods(undefined));
    return `the node takes ${pods ?? 'all'} pods`;
  },
  crash: ({ cluster, lifts }, pool, random) => {
    const image = pick(IMAGES, random) ?? '';
    const lift = cluster.kubelet.fail(isOf(image), { kind: 'crash', container: pool });
    lifts.push(lift);
    return `${image} crashes from now on`;
  },
  foreign: (scene, pool, random) => {
    const slot = slotIn(scene, pool, random);
    const name = scene.people.part(pool, slot, 'internalService')?.metadata.name;
    if (name === undefined) return undefined;
    scene.people.deletePart(pool, slot, 'internalService');
    const spec = { ports: [{ port: 80 }] };
    scene.cluster.admin.create(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
    scene.lifts.push(() => {
      const standing = scene.cluster.admin.find(SERVICES, name);
      if (standing?.metadata.ownerReferences === undefined) scene.cluster.admin.remove(SERVICES, name);
    });
    return `somebody else's Service takes the name of the internal one of ${pool} ${slot}`;
  },
  remake: ({ people, cluster }, pool, random) => {
    const standing = cluster.admin.find(APP_DEFINITIONS_V1BETA11, pool);
    if (standing === undefined) {
      people.createPool(pool, { minInstances: 1 + Math.floor(random() * 3) });
      return `${pool} is made again`;
    }
    if (standing.metadata.deletionTimestamp !== undefined || random() < 0.5) return undefined;
    const how = random() < 0.5 ? 'Background' : 'Foreground';
    people.deletePool(pool, how);
    return `${pool} is deleted (${how})`;
  },
};

export const HAPPENING_NAMES: readonly string[] = Object.keys(HAPPENINGS);

/** Lets the happening of that name happen. */
export function happen(name: string, scene: Scene, pool: string, random: Random): string | undefined {
  return HAPPENINGS[name]?.(scene, pool, random);
}

/** What stood in the way is gone: failures, pauses, and limits unless they are kept. */
export function liftAll(
  { lifts, limits, people, cluster }: Scene,
  pools: readonly string[],
  keepsLimits: boolean,
): void {
  for (const lift of lifts.splice(0)) lift();
  if (!keepsLimits) for (const lift of limits.splice(0)) lift();
  for (const pool of pools) {
    if (cluster.admin.find(APP_DEFINITIONS_V1BETA11, pool) === undefined) continue;
    if (cluster.admin.find(WARM_POOLS, pool) !== undefined)
      people.setPolicy(pool, { paused: false, mode: 'guard' });
  }
}

type Container = Readonly<Record<string, unknown>>;

function containersOf(deployment: KubeObject | undefined): readonly Container[] {
  const { spec } = (deployment ?? {}) as {
    spec?: { template?: { spec?: { containers?: readonly Container[] } } };
  };
  return spec?.template?.spec?.containers ?? [];
}
