import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { createNamespaces } from '../../src/embedded/boot.ts';
import { type Fault, type RequestLogged, serve } from '../../src/embedded/http.ts';
import { createStore, type EmbeddedStore } from '../../src/embedded/store.ts';
import type { KubeApi, Outcome } from '../../src/kube/api.ts';
import type { Cluster } from '../../src/kube/auth/cluster.ts';
import { kubeconfigCluster } from '../../src/kube/auth/kubeconfig.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { createReflector } from '../../src/kube/reflector.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { leapingClock } from './_leaping-clock.ts';
import { configMaps, deployments, TOKEN } from './_world.ts';

interface World {
  readonly store: EmbeddedStore;
  readonly api: KubeApi;
  readonly cluster: Cluster;
  readonly log: readonly RequestLogged[];
  readonly kubeconfig: string;
  /** What happens to the next request that changes something. */
  fail(fault: Fault): void;
}

/** The embedded API server over TLS, with the namespace `ide`, and a client that trusts it. */
async function world(historyMax = 1_000): Promise<World> {
  const random = seededRandom(1);
  const store = createStore({ now: () => systemClock.now(), random, historyMax });
  createNamespaces(store, ['ide']);
  const log: RequestLogged[] = [];
  let next: Fault | undefined;
  const server = await serve(store, {
    clock: systemClock,
    random,
    tokens: { [TOKEN]: 'everwarm' },
    onRequest: (request) => log.push(request),
    fault: ({ method }) => {
      if (method === 'GET') return undefined;
      const fault = next;
      next = undefined;
      return fault;
    },
  });
  onTestFinished(() => server.close());
  const cluster: Cluster = { server: server.url, ca: server.caPem, token: async () => TOKEN };
  return {
    store,
    api: createKubeApi({ cluster, clock: leapingClock(), random, pageSize: 100 }),
    cluster,
    log,
    kubeconfig: server.kubeconfig(TOKEN, 'ide'),
    fail: (fault) => {
      next = fault;
    },
  };
}

const body = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const at = (name: string) => ({ namespace: 'ide', name });

async function made(outcome: Promise<Outcome<{ metadata: { uid?: string; resourceVersion?: string } }>>) {
  const result = await outcome;
  if (result.kind !== 'ok') throw new Error(result.message);
  return {
    uid: result.value.metadata.uid ?? '',
    resourceVersion: result.value.metadata.resourceVersion ?? '',
  };
}

describe('against an API server, over TLS', () => {
  it('an object is made once, changed by who knows it, and deleted by who knows its last state', async () => {
    const { api } = await world();
    const first = await made(api.create(configMaps, 'ide', body('a', { x: '1' })));
    expect((await api.create(configMaps, 'ide', body('a'))).kind).toBe('exists');
    const guarded = (resourceVersion: string) =>
      api.patch(configMaps, at('a'), {
        type: 'json',
        patch: [
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
          { op: 'replace', path: '/data/x', value: '2' },
        ],
      });
    expect((await guarded('1')).kind).toBe('invalid');
    const second = await made(guarded(first.resourceVersion));
    const stale = { preconditions: first };
    expect((await api.delete(configMaps, at('a'), stale)).kind).toBe('conflict');
    expect((await api.delete(configMaps, at('a'), { preconditions: second })).kind).toBe('ok');
    expect((await api.get(configMaps, at('a'))).kind).toBe('notFound');
    expect((await api.delete(configMaps, at('a'), {})).kind).toBe('notFound');
  });

  it('a write whose answer is lost may have happened, and a look tells', async () => {
    const { api, cluster, fail } = await world();
    const impatient = createKubeApi({
      cluster,
      clock: systemClock,
      random: seededRandom(1),
      deadlineMs: 1_000,
    });
    fail({ cut: 'after' });
    expect((await impatient.create(configMaps, 'ide', body('a'))).kind).toBe('unknown');
    expect((await api.get(configMaps, at('a'))).kind).toBe('ok');
    fail({ cut: 'before' });
    expect((await api.create(configMaps, 'ide', body('b'))).kind).toBe('unknown');
    expect((await api.get(configMaps, at('b'))).kind).toBe('notFound');
  });

  it('a list of many objects comes whole, page by page', async () => {
    const { api, log } = await world();
    for (let i = 0; i < 250; i += 1) await api.create(configMaps, 'ide', body(`map-${i}`, { x: '1' }));
    const before = log.length;
    for (const metadataOnly of [false, true]) {
      const listed = await api.list(configMaps, { namespace: 'ide', metadataOnly });
      const items = listed.kind === 'ok' ? listed.value.items : [];
      expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(250);
      expect(new Set(items.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`))).toEqual(
        new Set(['v1 ConfigMap']),
      );
      expect(items.some((item) => 'data' in item)).toBe(!metadataOnly);
    }
    expect(log.length - before).toBe(6);
  });

  it('nothing is said to a server that the authority does not vouch for', async () => {
    const { cluster, log } = await world();
    const { ca: _, ...stranger } = cluster;
    const api = createKubeApi({ cluster: stranger, clock: leapingClock(), random: seededRandom(1) });
    const outcome = await api.get(configMaps, at('a'));
    expect(outcome).toMatchObject({
      kind: 'unknown',
      message: expect.stringMatching(/ConfigMap ide\/a: [A-Z_]+$/),
    });
    expect(log).toEqual([]);
  });

  it('a kubeconfig is enough', async () => {
    const { kubeconfig } = await world();
    const directory = await mkdtemp(join(tmpdir(), 'everwarm-kubeconfig-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'config');
    await writeFile(file, kubeconfig);
    const cluster = await kubeconfigCluster({ file });
    const api = createKubeApi({ cluster, clock: leapingClock(), random: seededRandom(1) });
    expect(cluster.defaultNamespace).toBe('ide');
    expect(await api.list(deployments, { namespace: 'ide' })).toMatchObject({
      kind: 'ok',
      value: { items: [] },
    });
  });

  it('a wrong token is unauthorized after one more try', async () => {
    const { cluster, log } = await world();
    const api = createKubeApi({
      cluster: { ...cluster, token: async () => 'wrong' },
      clock: leapingClock(),
      random: seededRandom(1),
    });
    expect((await api.get(configMaps, at('a'))).kind).toBe('unauthorized');
    expect(log.map(({ code }) => code)).toEqual([401, 401]);
  });

  it.each([false, true])('a reflector hears of everything (metadata alone: %s)', async (metadataOnly) => {
    const { api, store, cluster } = await world();
    await api.create(configMaps, 'ide', body('a', { x: '1' }));
    const told: string[] = [];
    const changes = Promise.withResolvers<void>();
    const stop = new AbortController();
    const reflector = createReflector({
      api: createKubeApi({ cluster, clock: systemClock, random: seededRandom(2) }),
      resource: configMaps,
      list: { namespace: 'ide', metadataOnly },
      clock: systemClock,
      random: seededRandom(2),
      log: createLog({ clock: systemClock, format: 'human', write: (line) => told.push(line) }),
      keep: () => undefined,
      onChange: ({ type, object }) => {
        told.push(`${type} ${object.kind} ${object.metadata.name}${'data' in object ? ' with data' : ''}`);
        if (object.metadata.name === 'last') changes.resolve();
      },
    });
    const run = reflector.run(stop.signal);
    await reflector.answered;
    await api.patch(configMaps, at('a'), { type: 'merge', patch: { data: { x: '2' } } });
    await api.delete(configMaps, at('a'), {});
    await api.create(configMaps, 'ide', body('last', { x: '3' }));
    await changes.promise;
    stop.abort();
    await run;
    const data = metadataOnly ? '' : ' with data';
    expect(told).toEqual([
      `sync ConfigMap a${data}`,
      `changed ConfigMap a${data}`,
      `deleted ConfigMap a${data}`,
      `changed ConfigMap last${data}`,
    ]);
    expect(store.revision()).toBeGreaterThan(0);
  });

  it('a watch whose place is forgotten says so', async () => {
    const { api } = await world(5);
    for (let i = 0; i < 20; i += 1) await api.create(configMaps, 'ide', body(`map-${i}`));
    const watch = api.watch(
      configMaps,
      { namespace: 'ide', resourceVersion: '1' },
      new AbortController().signal,
    );
    const events = [];
    for await (const event of watch) events.push(event);
    expect(events).toMatchObject([{ type: 'ERROR', code: 410, message: expect.stringContaining('too old') }]);
  });
});
