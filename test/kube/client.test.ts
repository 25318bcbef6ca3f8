import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { leapingClock, START } from './_leaping-clock.ts';
import { json, serve, status } from './_server.ts';
import { clientFor, configMaps, deployment, deployments, TOKEN } from './_world.ts';

const place = { namespace: 'ide', name: 'instance-3' };

describe('a read', () => {
  it('brings the object whole, with the time on the server', async () => {
    const object = { ...deployment('instance-3'), spec: { unheardOf: [1, { deep: true }] } };
    const server = await serve((response) =>
      json(response, 200, object, { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }),
    );
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, place);
    expect(outcome).toEqual({ kind: 'ok', value: object, serverTime: START + 10 * 3_600_000 });
    expect(server.requests[0]?.path).toBe('/apis/apps/v1/namespaces/ide/deployments/instance-3');
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('uses one connection again and again', async () => {
    const server = await serve((response) => json(response, 200, deployment('instance-3')));
    const client = clientFor(server.url, leapingClock());
    for (let i = 0; i < 20; i += 1) await client.get(deployments, place);
    expect(server.connections()).toBe(1);
  });

  it('is not sent anywhere else by a redirect', async () => {
    const elsewhere = await serve((response) => json(response, 200, deployment('instance-3')));
    const server = await serve((response) => response.writeHead(302, { location: elsewhere.url }).end());
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, place);
    expect(outcome.kind).toBe('unknown');
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    { title: 'a name with a path in it', at: { namespace: 'ide', name: '../../secrets/x' } },
    { title: 'an upper-case name', at: { namespace: 'ide', name: 'Instance' } },
    { title: 'a name that is too long', at: { namespace: 'ide', name: 'a'.repeat(254) } },
    { title: 'a namespace with a dot', at: { namespace: 'a.b', name: 'x' } },
    { title: 'no namespace', at: { name: 'x' } },
  ])('of $title never leaves the house', async ({ at }) => {
    const server = await serve((response) => json(response, 200, deployment('x')));
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, at);
    expect(outcome.kind).toBe('invalid');
    expect(server.requests).toEqual([]);
  });
});

describe('a list', () => {
  const page = (names: string[], next = '') => ({
    kind: 'DeploymentList',
    apiVersion: 'apps/v1',
    metadata: { resourceVersion: '40', continue: next },
    items: names.map((name) => ({ metadata: { name, namespace: 'ide', uid: name } })),
  });

  it('reads all pages of one consistent snapshot and names what it lists', async () => {
    const server = await serve((response, { query }) =>
      json(response, 200, query.get('continue') === 'more' ? page(['c']) : page(['a', 'b'], 'more')),
    );
    const outcome = await clientFor(server.url, leapingClock()).list(deployments, {
      namespace: 'ide',
      labelSelector: 'x=y',
    });
    const value = outcome.kind === 'ok' ? outcome.value : undefined;
    expect(value?.resourceVersion).toBe('40');
    expect(value?.items.map((item) => [item.apiVersion, item.kind, item.metadata.name])).toEqual([
      ['apps/v1', 'Deployment', 'a'],
      ['apps/v1', 'Deployment', 'b'],
      ['apps/v1', 'Deployment', 'c'],
    ]);
    expect(server.requests.map(({ query }) => query.get('limit'))).toEqual(['500', '500']);
    expect(server.requests.map(({ query }) => query.get('labelSelector'))).toEqual(['x=y', 'x=y']);
    expect(server.requests.filter(({ query }) => query.has('resourceVersion'))).toEqual([]);
  });

  it('is as old as its first page', async () => {
    const server = await serve((response, { query }) =>
      query.has('continue')
        ? json(response, 200, page(['c']), { date: 'Thu, 01 Jan 2026 10:00:09 GMT' })
        : json(response, 200, page(['a', 'b'], 'more'), { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }),
    );
    const outcome = await clientFor(server.url, leapingClock()).list(deployments, { namespace: 'ide' });
    expect(outcome).toMatchObject({ serverTime: Date.parse('2026-01-01T10:00:00Z') });
  });

  it('that was torn by an expired page is started again', async () => {
    const server = await serve((response, { query }, index) => {
      if (index === 1) return json(response, 410, status(410, 'Expired', 'too old'));
      json(response, 200, query.has('continue') ? page(['c']) : page(['a', 'b'], 'more'));
    });
    const outcome = await clientFor(server.url, leapingClock()).list(deployments, { namespace: 'ide' });
    expect(outcome.kind === 'ok' && outcome.value.items.map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(server.requests).toHaveLength(4);
  });

  it('that is torn again and again is given up', async () => {
    const server = await serve((response, { query }) =>
      query.has('continue')
        ? json(response, 410, status(410, 'Expired', 'too old'))
        : json(response, 200, page(['a'], 'more')),
    );
    const outcome = await clientFor(server.url, leapingClock()).list(deployments, { namespace: 'ide' });
    expect(outcome.kind).toBe('expired');
    expect(server.requests).toHaveLength(8);
  });

  it('of metadata alone shows each object as the kind it is', async () => {
    const items = [
      {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', namespace: 'ide' },
      },
    ];
    const server = await serve((response) =>
      json(response, 200, { kind: 'PartialObjectMetadataList', metadata: { resourceVersion: '1' }, items }),
    );
    const outcome = await clientFor(server.url, leapingClock()).list(deployments, { metadataOnly: true });
    expect(outcome.kind === 'ok' && outcome.value.items[0]?.kind).toBe('Deployment');
    expect(server.requests[0]?.headers.accept).toContain('as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    expect(server.requests[0]?.path).toBe('/apis/apps/v1/deployments');
  });
});

describe('a write', () => {
  it('travels as what it is', async () => {
    const server = await serve((response) => json(response, 200, deployment('instance-3')));
    const client = clientFor(server.url, leapingClock());
    await client.create(deployments, 'ide', deployment('instance-3'));
    await client.patch(deployments, place, {
      type: 'json',
      patch: [{ op: 'test', path: '/metadata/uid', value: 'u' }],
    });
    await client.patch(
      deployments,
      { ...place, subresource: 'status' },
      { type: 'merge', patch: { status: {} } },
    );
    await client.delete(deployments, place, {
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagation: 'Foreground',
    });
    const at = '/apis/apps/v1/namespaces/ide/deployments';
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${at}`,
      `PATCH ${at}/instance-3`,
      `PATCH ${at}/instance-3/status`,
      `DELETE ${at}/instance-3`,
    ]);
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/json',
    ]);
    expect(JSON.parse(server.requests[3]?.body ?? '')).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Foreground',
    });
  });

  it.each([
    { code: 409, reason: 'AlreadyExists', kind: 'exists' },
    { code: 409, reason: 'Conflict', kind: 'conflict' },
    { code: 400, reason: 'BadRequest', kind: 'invalid' },
    { code: 403, reason: 'Forbidden', kind: 'forbidden' },
    { code: 404, reason: 'NotFound', kind: 'notFound' },
    { code: 410, reason: 'Expired', kind: 'expired' },
    { code: 415, reason: 'UnsupportedMediaType', kind: 'invalid' },
    { code: 422, reason: 'Invalid', kind: 'invalid' },
    { code: 500, reason: 'InternalError', kind: 'unknown' },
    { code: 501, reason: 'NotImplemented', kind: 'invalid' },
    { code: 503, reason: 'ServiceUnavailable', kind: 'unknown' },
    { code: 504, reason: 'Timeout', kind: 'unknown' },
  ])('answered with $code $reason is $kind', async ({ code, reason, kind }) => {
    const server = await serve((response) =>
      json(response, code, status(code, reason, 'the words of the server')),
    );
    const outcome = await clientFor(server.url, leapingClock()).create(
      deployments,
      'ide',
      deployment('instance-3'),
    );
    expect(outcome).toEqual({
      kind,
      reason,
      message: `create Deployment ide/instance-3: ${code} ${reason}: the words of the server`,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('that was refused says which field was wrong', async () => {
    const causes = [
      { reason: 'FieldValueInvalid', message: 'Invalid value: 0: must be positive', field: 'spec.size' },
    ];
    const server = await serve((response) => json(response, 422, status(422, 'Invalid', 'no', { causes })));
    const outcome = await clientFor(server.url, leapingClock()).create(deployments, 'ide', {});
    expect(outcome).toMatchObject({ kind: 'invalid', causes });
  });

  it('to an API that is not installed finds nothing', async () => {
    const server = await serve((response) =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n'),
    );
    const outcome = await clientFor(server.url, leapingClock()).create(deployments, 'ide', {});
    expect(outcome).toEqual({ kind: 'notFound', message: 'create Deployment ide: 404' });
  });
});

describe('an overloaded server', () => {
  const busy = { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '1' };

  it('is given the time it asks for', async () => {
    const server = await serve((response, _seen, index) =>
      index < 2
        ? response.writeHead(429, busy).end('Too many requests, please try again later.\n')
        : json(response, 200, deployment('instance-3')),
    );
    const clock = leapingClock();
    const outcome = await clientFor(server.url, clock).get(deployments, place);
    expect(outcome.kind).toBe('ok');
    expect(clock.slept).toHaveLength(2);
    expect(clock.now() - START).toBeGreaterThanOrEqual(2_000);
  });

  it.each([429, 503])('that stays so with %i is left alone after a few tries', async (code) => {
    const server = await serve((response) =>
      response.writeHead(code, busy).end('Too many requests, please try again later.\n'),
    );
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, place);
    expect(outcome).toEqual({
      kind: 'throttled',
      message: `get Deployment ide/instance-3: ${code}`,
      retryAfterMs: 1_000,
    });
    expect(server.requests).toHaveLength(4);
  });

  it('that asks for long is left alone at once', async () => {
    const server = await serve((response) => response.writeHead(429, { ...busy, 'retry-after': '30' }).end());
    const clock = leapingClock();
    const outcome = await clientFor(server.url, clock).get(deployments, place);
    expect(outcome).toMatchObject({ kind: 'throttled', retryAfterMs: 30_000 });
    expect(clock.slept).toEqual([]);
  });

  it('may say until when by its own clock', async () => {
    const headers = { date: 'Thu, 01 Jan 2026 10:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 10:00:45 GMT' };
    const server = await serve((response) => response.writeHead(503, headers).end());
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, place);
    expect(outcome).toMatchObject({ kind: 'throttled', retryAfterMs: 45_000 });
  });
});

describe('a connection that fails', () => {
  it('within an answer leaves the outcome unknown', async () => {
    const server = await serve((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":', () => response.destroy());
    });
    const outcome = await clientFor(server.url, leapingClock()).create(
      deployments,
      'ide',
      deployment('instance-3'),
    );
    expect(outcome).toEqual({ kind: 'unknown', message: 'create Deployment ide/instance-3: ECONNRESET' });
  });

  it('behind an answer that is no JSON leaves the outcome unknown', async () => {
    const server = await serve((response) => response.writeHead(200).end('{"kind":"Deployment","metad'));
    const outcome = await clientFor(server.url, leapingClock()).patch(deployments, place, {
      type: 'merge',
      patch: {},
    });
    expect(outcome.kind).toBe('unknown');
  });

  it('by never answering is given up at the deadline', async () => {
    const server = await serve(() => {});
    const outcome = await clientFor(server.url, systemClock, { deadlineMs: 30 }).get(deployments, place);
    expect(outcome).toEqual({
      kind: 'unknown',
      message: 'get Deployment ide/instance-3: no answer within 30 ms',
    });
  });

  it('by never ending its answer is given up at the deadline', async () => {
    const server = await serve((response) => response.writeHead(200).write('{'));
    const outcome = await clientFor(server.url, systemClock, { deadlineMs: 100 }).list(deployments, {});
    expect(outcome).toEqual({ kind: 'unknown', message: 'list Deployment: no answer within 100 ms' });
  });

  it('at once is not tried again by the client', async () => {
    const server = await serve((response) => response.destroy());
    const outcome = await clientFor(server.url, leapingClock()).get(deployments, place);
    expect(outcome.kind).toBe('unknown');
    expect(server.requests).toHaveLength(1);
  });

  it('to nobody is unknown too', async () => {
    const outcome = await clientFor('http://127.0.0.1:1', leapingClock()).get(deployments, place);
    expect(outcome).toEqual({ kind: 'unknown', message: 'get Deployment ide/instance-3: ECONNREFUSED' });
  });
});

describe('an idle connection that the server has given up', () => {
  /** Answers the first request of each connection and hangs up at the second. */
  const forgetful = () =>
    serve((response, { ofConnection }) =>
      ofConnection === 1 ? json(response, 200, deployment('instance-3')) : response.destroy(),
    );
  const deletion = { preconditions: { uid: 'u' } };

  it('is replaced without a word when the request may be repeated', async () => {
    const server = await forgetful();
    const client = clientFor(server.url, leapingClock());
    await client.get(deployments, place);
    expect((await client.get(deployments, place)).kind).toBe('ok');
    expect((await client.delete(deployments, place, deletion)).kind).toBe('ok');
    expect(server.connections()).toBe(3);
  });

  it('is not replaced by another one that is as dead', async () => {
    const server = await forgetful();
    const client = clientFor(server.url, leapingClock());
    await Promise.all([1, 2, 3].map(() => client.get(deployments, place)));
    expect(server.connections()).toBe(3);
    expect((await client.get(deployments, place)).kind).toBe('ok');
    expect(server.requests).toHaveLength(5);
  });

  it('leaves a write that must not be repeated unknown', async () => {
    const server = await forgetful();
    const client = clientFor(server.url, leapingClock());
    await client.get(deployments, place);
    expect((await client.create(deployments, 'ide', deployment('instance-3'))).kind).toBe('unknown');
    await client.get(deployments, place);
    expect((await client.delete(deployments, place, {})).kind).toBe('unknown');
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'DELETE']);
  });
});

describe('what an error tells', () => {
  const SECRET = 'canary-value-91c2';
  const echo = (resource: typeof deployments) => [
    `${resource.kind} "instance-3" is invalid: data.key: Invalid value: "${SECRET}": must be short`,
    `json parse error: unexpected end of JSON input ({"data":"${SECRET}`,
    ` "" is invalid: patch: Invalid value: "{\\"env\\":\\"${SECRET}\\"}": unknown field`,
    `two lines "a${SECRET}"\nand ${'x'.repeat(280)} "${SECRET}"`,
  ];

  it.each([deployments, configMaps])(
    'is never a token or a value that was sent ($kind)',
    async (resource) => {
      const told: unknown[] = [];
      for (const code of [400, 401, 422, 500, 503]) {
        for (const message of echo(resource)) {
          const causes = [{ message, field: 'data.key', reason: 'FieldValueInvalid' }];
          const server = await serve((response, { headers }) =>
            json(response, code, status(code, 'Invalid', message, { causes }), {
              'x-echo': `${headers.authorization}`,
            }),
          );
          const client = clientFor(server.url, leapingClock());
          told.push(
            await client.create(resource, 'ide', { ...deployment('instance-3'), data: { key: SECRET } }),
          );
          told.push(await client.patch(resource, place, { type: 'merge', patch: { data: { key: SECRET } } }));
        }
      }
      expect(told).toHaveLength(40);
      expect(JSON.stringify(told)).not.toContain(SECRET);
      expect(JSON.stringify(told)).not.toContain(TOKEN);
    },
  );

  it('is one line of bounded length that names the object', async () => {
    const server = await serve((response) =>
      json(response, 403, status(403, 'Forbidden', `a\nb\t${'x'.repeat(900)}`)),
    );
    const outcome = await clientFor(server.url, leapingClock()).get(configMaps, place);
    const message = outcome.kind === 'ok' ? '' : outcome.message;
    expect(message).toMatch(/^get ConfigMap ide\/instance-3: 403 Forbidden: a b x+…$/);
    expect(message.length).toBeLessThan(360);
  });

  it('of a ConfigMap or a Secret is nothing that stands in quotes, even when it was forbidden', async () => {
    const words = `admission webhook "policy.ide" denied the request: "${SECRET}" is no value`;
    const server = await serve((response) => json(response, 403, status(403, 'Forbidden', words)));
    const outcome = await clientFor(server.url, leapingClock()).create(configMaps, 'ide', {});
    expect(outcome).toMatchObject({
      message:
        'create ConfigMap ide: 403 Forbidden: admission webhook "policy.ide" denied the request: "…" is no value',
    });
  });

  it('keeps the names of the API', async () => {
    const words =
      'configmaps "instance-3" is forbidden: User "ide-bot" cannot get resource "configmaps" in API group ""';
    const server = await serve((response) => json(response, 403, status(403, 'Forbidden', words)));
    const outcome = await clientFor(server.url, leapingClock()).get(configMaps, place);
    expect(outcome).toMatchObject({ message: `get ConfigMap ide/instance-3: 403 Forbidden: ${words}` });
  });
});
