import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import { createTheiaCloud } from '../../../src/platform/theia-cloud/theia-cloud.ts';
import type { Instance } from '../../../src/pool/types.ts';
import { createVirtualClock } from '../../../src/simulator/virtual-clock.ts';
import { type Installed, install, NAMESPACE } from './_installed.ts';
import { recorded } from './_recorded.ts';

const NAME = 'java-17-course';
const platform = createTheiaCloud({
  mode: 'guard',
  oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy',
});

/** Later objects take the place of earlier ones of their name. */
function over(earlier: readonly KubeObject[], later: readonly KubeObject[]): readonly KubeObject[] {
  const key = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`;
  const names = new Set(later.map(key));
  return [...earlier.filter((object) => !names.has(key(object))), ...later];
}

const CLAIMED = over(recorded('a-pool-keycloak/objects.json'), recorded('f-claim-eager/after.json'));

async function look({ api }: Installed, name = NAME): Promise<readonly Instance[]> {
  const [seen] = await platform.observe(api, { cluster: 'c', namespace: NAMESPACE, name }, { quota: false });
  return seen?.observed.instances ?? [];
}

interface Spec {
  readonly spec: { readonly user: string };
}

/** What the users of a pool lack, by slot, in the order in which they get it; names without the pool's. */
async function needs(cluster: Installed, name = NAME) {
  const held = (await look(cluster, name)).filter(({ claimedBy }) => claimedBy !== undefined);
  return Object.fromEntries(
    held.map((one) => [
      one.slot,
      one.needs.map(({ object, lacks }) => `${short(object)}: ${lacks.join(', ')}`),
    ]),
  );
}

/** `Service/instance-1-java-17-course-9a1d0c792417-int` → `Service int`. */
function short(object: string): string {
  const [kind = '', name = ''] = object.split('/');
  const what = /-(proxy|email|int)\b/.exec(name)?.[1];
  return what === undefined ? kind : `${kind} ${what}`;
}

/** One pass; answers with its writes on instances and routes, the pool's own objects and Events left out. */
async function pass(cluster: Installed, name = NAME): Promise<readonly string[]> {
  const before = cluster.writes().length;
  const key = { cluster: 'c', platform: 'theia-cloud', namespace: NAMESPACE, name };
  // Nobody moves this clock: a pass goes on at once where it would wait.
  const clock = { ...createVirtualClock(cluster.now()), sleep: () => Promise.resolve() };
  await reconcile(
    { api: cluster.api, platform, clock, random: seededRandom(7), report: () => undefined },
    key,
  );
  const writes = cluster.writes().slice(before);
  return writes.filter((write) => !/ (warmpools|events)\//.test(write) && !write.includes('/status/'));
}

function named(cluster: Installed, objects: readonly KubeObject[], kind: string, start: string): KubeObject {
  const old = objects.find((o) => o.kind === kind && o.metadata.name.startsWith(start));
  const uid = cluster.find('AppDefinition', NAME)?.metadata.uid?.slice(-12) ?? '';
  const name = (old?.metadata.name ?? '').replace(/[0-9a-f]{12}/, uid);
  const found = cluster.find(kind, name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

const owners = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).map(({ kind }) => kind);

describe('a recorded claim', () => {
  it('is protected and held, and lacks nothing after that', async () => {
    const cluster = await install(CLAIMED);
    await pass(cluster);
    expect(await needs(cluster)).toEqual({ 1: [] });
    for (const kind of ['proxy', 'email'])
      expect(owners(named(cluster, CLAIMED, 'ConfigMap', `instance-1-${kind}`))).toEqual([
        'AppDefinition',
        'Session',
      ]);
    const anchor = named(cluster, CLAIMED, 'Service', 'instance-1-');
    expect(owners(anchor)).toEqual(['AppDefinition', 'Session', 'WarmPool']);
    // The pod that serves this user will not serve another.
    const pod = CLAIMED.find(
      ({ kind, metadata }) => kind === 'Pod' && metadata.labels?.['app'] === `${NAME}-1`,
    );
    expect(named(cluster, CLAIMED, 'Pod', pod?.metadata.name ?? '').metadata.uid).toBe(
      anchor.metadata.annotations?.['everwarm.dev/used'],
    );
    expect(await pass(cluster)).toEqual([]);
  });

  it('costs three writes, and nobody else is written on', async () => {
    const cluster = await install(CLAIMED);
    expect((await pass(cluster)).map((write) => write.split('/')[0])).toEqual([
      'patch configmaps',
      'patch configmaps',
      'patch services',
    ]);
  });

  it('of which the Session goes lacks nothing any more', async () => {
    const going = CLAIMED.map((object) =>
      object.kind === 'Session'
        ? { ...object, metadata: { ...object.metadata, finalizers: ['a.b/c'] } }
        : object,
    );
    const cluster = await install(going);
    const [session] = going.filter(({ kind }) => kind === 'Session');
    await cluster.api.delete(
      { group: 'theia.cloud', version: 'v1beta8', kind: 'Session', plural: 'sessions', namespaced: true },
      { namespace: NAMESPACE, name: session?.metadata.name ?? '' },
      {},
    );
    expect(await needs(cluster)).toEqual({ 1: [] });
  });

  it('that is not settled yet is left to the operator', async () => {
    const early = CLAIMED.map((object) =>
      object.kind === 'Session' ? { ...object, status: { operatorStatus: 'HANDLING' } } : object,
    );
    expect(await needs(await install(early))).toEqual({ 1: [] });
  });

  it('without its route gets it again as it was recorded', async () => {
    const isRoute = ({ kind, metadata }: KubeObject) =>
      kind === 'HTTPRoute' && metadata.name.endsWith('-route');
    const session = CLAIMED.find(({ kind }) => kind === 'Session')?.metadata ?? { name: '', uid: '' };
    const own = CLAIMED.find((o) => isRoute(o) && o.metadata.name === `${session.uid}-route`);
    const cluster = await install(CLAIMED.filter((object) => object !== own));
    expect((await needs(cluster))['1']).toContain('HTTPRoute: route');
    await pass(cluster);
    const uid = cluster.find('Session', session.name)?.metadata.uid;
    const made = cluster.find('HTTPRoute', `${uid}-route`);
    const app = cluster.find('AppDefinition', NAME)?.metadata.uid?.slice(-12) ?? '';
    const expected = JSON.stringify(own?.['spec']).replaceAll(/[0-9a-f]{12}/g, app);
    expect(JSON.parse(expected)).toMatchObject(made?.['spec'] as object);
    expect(made?.metadata.labels).toEqual({
      ...own?.metadata.labels,
      'theia-cloud.io/session-uuid': uid,
    });
    expect(await pass(cluster)).toEqual([]);
  });
});

describe('what the operator was recorded to leave behind is put right:', () => {
  it.each([
    {
      title: 'an image change emptied the list of a live user',
      file: 'j-image-change-modified/after.json',
      lacking: {
        1: ['ConfigMap email: allow-list, protection', 'ConfigMap proxy: protection', 'Service: hold'],
      },
    },
    {
      title: 'scaling emptied one list and took both ConfigMaps of a user above the new size',
      file: 'i-scale/2-min2.json',
      lacking: {
        1: [
          'ConfigMap email: allow-list, protection',
          'Service int: label',
          'ConfigMap proxy: protection',
          'Deployment: label',
          'Service: label, hold',
        ],
        3: ['ConfigMap proxy: object', 'ConfigMap email: object'],
      },
    },
    {
      title: 'claims during a roll-out: empty lists, Services that are nobody’s, one Session that failed',
      file: 'x-claim-during-rollout/after.json',
      lacking: {
        1: [
          'ConfigMap email: allow-list, protection',
          'Service int: session labels, session owner',
          'ConfigMap proxy: protection',
          'Service: hold',
        ],
        2: [
          'ConfigMap email: allow-list, protection',
          'Service int: session labels, session owner',
          'ConfigMap proxy: protection',
          'Service: hold',
        ],
        3: [],
        4: ['ConfigMap email: allow-list, protection', 'ConfigMap proxy: protection', 'Service: hold'],
        5: ['ConfigMap email: allow-list, protection', 'ConfigMap proxy: protection', 'Service: hold'],
      },
    },
  ])('$title', async ({ file, lacking }) => {
    const cluster = await install(recorded(file));
    // Without a WarmPool nothing can be held yet: its first pass makes it.
    const first = Object.entries(lacking).map(([slot, list]) => [
      slot,
      list.map((need) => need.replace(', hold', '')).filter((need) => need !== 'Service: hold'),
    ]);
    expect(await needs(cluster)).toEqual(Object.fromEntries(first));
    await pass(cluster);
    expect(await needs(cluster)).toEqual(Object.fromEntries(Object.keys(lacking).map((slot) => [slot, []])));
    const users = (await look(cluster)).filter(({ claimedBy, claimTrouble }) => claimedBy && !claimTrouble);
    for (const { slot, claimedBy } of users) {
      const { spec } = cluster.find('Session', claimedBy ?? '') as unknown as Spec;
      const list = named(cluster, recorded('a-pool-keycloak/objects.json'), 'ConfigMap', 'instance-1-email');
      const email = cluster.find('ConfigMap', list.metadata.name.replace('instance-1-', `instance-${slot}-`));
      expect(email?.['data']).toEqual({ 'authenticated-emails-list': spec.user });
    }
    expect(await pass(cluster)).toEqual([]);
  });

  it('a stale instance in use says in our own label that it is stale, and only then wears the new label', async () => {
    const cluster = await install(recorded('j-image-change-modified/after.json'));
    await pass(cluster);
    const [one] = (await look(cluster)).filter(({ slot }) => slot === '1');
    expect(one?.drift).toEqual([expect.stringContaining('image')]);
    const deployment = named(cluster, recorded('a-pool-keycloak/objects.json'), 'Deployment', 'instance-1-');
    expect(deployment.metadata.labels).toMatchObject({
      'theia-cloud.io/appdefinition-generation': '5',
      'everwarm.dev/revision': 'stale-g1',
    });
    const { template } = deployment['spec'] as { template: KubeObject };
    expect(template.metadata.labels).toMatchObject({ 'theia-cloud.io/appdefinition-generation': '1' });
    const marked = cluster.commits.filter(
      ({ object }) => object.metadata.labels?.['everwarm.dev/revision'] === 'stale-g1',
    );
    const held = cluster.commits.findIndex(({ object }) => owners(object).includes('WarmPool'));
    expect(held).toBeGreaterThanOrEqual(0);
    expect(cluster.commits.indexOf(marked[0] as (typeof marked)[0])).toBeGreaterThan(held);
  });

  it('objects that a shrunk pool leaked are removed, those of live users stay', async () => {
    const cluster = await install(recorded('x-slot-leaked-after-shrink/after-release.json'));
    const isLeaked = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).length === 0;
    const leaked = recorded('x-slot-leaked-after-shrink/after-release.json').filter(
      (o) => o.metadata.name.startsWith('instance-') && isLeaked(o),
    );
    expect(leaked.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Service', 'Service']);
    const writes = await pass(cluster, 'leak');
    const removed = writes.filter((write) => /^delete .*instance-2-/.test(write));
    expect(removed.map((write) => write.split('/')[0]).sort()).toEqual([
      'delete deployments',
      'delete services',
      'delete services',
    ]);
  });
});

describe('a claim that went wrong is said:', () => {
  it.each([
    [
      'it failed and still holds its slot',
      'l-deployment-deleted/after-claim-of-broken-slot.json',
      NAME,
      'FailedClaim',
    ],
    [
      'it got the Service of a sidecar',
      'c-claim-sidecar-sorts-first/after.json',
      'python-course',
      'WrongObject',
    ],
  ])('%s', async (_, file, pool, reason) => {
    const cluster = await install(recorded(file));
    const wrong = (await look(cluster, pool)).flatMap(({ claimTrouble }) => claimTrouble ?? []);
    expect(new Set(wrong.map((one) => one.reason))).toEqual(new Set([reason]));
    for (const { message } of wrong) expect(message).toMatch(/^slot \d.*session/);
  });

  it('and a third Service is not labelled as the Session’s, or no release would find the two', async () => {
    const cluster = await install(recorded('c-claim-sidecar-sorts-first/after.json'));
    const all = Object.values(await needs(cluster, 'python-course')).flat();
    expect(all.filter((need) => need.includes('session labels'))).toEqual([]);
  });
});
