import { expect, it } from 'vitest';
import { directApi } from '../../src/embedded/direct.ts';
import type { WatchEvent } from '../../src/kube/api.ts';
import { CONFIG_MAPS, configMap, openApi, PODS, QUOTAS, WIDGETS, widget } from './_api.ts';

function direct() {
  const api = openApi();
  return { api, kube: directApi(api.store, { user: 'everwarm', now: () => api.now() + 250 }) };
}

it('hands out the stored objects themselves, at the second of the server', async () => {
  const { api, kube } = direct();
  const created = await kube.create(WIDGETS, 'ns', widget('a'));
  expect(created).toMatchObject({ kind: 'ok', serverTime: api.now() });
  const read = await kube.get(WIDGETS, { namespace: 'ns', name: 'a' });
  expect(created.kind === 'ok' && read.kind === 'ok' && created.value === read.value).toBe(true);
});

it('names every outcome', async () => {
  const { kube } = direct();
  const place = { namespace: 'ns', name: 'a' };
  const kinds = async (outcomes: readonly Promise<{ readonly kind: string }>[]) =>
    (await Promise.all(outcomes)).map(({ kind }) => kind);
  await kube.create(QUOTAS, 'ns', { metadata: { name: 'q' }, spec: { hard: { pods: '0' } } });
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'main', image: 'web' }] } };
  expect(
    await kinds([
      kube.get(WIDGETS, place),
      kube.create(WIDGETS, 'ns', widget('a')),
      kube.create(WIDGETS, 'ns', widget('a')),
      kube.create(WIDGETS, 'ns', widget('b', { size: 1000 })),
      kube.create(PODS, 'ns', pod),
      kube.patch(WIDGETS, place, { type: 'merge', patch: { metadata: { resourceVersion: '1' } } }),
      kube.patch(WIDGETS, place, { type: 'json', patch: [{ op: 'test', path: '/spec/size', value: 9 }] }),
      kube.delete(WIDGETS, place, { preconditions: { uid: 'other' } }),
      kube.delete(WIDGETS, place, { propagation: 'Foreground' }),
      kube.create(CONFIG_MAPS, 'ns', { ...configMap('c', { resourceVersion: '1' }) }),
    ]),
  ).toEqual([
    'notFound',
    'ok',
    'exists',
    'invalid',
    'forbidden',
    'conflict',
    'invalid',
    'conflict',
    'ok',
    'unknown',
  ]);
});

it('passes on why an object was refused', async () => {
  const { kube } = direct();
  expect(await kube.create(WIDGETS, 'ns', widget('b', { mode: 'x' }))).toMatchObject({
    kind: 'invalid',
    reason: 'Invalid',
    causes: [{ field: 'spec.mode', reason: 'FieldValueNotSupported' }, {}],
  });
});

it('says when it is told to slow down', async () => {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: { name: '' }, code: 429, message: 'slow' };
  let busy = false;
  const api = openApi({ intercept: () => (busy ? { code: 429, body } : undefined) });
  busy = true;
  const kube = directApi(api.store, { user: 'u', now: api.now });
  expect(await kube.list(WIDGETS, {})).toEqual({ kind: 'throttled', message: 'slow', retryAfterMs: 1000 });
});

it('lists whole objects, or their metadata alone', async () => {
  const { kube } = direct();
  await kube.create(WIDGETS, 'ns', widget('a', {}, { labels: { x: 'y' } }));
  await kube.create(WIDGETS, 'ns', widget('b'));
  const full = await kube.list(WIDGETS, { namespace: 'ns', labelSelector: 'x=y' });
  expect(full).toMatchObject({ kind: 'ok', value: { items: [{ kind: 'Widget', spec: { size: 1 } }] } });
  const bare = await kube.list(WIDGETS, { metadataOnly: true });
  expect(bare.kind === 'ok' && bare.value.items.map((item) => Object.keys(item))).toEqual([
    ['apiVersion', 'kind', 'metadata'],
    ['apiVersion', 'kind', 'metadata'],
  ]);
});

it('watches from a list on, until it is aborted', async () => {
  const { kube } = direct();
  await kube.create(WIDGETS, 'ns', widget('a'));
  const listed = await kube.list(WIDGETS, { namespace: 'ns' });
  if (listed.kind !== 'ok') throw new Error(listed.message);
  await kube.patch(WIDGETS, { namespace: 'ns', name: 'a' }, { type: 'merge', patch: { spec: { size: 2 } } });
  const aborter = new AbortController();
  const seen: WatchEvent['type'][] = [];
  const wanted = { namespace: 'ns', resourceVersion: listed.value.resourceVersion };
  for await (const event of kube.watch(WIDGETS, wanted, aborter.signal)) {
    seen.push(event.type);
    if (seen.length === 1) await kube.delete(WIDGETS, { namespace: 'ns', name: 'a' }, {});
    if (seen.length === 2) aborter.abort();
  }
  expect(seen).toEqual(['MODIFIED', 'DELETED']);
});

it('tells a watcher that it comes too late', async () => {
  const { kube } = direct();
  const events: WatchEvent[] = [];
  const wanted = { resourceVersion: '1' };
  for await (const event of kube.watch(WIDGETS, wanted, new AbortController().signal)) events.push(event);
  expect(events).toMatchObject([{ type: 'ERROR', code: 410 }]);
});

it('rejects a watch of nothing', async () => {
  const { kube } = direct();
  const stream = kube.watch(
    { ...WIDGETS, plural: 'gadgets' },
    { resourceVersion: '1' },
    new AbortController().signal,
  );
  const first = stream[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ name: 'WatchError', failure: { kind: 'notFound' } });
});
