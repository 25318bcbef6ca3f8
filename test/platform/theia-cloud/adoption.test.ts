import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Settings } from '../../../src/platform/theia-cloud/settings.ts';
import { createTheiaCloud } from '../../../src/platform/theia-cloud/theia-cloud.ts';
import type { PoolStatus } from '../../../src/pool/types.ts';
import { createVirtualClock } from '../../../src/simulator/virtual-clock.ts';
import { type Installed, install, NAMESPACE } from './_installed.ts';
import { recorded } from './_recorded.ts';

const poolKey = (name: string) => ({ cluster: 'c', platform: 'theia-cloud', namespace: NAMESPACE, name });
const JAVA = 'java-17-course';
const platform = createTheiaCloud({
  mode: 'guard',
  oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy',
});

async function pass({ api, now }: Installed, pool = JAVA): Promise<void> {
  const clock = createVirtualClock(now());
  await reconcile({ api, platform, clock, random: seededRandom(7), report: () => undefined }, poolKey(pool));
}

async function look({ api }: Installed, pool = JAVA) {
  const { cluster, namespace, name } = poolKey(pool);
  const [observation] = await platform.observe(api, { cluster, namespace, name }, { quota: false });
  if (observation === undefined) throw new Error('the pool is not seen');
  return observation.observed.instances.map(({ slot, phase, drift, claimedBy, dirt, relabel, target }) => ({
    slot,
    phase,
    stale: drift.length > 0,
    ...(claimedBy === undefined ? {} : { claimedBy }),
    ...(dirt === undefined ? {} : { dirt }),
    ...(relabel ? { relabel } : {}),
    ...(target ? {} : { surplus: true }),
  }));
}

const FREE = (slot: string) => ({ slot, phase: 'ready', stale: false });

interface Healthy {
  readonly title: string;
  readonly file: string;
  readonly pool?: string;
  readonly keycloak?: boolean;
  readonly given?: Partial<Settings>;
  readonly slots: readonly string[];
}

it.each<Healthy>([
  { title: 'with Keycloak', file: 'a-pool-keycloak/objects.json', slots: ['1', '2', '3'] },
  {
    title: 'without Keycloak',
    file: 'b-pool-plain/objects.json',
    keycloak: false,
    slots: ['1', '2', '3'],
  },
  {
    title: 'with a sidecar',
    file: 'c-pool-sidecar-nomount/objects.json',
    pool: 'java-ls',
    slots: ['1', '2'],
  },
  {
    title: 'with a sidecar that shares a volume with the IDE',
    file: 'c-pool-sidecar-mount/objects.json',
    pool: 'java-ls-ws',
    slots: ['1', '2'],
  },
  {
    title: 'with data bridge, monitor and limits',
    file: 'd-pool-bridge-monitor-limits/objects.json',
    pool: 'java-17-full',
    given: { enableActivityTracker: true },
    slots: ['1', '2'],
  },
  {
    title: 'in host mode, with wondershaper and caches',
    file: 'p-pool-wondershaper-caches-host/objects.json',
    given: {
      usePaths: false,
      instancesPath: '',
      instancesHost: 'instances.example.org',
      bandwidthLimiter: 'K8SANNOTATIONANDWONDERSHAPER',
      wondershaperImage: 'registry.example.org/theia-cloud/wondershaper:1.2.0',
      enableBuildCaching: true,
      buildCacheUrl: 'https://cache.example.org/',
      enableBuildCachePush: true,
      enableDependencyCaching: true,
      dependencyCacheUrl: 'https://deps.example.org/',
    },
    slots: ['1'],
  },
])('a recorded pool $title is adopted with no write but to its own WarmPool', async (healthy) => {
  const { file, pool = JAVA, keycloak = true, given = {}, slots } = healthy;
  const cluster = await install(recorded(file), keycloak, given);
  expect(await look(cluster, pool)).toEqual(slots.map(FREE));

  await pass(cluster, pool);
  expect(cluster.writes()).toEqual([`create warmpools/${pool}`, `patch warmpools/status/${pool}`]);
  expect(cluster.find('WarmPool', pool)).toMatchObject({ status: { adopted: true } });

  const before = cluster.writes().length;
  await pass(cluster, pool);
  expect(cluster.writes()).toHaveLength(before);
});

it('a pool at rest costs ten requests, all of them reads', async () => {
  const cluster = await install(recorded('a-pool-keycloak/objects.json'));
  await pass(cluster);
  const requests: string[] = [];
  const counted = new Proxy(cluster.api, {
    get:
      (api, method) =>
      (...args: unknown[]) => {
        requests.push(String(method));
        return Reflect.apply(Reflect.get(api, method), api, args);
      },
  });
  await pass({ ...cluster, api: counted });
  expect(requests).toEqual(['get', ...Array(7).fill('list'), 'get', 'list']);
});

const USER = (number: number) => `ws-java-17-course-learner-${number}-example-org-session`;
const EMPTY = (slot: string) => ({ slot, phase: 'missing', stale: false });

it.each([
  {
    title:
      'after an image change while the operator was down, free slots are stale, a claimed one is only counted',
    file: 'k-image-change-while-down/after.json',
    slots: [
      { ...FREE('1'), stale: true, claimedBy: USER(1), relabel: true },
      { ...FREE('2'), stale: true, relabel: true },
      { ...FREE('3'), stale: true, relabel: true },
    ],
  },
  {
    title: 'a claimed slot beyond the wanted number is surplus and kept',
    file: 'i-scale/2-min2.json',
    slots: [
      { ...FREE('1'), claimedBy: USER(1), relabel: true },
      FREE('2'),
      { slot: '3', phase: 'pending', stale: false, claimedBy: USER(3), relabel: true, surplus: true },
    ],
  },
  {
    title: 'a slot whose user left while nobody looked is dirty',
    file: 'm-session-deleted-while-down/1-deleted-while-down.json',
    slots: [EMPTY('1'), EMPTY('2'), { ...FREE('3'), dirt: 'allow-list' }],
  },
])('$title', async ({ file, slots }) => {
  const cluster = await install(recorded(file));
  expect(await look(cluster)).toEqual(slots);
});

it('a slot that lost its Deployment is pending, not stale', async () => {
  const objects = [...recorded('a-pool-keycloak/objects.json')].filter(
    ({ kind, metadata }) => kind !== 'Deployment' || !metadata.name.startsWith('instance-3-'),
  );
  const cluster = await install(objects);
  expect((await look(cluster))[2]).toEqual({ slot: '3', phase: 'pending', stale: false });
});

describe('an operator with a template of its own', () => {
  const own = (object: KubeObject): KubeObject =>
    object.kind === 'Deployment'
      ? JSON.parse(
          JSON.stringify(object).replace('"dnsPolicy":', '"nodeSelector":{"ide":"yes"},"dnsPolicy":'),
        )
      : object;
  const objects = recorded('a-pool-keycloak/objects.json').map(own);
  const broken = objects.filter(
    ({ kind, metadata }) => kind !== 'Deployment' || !metadata.name.startsWith('instance-3-'),
  );
  const changes = (cluster: Installed) => cluster.writes().filter((write) => !write.includes(' events/'));
  const degraded = (cluster: Installed) => {
    const { status } = cluster.find('WarmPool', JAVA) as unknown as { status: PoolStatus };
    return status.conditions.find(({ type }) => type === 'Degraded');
  };

  it('keeps its pool as it is: nothing is made or taken away, and the pool says why', async () => {
    const cluster = await install(broken);
    await pass(cluster);
    await pass(cluster);

    expect(changes(cluster)).toEqual([`create warmpools/${JAVA}`, `patch warmpools/status/${JAVA}`]);
    expect(degraded(cluster)).toMatchObject({ status: 'True', reason: 'TemplateMismatch' });
    expect(degraded(cluster)?.message).toContain('deployment: spec.template.spec.nodeSelector');
  });

  it.each(['AppDefinition', 'WarmPool'])('gives way when a person accepts that on the %s', async (kind) => {
    const cluster = await install(broken);
    await pass(cluster);
    const hash = /=(\S+)$/.exec(degraded(cluster)?.message ?? '')?.[1];
    cluster.patch(kind, JAVA, { metadata: { annotations: { 'everwarm.dev/accept-template': hash } } });
    await pass(cluster);

    expect(degraded(cluster)).toMatchObject({ status: 'False' });
    expect(changes(cluster)).toContain(`create deployments/${thirdDeployment(cluster)}`);
    expect(cluster.find('WarmPool', JAVA)).toMatchObject({ status: { adopted: true } });
  });
});

function thirdDeployment(cluster: Installed): string {
  const uid = cluster.find('AppDefinition', JAVA)?.metadata.uid ?? '';
  return `instance-3-java-17-course-${uid.slice(-12)}`;
}
