import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { staticTokenCluster } from '../../src/kube/auth/static-token.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { CONFIG_MAPS, configMap, WIDGETS, widget } from './_api.ts';
import { handClock } from './_clock.ts';
import { type Served, serveApi, TOKEN } from './_server.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';
const WIDGET_PATH = '/apis/g.dev/v1/namespaces/ns/widgets';
const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

let served: Served;

beforeAll(async () => {
  served = await serveApi();
  served.api.create(CONFIG_MAPS, configMap('a'));
  served.api.create(WIDGETS, widget('w'));
});

afterAll(() => served.server.close());

describe('what is no object', () => {
  it.each([
    ['GET', '/apis/nobody.dev/v1/things', 404, '404 page not found\n'],
    ['GET', '/apis/g.dev/v9/namespaces/ns/widgets', 404, '404 page not found\n'],
    ['GET', '/api/v1/configmaps/a', 404, '404 page not found\n'],
    ['GET', '/api/v1/namespaces/ns/namespaces', 404, '404 page not found\n'],
    ['GET', '/nonsense', 404, '404 page not found\n'],
    ['GET', '/healthz', 200, 'ok'],
  ])('%s %s answers in plain text', async (method, path, status, text) => {
    const answer = await served.send(method, path);
    expect([answer.status, answer.text]).toEqual([status, text]);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it.each([
    ['GET', '/api/v1/namespaces/ns/gadgets', 404, 'the server could not find the requested resource'],
    ['OPTIONS', MAPS, 405, 'the server does not allow this method on the requested resource'],
    ['POST', '/api/v1/configmaps', 405, 'the server does not allow this method on the requested resource'],
    ['POST', `${WIDGET_PATH}/w/status`, 405, 'create is not supported on resources of kind "widgets.g.dev"'],
    ['GET', '/openapi/v2', 501, 'this embedded API server does not support OpenAPI v2'],
    [
      'GET',
      '/api/v1/namespaces/ns/pods/p/log',
      501,
      'this embedded API server does not support the subresource log',
    ],
  ])('%s %s is refused', async (method, path, status, message) => {
    const answer = await served.send(method, path, method === 'POST' ? { body: {} } : {});
    expect([answer.status, answer.json()['message']]).toEqual([status, message]);
  });
});

describe('who may ask', () => {
  it('nobody with a token that is not known', async () => {
    const answer = await served.send('GET', MAPS, { token: 'wrong' });
    expect(answer.status).toBe(401);
    expect(answer.json()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(answer.headers['x-kubernetes-pf-flowschema-uid']).toBeUndefined();
  });

  it.each([
    [
      'GET',
      MAPS,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "ns"',
      { kind: 'configmaps' },
    ],
    [
      'DELETE',
      `${WIDGET_PATH}/missing`,
      'widgets.g.dev "missing" is forbidden: User "system:anonymous" cannot delete resource "widgets" in API group "g.dev" in the namespace "ns"',
      { name: 'missing', group: 'g.dev', kind: 'widgets' },
    ],
    [
      'PATCH',
      `${WIDGET_PATH}/w/status`,
      'widgets.g.dev "w" is forbidden: User "system:anonymous" cannot patch resource "widgets/status" in API group "g.dev" in the namespace "ns"',
      { name: 'w', group: 'g.dev', kind: 'widgets' },
    ],
    [
      'GET',
      '/api/v1/namespaces?watch=1',
      'namespaces is forbidden: User "system:anonymous" cannot watch resource "namespaces" in API group "" at the cluster scope',
      { kind: 'namespaces' },
    ],
    ['GET', '/metrics', 'forbidden: User "system:anonymous" cannot get path "/metrics"', {}],
  ])('without a token not %s %s', async (method, path, message, details) => {
    const answer = await served.send(method, path, { token: null });
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ message, details, reason: 'Forbidden' });
  });

  it('everybody may ask for the version', async () => {
    const answer = await served.send('GET', '/version', { token: null });
    expect(answer.json()).toMatchObject({ major: '1', minor: '34' });
  });
});

describe('forms', () => {
  it.each([
    '*/*',
    'application/json',
    'application/json;charset=utf-8',
    'text/html, application/json;q=0.5',
    'application/vnd.kubernetes.protobuf, application/json',
  ])('%s gets JSON', async (accept) => {
    const answer = await served.send('GET', `${MAPS}/a`, { headers: { accept } });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
  });

  it('puts kind first for core objects and apiVersion first for custom ones', async () => {
    expect((await served.send('GET', `${MAPS}/a`)).text).toMatch(
      /^\{"kind":"ConfigMap","apiVersion":"v1","metadata"/,
    );
    expect((await served.send('GET', `${WIDGET_PATH}/w`)).text).toMatch(
      /^\{"apiVersion":"g.dev\/v1","kind":"Widget",/,
    );
  });

  it('leaves kind and apiVersion out of the items of core lists alone', async () => {
    const maps = (await served.send('GET', MAPS)).json() as unknown as { items: object[] };
    expect(Object.keys(maps.items[0] ?? {})).toEqual(['metadata', 'data']);
    const widgets = (await served.send('GET', WIDGET_PATH)).json() as unknown as { items: object[] };
    expect(widgets.items[0]).toMatchObject({ apiVersion: 'g.dev/v1', kind: 'Widget' });
  });

  it.each([
    [
      'text/html',
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
      406,
    ],
    [
      'application/json;as=Chart',
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      406,
    ],
    [
      PARTIAL,
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
      406,
    ],
    ['application/yaml', 'this embedded API server does not support answers in YAML', 501],
  ])('%s is not had for a list', async (accept, message, status) => {
    const answer = await served.send('GET', MAPS, { headers: { accept } });
    expect([answer.status, answer.json()['message']]).toEqual([status, message]);
  });

  it('gives metadata alone', async () => {
    const one = (await served.send('GET', `${MAPS}/a`, { headers: { accept: PARTIAL } })).json();
    expect(Object.keys(one)).toEqual(['kind', 'apiVersion', 'metadata']);
    const all = (await served.send('GET', MAPS, { headers: { accept: PARTIAL_LIST } })).json();
    expect(all).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }],
    });
  });

  it('gives tables', async () => {
    const table = (
      await served.send('GET', `${MAPS}?includeObject=None`, { headers: { accept: TABLE } })
    ).json();
    expect(table).toMatchObject({ kind: 'Table', rows: [{ object: null }] });
    const { columnDefinitions, rows } = table as unknown as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(rows[0]?.cells.slice(0, 2)).toEqual(['a', 1]);
  });

  it('is indented for people', async () => {
    expect((await served.send('GET', `${MAPS}/a?pretty=true`)).text).toContain('\n  "metadata": {\n');
  });
});

describe('bodies', () => {
  it.each([
    [
      'text/plain;charset=UTF-8',
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    ['application/yaml', 501, 'this embedded API server does not support request bodies in YAML'],
  ])('as %s are refused', async (type, status, message) => {
    const answer = await served.send('POST', MAPS, {
      body: configMap('x'),
      headers: { 'content-type': type },
    });
    expect([answer.status, answer.json()['message']]).toEqual([status, message]);
  });

  it.each([
    [
      `${WIDGET_PATH}/w`,
      'application/strategic-merge-patch+json',
      415,
      'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    ],
    [`${MAPS}/a`, 'application/json', 415, '415: Unsupported Media Type'],
    [
      `${WIDGET_PATH}/w`,
      'application/apply-patch+yaml',
      501,
      'this embedded API server does not support server-side apply',
    ],
  ])('PATCH %s as %s', async (path, type, status, message) => {
    const answer = await served.send('PATCH', path, { body: {}, headers: { 'content-type': type } });
    expect(answer.status).toBe(status);
    expect(answer.json()['message']).toContain(message);
  });

  it('of more than three megabytes are too large', async () => {
    const answer = await served.send('POST', MAPS, { body: `"${'x'.repeat(3_200_000)}"` });
    expect([answer.status, answer.json()['message']]).toEqual([
      413,
      'Request entity too large: limit is 3145728',
    ]);
  });

  it('that are no JSON are not recognised', async () => {
    const answer = await served.send('POST', MAPS, { body: '{"a":' });
    expect(answer.json()['message']).toBe(
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"a":)',
    );
  });

  it('with unknown fields come back with one warning each', async () => {
    const answer = await served.send('POST', WIDGET_PATH, { body: widget('warned', { bogus: 1 }) });
    expect([answer.status, answer.headers['warning']]).toEqual([
      201,
      '299 - "unknown field \\"spec.bogus\\""',
    ]);
  });
});

describe('parameters', () => {
  it.each([
    [
      'POST',
      `${MAPS}?dryRun=true`,
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["true"]: supported values: "All"',
    ],
    [
      'POST',
      `${MAPS}?fieldValidation=Nope`,
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    ['GET', `${MAPS}?limit=x`, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'DELETE',
      `${MAPS}/a?propagationPolicy=Later`,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
  ])('%s %s is refused', async (method, path, message) => {
    const answer = await served.send(method, path, method === 'POST' ? { body: configMap('x') } : {});
    expect(answer.json()['message']).toBe(message);
  });

  it('of a delete may stand in its body', async () => {
    await served.send('POST', MAPS, { body: configMap('guarded') });
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'X' } };
    expect((await served.send('DELETE', `${MAPS}/guarded`, { body })).status).toBe(409);
    const dry = { dryRun: ['All'], propagationPolicy: 'Background' };
    expect((await served.send('DELETE', `${MAPS}/guarded`, { body: dry })).status).toBe(200);
    expect((await served.send('GET', `${MAPS}/guarded/`)).status).toBe(200);
  });
});

describe('watching over the wire', () => {
  it('streams one event a line', async () => {
    const { resourceVersion } = served.api.list(CONFIG_MAPS).body.metadata;
    const lines = served.watch(`${MAPS}?watch=true&resourceVersion=${resourceVersion}`, 2);
    await served.send('POST', MAPS, { body: configMap('seen') });
    await served.send('DELETE', `${MAPS}/seen`);
    expect(await lines).toMatchObject([
      { type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'seen' } } },
      { type: 'DELETED', object: { metadata: { name: 'seen' } } },
    ]);
  });

  it('streams metadata alone, and nothing for the header of a list', async () => {
    const path = `${MAPS}?watch=1&fieldSelector=metadata.name=a`;
    expect(await served.watch(path, 1, PARTIAL)).toMatchObject([
      { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } },
    ]);
    expect(await served.watch(path, 1, PARTIAL_LIST)).toEqual([]);
  });

  it('ends with an error in the stream when it comes too late', async () => {
    expect(await served.watch(`${WIDGET_PATH}?watch=1&resourceVersion=1`, 2)).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } },
    ]);
  });

  it('refuses a resourceVersion that is none before it begins', async () => {
    expect((await served.send('GET', `${MAPS}?watch=1&resourceVersion=abc`)).status).toBe(500);
  });
});

describe('the server', () => {
  it('answers at the time of its clock', async () => {
    const clock = handClock(Date.parse('2030-05-05T05:05:05Z'));
    const other = await serveApi({ clock });
    const { headers } = await other.send('GET', '/version');
    await other.server.close();
    expect(headers['date']).toBe('Sun, 05 May 2030 05:05:05 GMT');
    expect(headers['cache-control']).toBe('no-cache, private');
    expect(headers['audit-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('logs who did what', async () => {
    const other = await serveApi();
    await other.send('POST', `${MAPS}?fieldManager=me`, { body: configMap('a') });
    await other.send('GET', `${MAPS}/missing`);
    await other.server.close();
    expect(other.log).toEqual([
      { method: 'POST', path: `${MAPS}?fieldManager=me`, user: 'admin', verb: 'create', code: 201 },
      { method: 'GET', path: `${MAPS}/missing`, user: 'admin', verb: 'get', code: 404 },
    ]);
  });

  it('ends open watches when it closes', async () => {
    const other = await serveApi();
    const lines = other.watch('/api/v1/namespaces?watch=1', 100);
    // The list is answered after the watch was opened on the same event loop.
    while (!other.log.some(({ verb }) => verb === 'watch')) await other.send('GET', '/version');
    await other.server.close();
    expect((await lines).length).toBe(5);
  });

  it('fails as it is told: overloaded, cut off before, cut off after', async () => {
    let fault: object | undefined;
    const other = await serveApi({ fault: () => fault });
    const busy = {
      code: 429,
      contentType: 'text/plain; charset=utf-8',
      body: 'Too many requests, please try again later.\n',
    };
    fault = { answer: { ...busy, headers: { 'Retry-After': '1' } } };
    const throttled = await other.send('POST', MAPS, { body: configMap('a') });
    expect([throttled.status, throttled.headers['retry-after']]).toEqual([429, '1']);
    fault = { cut: 'before' };
    await expect(other.send('POST', MAPS, { body: configMap('before') })).rejects.toThrow();
    fault = { cut: 'after' };
    await expect(other.send('POST', MAPS, { body: configMap('after') })).rejects.toThrow();
    fault = undefined;
    expect((await other.send('GET', `${MAPS}/before`)).status).toBe(404);
    expect((await other.send('GET', `${MAPS}/after`)).status).toBe(200);
    await other.server.close();
  });

  it('leaves a client without an answer at once when it is cut off after the write', async () => {
    const other = await serveApi({ fault: ({ verb }) => (verb === 'create' ? { cut: 'after' } : undefined) });
    const cluster = staticTokenCluster({ server: other.server.url, ca: other.server.caPem, token: TOKEN });
    const client = createKubeApi({ cluster, clock: systemClock, random: seededRandom(1) });
    const written = await client.create(CONFIG_MAPS, 'ns', configMap('cut'));
    // The connection's own end and no deadline of the client's.
    expect(written).toEqual({ kind: 'unknown', message: expect.stringContaining('ECONNRESET') });
    expect((await client.get(CONFIG_MAPS, { namespace: 'ns', name: 'cut' })).kind).toBe('ok');
    client.close();
    await other.server.close();
  });

  it('prefers the newest stable version of a group', async () => {
    expect((await served.send('GET', '/apis/g.dev')).json()).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'g.dev/v1', version: 'v1' },
    });
  });

  it('says once what its schemas are', async () => {
    const { paths } = (await served.send('GET', '/openapi/v3')).json() as {
      paths?: Record<string, { serverRelativeURL: string }>;
    };
    const document = await served.send('GET', paths?.['apis/g.dev/v1']?.serverRelativeURL ?? '');
    expect(document.json()).toMatchObject({
      components: { schemas: { 'dev.g.v1.Widget': { type: 'object' } } },
    });
    const again = await served.send('GET', '/openapi/v3/apis/g.dev/v1', {
      headers: { 'if-none-match': String(document.headers['etag']) },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});
