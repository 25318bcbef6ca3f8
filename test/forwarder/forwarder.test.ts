import { describe, expect, it, onTestFinished } from 'vitest';
import { silentKinds } from '../../src/app/liveness.ts';
import { type Clock, seededRandom, systemClock } from '../../src/clock.ts';
import { directApi } from '../../src/embedded/direct.ts';
import { createStore, type EmbeddedStore } from '../../src/embedded/store.ts';
import { type Forwarder, startForwarder } from '../../src/forwarder/main.ts';
import type { Failure, KubeApi, KubeObject, Resource } from '../../src/kube/api.ts';
import { WatchError } from '../../src/kube/errors.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { formatKey } from '../../src/pool/key.ts';
import { createVirtualClock, type VirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createLocalQueue } from '../../src/transport/local-queue.ts';
import type { Notice } from '../../src/transport/notice.ts';
import { triggerOf } from '../../src/transport/queue.ts';
import { createWebhookClient } from '../../src/transport/webhook-client.ts';
import { startWebhookServer } from '../../src/transport/webhook-server.ts';
import { recordingLog, SECRET, START } from '../transport/_world.ts';

const core = (kind: string, plural: string): Resource => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});
const CONFIG_MAPS = core('ConfigMap', 'configmaps');
const SERVICES = core('Service', 'services');
const QUOTAS = core('ResourceQuota', 'resourcequotas');
const WIDGETS: Resource = {
  group: 'g.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

/** A platform whose objects name their pools in the label `pool`. Services stand for users: they are urgent. */
const platform: Pick<Platform, 'name' | 'watches' | 'keysOf'> = {
  name: 'plain',
  watches: [
    {
      resource: CONFIG_MAPS,
      metadataOnly: false,
      urgent: false,
      changed: ({ data }) => JSON.stringify(data),
    },
    { resource: SERVICES, metadataOnly: true, urgent: true },
    { resource: QUOTAS, metadataOnly: true, urgent: false },
  ],
  keysOf: ({ kind }, { metadata }) =>
    kind === 'ResourceQuota' ? ['*'] : (metadata.labels?.['pool'] ?? '').split('_'),
};

interface Cluster {
  readonly store: EmbeddedStore;
  readonly api: KubeApi;
  put(resource: Resource, name: string, more?: Record<string, unknown>): void;
  remove(resource: Resource, name: string): void;
}

/** An embedded cluster with the namespace `ide`. */
function cluster(clock: Clock): Cluster {
  const store = createStore({ now: () => clock.now(), random: seededRandom(1), historyMax: 1 });
  const user = 'test';
  const execute = (request: Parameters<EmbeddedStore['execute']>[0]) => {
    const response = store.execute(request);
    if (response.code >= 300) throw new Error(JSON.stringify(response.body));
  };
  execute({
    verb: 'create',
    resource: core('Namespace', 'namespaces'),
    body: { metadata: { name: 'ide' } },
    user,
  });
  return {
    store,
    api: directApi(store, { user, now: () => clock.now() }),
    put(resource, name, more = {}) {
      const at = { resource, namespace: 'ide', name, user };
      const { labels, ...rest } = more;
      const body = { metadata: { name, ...(labels === undefined ? {} : { labels }) }, ...rest };
      if (store.execute({ verb: 'get', ...at }).code === 200)
        execute({ verb: 'patch', patchType: 'merge', ...at, body });
      else execute({ verb: 'create', resource, namespace: 'ide', user, body });
    },
    remove: (resource, name) => execute({ verb: 'delete', resource, namespace: 'ide', name, user }),
  };
}

const inPool = (pool: string) => ({ labels: { pool } });
const port = { spec: { ports: [{ port: 80 }] } };

/** The way between the forwarder and the API server. */
interface Network {
  cut(): void;
  mend(): void;
}

/** `api` as it is seen over a network that can be cut: open watches break off, nothing gets through. */
function cuttable(api: KubeApi): { readonly api: KubeApi; readonly network: Network } {
  const failure: Failure = { kind: 'unknown', message: 'ECONNRESET' };
  let cut = new AbortController();
  return {
    api: {
      ...api,
      list: async (resource, options) => (cut.signal.aborted ? failure : await api.list(resource, options)),
      async *watch(resource, options, signal) {
        const { signal: broken } = cut;
        yield* api.watch(resource, options, AbortSignal.any([signal, broken]));
        if (broken.aborted) throw new WatchError(failure);
      },
    },
    network: {
      cut: () => cut.abort(),
      mend: () => {
        cut = new AbortController();
      },
    },
  };
}

interface World extends Cluster {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly forwarder: Forwarder;
  readonly lines: readonly string[];
  /** The notices since the last look, as `java changed settings (1)`, sorted. */
  news(): string[];
}

/** A forwarder beside an embedded cluster, which `prepare` fills before it starts. */
async function world(prepare: (cluster: Cluster) => void = () => {}, watched = platform): Promise<World> {
  const clock = createVirtualClock(START);
  const { log, lines } = recordingLog();
  const inside = cluster(clock);
  prepare(inside);
  const { api, network } = cuttable(inside.api);
  const sent: Notice[] = [];
  const forwarder = startForwarder({
    api,
    clock,
    random: seededRandom(2),
    platforms: [watched],
    clusterId: 'prod',
    namespaces: ['ide'],
    send: async (notice) => sent.push(notice),
    log,
  });
  onTestFinished(() => forwarder.stop());
  await forwarder.ready;
  return {
    ...inside,
    clock,
    network,
    forwarder,
    lines,
    news: () =>
      sent
        .splice(0)
        .map(
          ({ data: { key, reason, object, coalesced } }) => `${key} ${reason} ${object.name} (${coalesced})`,
        )
        .sort(),
  };
}

describe('the forwarder', () => {
  it('begins by naming every pool once', async () => {
    const { clock, news } = await world(({ put }) => {
      put(CONFIG_MAPS, 'a1', inPool('java'));
      put(CONFIG_MAPS, 'a2', inPool('java'));
      put(CONFIG_MAPS, 'b1', inPool('python'));
    });
    await clock.advance(2_000);
    expect(news()).toEqual(['prod/plain/ide/java sync a2 (2)', 'prod/plain/ide/python sync b1 (1)']);
  });

  it('says that something changed, a quarter of a second later, and at once where a user waits', async () => {
    const { clock, put, news } = await world();
    await clock.advance(5_000);
    put(CONFIG_MAPS, 'a1', inPool('java'));
    put(SERVICES, 's1', { ...inPool('python'), ...port });
    await clock.settle();
    expect(news()).toEqual(['prod/plain/ide/python changed s1 (1)']);
    await clock.advance(250);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
  });

  it('says at once that something is gone', async () => {
    const { clock, remove, news } = await world(({ put }) => put(CONFIG_MAPS, 'a1', inPool('java')));
    await clock.advance(5_000);
    news();
    remove(CONFIG_MAPS, 'a1');
    await clock.settle();
    expect(news()).toEqual(['prod/plain/ide/java deleted a1 (1)']);
  });

  it('keeps to itself what its platform calls no news', async () => {
    const { clock, put, news } = await world(({ put: make }) =>
      make(CONFIG_MAPS, 'a1', { ...inPool('java'), data: { x: '1' } }),
    );
    await clock.advance(5_000);
    news();
    put(CONFIG_MAPS, 'a1', { labels: { pool: 'java', seen: 'yes' } });
    await clock.advance(5_000);
    expect(news()).toEqual([]);
    put(CONFIG_MAPS, 'a1', { data: { x: '2' } });
    await clock.advance(5_000);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
  });

  it('tells both pools of an object that moves from one to the other', async () => {
    const { clock, put, news } = await world(({ put: make }) => make(CONFIG_MAPS, 'a1', inPool('java')));
    await clock.advance(5_000);
    news();
    put(CONFIG_MAPS, 'a1', inPool('python'));
    await clock.advance(5_000);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)', 'prod/plain/ide/python changed a1 (1)']);
  });

  it('tells every pool that there is, and none that is gone, of what concerns them all', async () => {
    const { clock, put, remove, news } = await world(({ put: make }) => {
      make(CONFIG_MAPS, 'a1', inPool('java'));
      make(CONFIG_MAPS, 'b1', inPool('python'));
      make(SERVICES, 'b2', { ...inPool('python'), ...port });
      make(CONFIG_MAPS, 'c1', inPool('gone'));
    });
    remove(CONFIG_MAPS, 'c1');
    remove(CONFIG_MAPS, 'b1');
    await clock.advance(5_000);
    news();
    put(QUOTAS, 'limits', { spec: { hard: { pods: '3' } } });
    await clock.advance(5_000);
    // Made, and then its status filled in.
    expect(news()).toEqual([
      'prod/plain/ide/java changed limits (2)',
      'prod/plain/ide/python changed limits (2)',
    ]);
  });

  it('sends nothing for a name that no pool can have', async () => {
    const { clock, put, news } = await world();
    put(CONFIG_MAPS, 'a1', inPool('UPPER_java'));
    put(CONFIG_MAPS, 'a2', { data: {} });
    await clock.advance(5_000);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
  });

  it('goes on when its platform cannot bear an object', async () => {
    const picky: typeof platform = {
      ...platform,
      keysOf: (resource, object: KubeObject) => {
        if (object.metadata.name === 'hostile') throw new Error('cannot bear it');
        return platform.keysOf(resource, object);
      },
    };
    const { clock, put, news, lines } = await world(undefined, picky);
    put(CONFIG_MAPS, 'hostile', inPool('java'));
    put(CONFIG_MAPS, 'a1', inPool('java'));
    await clock.advance(5_000);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
    expect(lines.join()).toContain('error reflector.unreadable kind=ConfigMap object=ide/hostile');
  });

  it('is ready although a kind is not installed, and still alive', async () => {
    const watches = [...platform.watches, { resource: WIDGETS, metadataOnly: true, urgent: false }];
    const { clock, put, news, forwarder, lines } = await world(undefined, { ...platform, watches });
    put(CONFIG_MAPS, 'a1', inPool('java'));
    await clock.advance(5_000);
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
    expect(silentKinds(forwarder.kinds(), { now: START + 5_000, startedAt: START })).toBe(undefined);
    expect(forwarder.kinds().filter(({ isAbsent }) => isAbsent)).toMatchObject([{ kind: 'Widget' }]);
    await clock.advance(600_000);
    expect(silentKinds(forwarder.kinds(), { now: clock.now(), startedAt: START })).toBe(undefined);
    // Said once, however long it lasts.
    expect(lines.filter((line) => line.includes('watch.absent'))).toEqual([
      expect.stringContaining('warn watch.absent kind=Widget'),
    ]);
  });

  it('gives a sign of life within four minutes although nothing happens', async () => {
    const { clock, forwarder } = await world();
    for (let minute = 1; minute <= 60; minute += 1) {
      await clock.advance(60_000);
      expect(silentKinds(forwarder.kinds(), { now: clock.now(), startedAt: START })).toBe(undefined);
    }
  });

  it('loses nothing that happens while it is cut off, and then names every pool again', async () => {
    const { clock, put, remove, news, network } = await world(({ put: make }) => {
      make(CONFIG_MAPS, 'a1', inPool('java'));
      make(CONFIG_MAPS, 'c1', inPool('rust'));
    });
    await clock.advance(5_000);
    news();
    network.cut();
    remove(CONFIG_MAPS, 'a1');
    put(CONFIG_MAPS, 'b1', inPool('python'));
    put(CONFIG_MAPS, 'b1', { data: { x: '1' } });
    await clock.advance(600_000);
    expect(news()).toEqual([]);
    network.mend();
    await clock.advance(35_000);
    expect(news()).toEqual([
      'prod/plain/ide/java deleted a1 (1)',
      'prod/plain/ide/python changed b1 (1)',
      'prod/plain/ide/rust sync c1 (1)',
    ]);
  });

  it('says once that a cluster cannot be reached, reminds of it ever more rarely, and says when it is over', async () => {
    const { clock, network, lines, forwarder } = await world();
    await clock.advance(5_000);
    network.cut();
    await clock.advance(3_600_000);
    const trouble = lines.filter((line) => line.includes('watch.'));
    expect(trouble[0]).toContain('warn watch.trouble kinds=ConfigMap,ResourceQuota,Service why=ECONNRESET');
    // After 1, 3, 7, 15 and 31 minutes more.
    expect(trouble).toHaveLength(6);
    expect(silentKinds(forwarder.kinds(), { now: clock.now(), startedAt: START })).toContain(
      'nothing was heard for 240 s of ide/ConfigMap, ide/Service, ide/ResourceQuota',
    );
    network.mend();
    await clock.advance(120_000);
    expect(lines.filter((line) => line.includes('watch.')).slice(6)).toEqual([
      expect.stringContaining('watch.recovered afterSeconds=36'),
    ]);
    expect(silentKinds(forwarder.kinds(), { now: clock.now(), startedAt: START })).toBe(undefined);
  });

  it('sends what it knows before it ends, without waiting for more of it', async () => {
    const { clock, put, news, forwarder } = await world();
    await clock.advance(5_000);
    put(CONFIG_MAPS, 'a1', inPool('java'));
    await clock.settle();
    expect(forwarder.outbox()).toEqual({ size: 1, added: 1, coalesced: 0 });
    await forwarder.drain();
    expect(news()).toEqual(['prod/plain/ide/java changed a1 (1)']);
    put(CONFIG_MAPS, 'a1', { data: { x: '2' } });
    await clock.advance(600_000);
    expect(news()).toEqual([]);
    expect(forwarder.outbox()).toEqual({ size: 0, added: 1, coalesced: 0 });
  });

  it('ends when it is stopped', async () => {
    const { clock, put, news, forwarder } = await world();
    await forwarder.stop();
    put(CONFIG_MAPS, 'a1', inPool('java'));
    await clock.advance(600_000);
    expect(news()).toEqual([]);
  });
});

it('a change in the cluster reaches the queue over the signed door', async () => {
  const clock = systemClock;
  const random = seededRandom(3);
  const { log } = recordingLog();
  const inside = cluster(clock);
  const arrived = Promise.withResolvers<string>();
  const queue = createLocalQueue({
    clock,
    random,
    log,
    concurrency: 1,
    consume: async (key, [trigger]) => {
      arrived.resolve(`${formatKey(key)} ${trigger?.reason} ${trigger?.object?.name}`);
      return {};
    },
  });
  const door = await startWebhookServer({
    clock,
    log,
    secretOf: (id, keyId) => (id === 'prod' && keyId === 'k1' ? SECRET : undefined),
    accept: ({ key, notice }) => queue.add(key, triggerOf(notice)),
  });
  const stop = new AbortController();
  const url = `${door.url}/v1/notices/prod/k1`;
  const sender = createWebhookClient({ url, secret: SECRET, clock, random, log, signal: stop.signal });
  const forwarder = startForwarder({
    api: inside.api,
    clock,
    random,
    platforms: [platform],
    clusterId: 'prod',
    namespaces: ['ide'],
    send: (notice) => sender.send(notice),
    log,
  });
  await forwarder.ready;
  inside.put(SERVICES, 's1', { ...inPool('java'), ...port });
  expect(await arrived.promise).toBe('prod/plain/ide/java changed s1');
  await forwarder.flushed();
  stop.abort();
  await forwarder.stop();
  await queue.stop();
  await door.stop();
});
