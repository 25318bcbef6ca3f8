import { describe, expect, it } from 'vitest';
import {
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  namesIn,
  openApi,
  PODS,
  refusal,
  WIDGETS,
  widget,
} from './_api.ts';

function filled() {
  const api = openApi();
  for (const name of ['b0', 'b', 'b.1', 'b-1', 'a']) {
    api.create(
      CONFIG_MAPS,
      configMap(name, { labels: { app: name[0], long: name.length > 1 ? 'yes' : 'no' } }),
    );
  }
  return api;
}

it('lists by name in the order of bytes, at the newest resourceVersion', () => {
  const api = filled();
  const list = api.list(CONFIG_MAPS);
  expect(namesIn(list)).toEqual(['a', 'b', 'b-1', 'b.1', 'b0']);
  expect(list.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
  expect(list.body.metadata).toEqual({ resourceVersion: String(api.store.revision()) });
});

it('always writes a continue into the lists of custom objects', () => {
  expect(openApi().list(WIDGETS).body).toMatchObject({ metadata: { continue: '' }, items: [] });
});

it('lists all namespaces, each by itself', () => {
  const api = openApi();
  api.create(CONFIG_MAPS, configMap('z'), { namespace: 'default' });
  api.create(CONFIG_MAPS, configMap('a'), { namespace: 'ns' });
  const all = api.store.execute({ verb: 'list', resource: CONFIG_MAPS, user: 'somebody' });
  expect(namesIn(all)).toEqual(['z', 'a']);
});

it('has nothing in a namespace that is not there', () => {
  const answer = openApi().store.execute({ verb: 'list', resource: PODS, namespace: 'no', user: 'x' });
  expect([answer.code, answer.body['items']]).toEqual([200, []]);
});

describe('selectors', () => {
  it.each([
    ['app=a', ['a']],
    ['app==a', ['a']],
    ['app!=b', ['a']],
    ['app in (a, c)', ['a']],
    ['app notin (b)', ['a']],
    ['app,long=yes', ['b-1', 'b.1', 'b0']],
    ['!app', []],
    ['other!=x,long=no', ['a', 'b']],
  ])('label %s', (labelSelector, names) => {
    expect(namesIn(filled().list(CONFIG_MAPS, { labelSelector }))).toEqual(names);
  });

  it.each([
    ['metadata.name=b', ['b']],
    ['metadata.name!=b,metadata.namespace=ns', ['a', 'b-1', 'b.1', 'b0']],
  ])('field %s', (fieldSelector, names) => {
    expect(namesIn(filled().list(CONFIG_MAPS, { fieldSelector }))).toEqual(names);
  });

  it.each([
    [
      CONFIG_MAPS,
      { fieldSelector: 'data.a=1' },
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [WIDGETS, { fieldSelector: 'spec.size=1' }, 'field label not supported: spec.size'],
    [CONFIG_MAPS, { labelSelector: 'a=b,' }, "found '', expected: identifier after ','"],
  ])('refuses %o %o', (resource, options, message) => {
    expect(refusal(openApi().list(resource, options))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message,
    });
  });
});

describe('pages', () => {
  interface ListMeta {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  }
  const metaOf = (answer: ReturnType<typeof filledPage>) => answer.body.metadata as unknown as ListMeta;
  const filledPage = (api: ReturnType<typeof filled>, options: object) => api.list(CONFIG_MAPS, options);

  it('show one snapshot, whatever happens in between', () => {
    const api = filled();
    const first = filledPage(api, { limit: 2 });
    expect(namesIn(first)).toEqual(['a', 'b']);
    expect(metaOf(first).remainingItemCount).toBe(3);
    api.remove(CONFIG_MAPS, 'b0');
    api.create(CONFIG_MAPS, configMap('c'));
    const rest = filledPage(api, { limit: 5, continue: metaOf(first).continue });
    expect(namesIn(rest)).toEqual(['b-1', 'b.1', 'b0']);
    expect(metaOf(rest).resourceVersion).toBe(metaOf(first).resourceVersion);
    expect(metaOf(rest).continue).toBeUndefined();
  });

  it('do not count what remains behind a selector', () => {
    const page = filledPage(filled(), { limit: 1, labelSelector: 'app=b' });
    expect(metaOf(page).continue).toBeDefined();
    expect(metaOf(page).remainingItemCount).toBeUndefined();
  });

  it('are not cut at resourceVersion 0', () => {
    expect(namesIn(filledPage(filled(), { limit: 2, resourceVersion: '0' }))).toHaveLength(5);
  });

  it('expire, and the answer says how to go on', () => {
    const api = filled();
    const token = metaOf(filledPage(api, { limit: 2 })).continue;
    for (let page = 0; page < 40; page += 1) {
      api.create(CONFIG_MAPS, configMap(`z-${page}`));
      filledPage(api, { limit: 1 });
    }
    const expired = filledPage(api, { limit: 2, continue: token });
    expect(expired).toMatchObject({ code: 410, body: { reason: 'Expired' } });
    const { continue: fresh } = expired.body.metadata as unknown as ListMeta;
    const rest = filledPage(api, { limit: 2, continue: fresh });
    expect(namesIn(rest)).toEqual(['b-1', 'b.1']);
    expect(metaOf(rest).resourceVersion).toBe(String(api.store.revision()));
  });

  it('refuse a token that is none', () => {
    expect(filledPage(filled(), { continue: 'x' })).toMatchObject({
      code: 400,
      body: { message: 'invalid continue token: continue key is not valid: x' },
    });
  });
});

describe('resourceVersion', () => {
  it.each([
    [{ resourceVersionMatch: 'Exact' }, 422],
    [{ resourceVersionMatch: 'Exact', resourceVersion: '0' }, 422],
    [{ resourceVersionMatch: 'Exact', resourceVersion: '3' }, 410],
    [{ resourceVersion: 'abc' }, 400],
    [{ resourceVersion: '3' }, 200],
  ] as const)('%o answers %i', (options, code) => {
    expect(filled().list(CONFIG_MAPS, options).code).toBe(code);
  });

  it('of the future is not waited for by the store', () => {
    const api = filled();
    const current = api.store.revision();
    expect(refusal(api.list(CONFIG_MAPS, { resourceVersion: '100403' }))).toEqual({
      code: 504,
      reason: 'Timeout',
      message: `Timeout: Too large resource version: 100403, current: ${current}`,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
  });
});

it('finds pods by their phase and widgets by nothing but their name', () => {
  const api = openApi();
  api.create(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'main', image: 'web' }] } });
  expect(namesIn(api.list(PODS, { fieldSelector: 'status.phase=Pending' }))).toEqual(['p']);
  expect(namesIn(api.list(PODS, { fieldSelector: 'status.phase=Running' }))).toEqual([]);
  api.create(WIDGETS, widget('w'));
  expect(namesIn(api.list(WIDGETS, { fieldSelector: 'metadata.name=w' }))).toEqual(['w']);
  expect(namesIn(api.list(DEPLOYMENTS))).toEqual([]);
});
