import { expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import { createTheiaCloud } from '../../../src/platform/theia-cloud/theia-cloud.ts';
import { createVirtualClock } from '../../../src/simulator/virtual-clock.ts';
import { type Installed, install, NAMESPACE } from './_installed.ts';
import { recorded } from './_recorded.ts';

const KEY = { cluster: 'c', platform: 'theia-cloud', namespace: NAMESPACE, name: 'java-17-course' };
const platform = createTheiaCloud({
  mode: 'guard',
  oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy',
});

async function pass({ api, now }: Installed): Promise<void> {
  const clock = createVirtualClock(now());
  await reconcile({ api, platform, clock, random: seededRandom(7), report: () => undefined }, KEY);
}

async function look({ api }: Installed) {
  const { cluster, namespace, name } = KEY;
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

it.each([
  { title: 'with Keycloak', file: 'a-pool-keycloak/objects.json', keycloak: true },
  { title: 'without Keycloak', file: 'b-pool-plain/objects.json', keycloak: false },
])('a recorded pool $title is adopted with no write but to its own WarmPool', async ({ file, keycloak }) => {
  const cluster = await install(recorded(file), keycloak);
  expect(await look(cluster)).toEqual([FREE('1'), FREE('2'), FREE('3')]);

  await pass(cluster);
  expect(cluster.writes()).toEqual([
    'create warmpools/java-17-course',
    'patch warmpools/status/java-17-course',
  ]);

  const before = cluster.writes().length;
  await pass(cluster);
  expect(cluster.writes()).toHaveLength(before);
});

it('a pool at rest costs eight requests, all of them reads', async () => {
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
  expect(requests).toEqual(['get', 'list', 'list', 'list', 'list', 'list', 'get', 'list']);
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
