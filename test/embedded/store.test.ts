import { describe, expect, it } from 'vitest';
import type { Commit } from '../../src/embedded/types.ts';
import {
  type Api,
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  LEASES,
  NAMESPACES,
  openApi,
  PLAINS,
  PODS,
  plain,
  SERVICES,
  WIDGETS,
  widget,
} from './_api.ts';

function watched(api: Api): Commit[] {
  const commits: Commit[] = [];
  api.store.onCommit((commit) => commits.push(commit));
  return commits;
}

describe('creating', () => {
  it('gives an object its identity and ignores the one the client made up', () => {
    const api = openApi();
    const made = {
      uid: 'mine',
      creationTimestamp: '2020-01-01T00:00:00Z',
      generation: 9,
      deletionTimestamp: 'x',
    };
    const { code, body } = api.create(WIDGETS, widget('a', {}, made));
    expect(code).toBe(201);
    expect(body.metadata).toMatchObject({
      name: 'a',
      namespace: 'ns',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
      resourceVersion: String(api.store.revision()),
    });
    expect(body.metadata.uid).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('hands out objects that nobody can change', () => {
    const { body } = openApi().create(DEPLOYMENTS, deployment('d'));
    expect(() => Object.assign(body.metadata, { name: 'e' })).toThrow(TypeError);
    const containers = (body as unknown as { spec: { template: { spec: { containers: object[] } } } }).spec
      .template.spec.containers;
    expect(() => containers.push({})).toThrow(TypeError);
  });

  it('does not see what the caller does to its body afterwards', () => {
    const api = openApi();
    const body = configMap('a');
    api.create(CONFIG_MAPS, body);
    body.data.a = 'changed';
    expect(api.get(CONFIG_MAPS, 'a').body['data']).toEqual({ a: '1' });
  });

  it('makes names of at most 63 characters from generateName', () => {
    const { body } = openApi().create(CONFIG_MAPS, { metadata: { generateName: 'x'.repeat(70) } });
    expect(body.metadata.name).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('keeps nothing of a dry run, which shows no resourceVersion', () => {
    const api = openApi();
    const { code, body } = api.create(WIDGETS, widget('a'), { options: { dryRun: true } });
    expect(code).toBe(201);
    expect(body.metadata.uid).toBeDefined();
    expect(body.metadata.resourceVersion).toBeUndefined();
    expect(api.get(WIDGETS, 'a').code).toBe(404);
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    const shown = api.create(SERVICES, service, { options: { dryRun: true } }).body['spec'];
    expect(shown).toMatchObject({ clusterIP: '10.0.0.0' });
  });
});

describe('updating', () => {
  it('writes nothing when nothing changes', () => {
    const api = openApi();
    const { body } = api.create(WIDGETS, widget('a', { size: 3 }));
    const commits = watched(api);
    const { resourceVersion } = body.metadata;
    const answers = [
      api.update(WIDGETS, 'a', body),
      api.merge(WIDGETS, 'a', {}),
      api.merge(WIDGETS, 'a', { spec: { size: 3 } }),
      api.merge(WIDGETS, 'a', { metadata: { labels: {} } }),
      api.json(WIDGETS, 'a', [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }]),
    ];
    expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map((answer) => answer.body.metadata.resourceVersion)).toEqual(
      Array(5).fill(resourceVersion),
    );
    expect(commits).toEqual([]);
  });

  it('shares one rising resourceVersion among all kinds, deletes included', () => {
    const api = openApi();
    const commits = watched(api);
    api.create(WIDGETS, widget('a'));
    api.create(CONFIG_MAPS, configMap('a'));
    api.remove(WIDGETS, 'a');
    api.create(CONFIG_MAPS, configMap('b'));
    const versions = commits.map(({ resourceVersion }) => resourceVersion);
    expect(versions).toEqual([8, 9, 10, 11]);
    expect(commits[2]?.object.metadata.resourceVersion).toBe('10');
  });

  it.each([
    { title: 'a spec moves the generation', patch: { spec: { size: 2 } }, generation: 2 },
    { title: 'a label does not', patch: { metadata: { labels: { x: 'y' } } }, generation: 1 },
    { title: 'an annotation does not', patch: { metadata: { annotations: { x: 'y' } } }, generation: 1 },
    { title: 'a finalizer does not', patch: { metadata: { finalizers: ['g.dev/x'] } }, generation: 1 },
  ])('of a custom object: $title', ({ patch, generation }) => {
    const api = openApi();
    api.create(WIDGETS, widget('a'));
    expect(api.merge(WIDGETS, 'a', patch).body.metadata.generation).toBe(generation);
  });

  it('moves the generation of a Deployment for an annotation, but not for a label', () => {
    const api = openApi();
    api.create(DEPLOYMENTS, deployment('d'));
    expect(api.merge(DEPLOYMENTS, 'd', { metadata: { labels: { x: 'y' } } }).body.metadata.generation).toBe(
      1,
    );
    expect(
      api.merge(DEPLOYMENTS, 'd', { metadata: { annotations: { x: 'y' } } }).body.metadata.generation,
    ).toBe(2);
  });

  it('keeps spec and status apart where there is a status subresource', () => {
    const api = openApi();
    const created = api.create(WIDGETS, { ...widget('a', { size: 1 }), status: { size: 9 } });
    expect(created.body['status']).toBeUndefined();
    const main = api.merge(WIDGETS, 'a', { status: { size: 9 } });
    expect(main.body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion);
    const change = { spec: { size: 7 }, metadata: { labels: { x: 'y' } }, status: { size: 5 } };
    const { body } = api.merge(WIDGETS, 'a', change, { subresource: 'status' });
    expect(body).toMatchObject({ spec: { size: 1 }, status: { size: 5 }, metadata: { generation: 1 } });
    expect(body.metadata.labels).toBeUndefined();
  });

  it('treats a status without the subresource like any field', () => {
    const api = openApi();
    expect(api.create(PLAINS, { ...plain('p'), status: { x: 1 } }).body['status']).toEqual({ x: 1 });
    expect(api.merge(PLAINS, 'p', { status: { x: 2 } }).body.metadata.generation).toBe(2);
  });

  it('takes a PUT without resourceVersion from ConfigMaps and ignores "0"', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    for (const [index, metadata] of [{}, { resourceVersion: '0' }].entries()) {
      const body = { ...configMap('a', metadata), data: { a: `new ${index}` } };
      expect(api.update(CONFIG_MAPS, 'a', body)).toMatchObject({ code: 200, body: { data: body.data } });
    }
  });

  it('makes a Lease or a Service by PUT, even one with a resourceVersion, but no ConfigMap', () => {
    const api = openApi();
    expect(api.update(LEASES, 'l', { metadata: { name: 'l', resourceVersion: '77' } }).code).toBe(201);
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    expect(api.update(SERVICES, 's', service).code).toBe(201);
    expect(api.update(CONFIG_MAPS, 'c', configMap('c')).code).toBe(404);
  });

  it('lets one of ten writers win who saw the same Lease', () => {
    const api = openApi();
    const { body } = api.create(LEASES, { metadata: { name: 'l' } });
    const codes = Array.from({ length: 10 }, (_, index) => {
      return api.update(LEASES, 'l', { ...body, spec: { holderIdentity: `holder-${index}` } }).code;
    });
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(codes.filter((code) => code === 409)).toHaveLength(9);
    expect(api.get(LEASES, 'l').body['spec']).toEqual({ holderIdentity: 'holder-0' });
  });

  it('shows what a dry patch would become and stores none of it', () => {
    const api = openApi();
    const created = api.create(WIDGETS, widget('a'));
    const { body } = api.merge(WIDGETS, 'a', { spec: { size: 5 } }, { options: { dryRun: true } });
    expect(body).toMatchObject({ spec: { size: 5 }, metadata: { generation: 2 } });
    expect(body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion);
    expect(api.get(WIDGETS, 'a').body['spec']).toMatchObject({ size: 1 });
  });

  it('scales through the scale subresource', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { size: 2 }));
    const scaled = api.merge(WIDGETS, 'a', { spec: { replicas: 4 } }, { subresource: 'scale' });
    expect(scaled.body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 4 } });
    expect(api.get(WIDGETS, 'a').body).toMatchObject({ spec: { size: 4 }, metadata: { generation: 2 } });
    const stale = { metadata: { name: 'a', resourceVersion: '1' }, spec: { replicas: 5 } };
    expect(api.update(WIDGETS, 'a', stale, { subresource: 'scale' }).code).toBe(409);
    expect(api.merge(WIDGETS, 'a', { spec: { replicas: 101 } }, { subresource: 'scale' }).code).toBe(422);
  });
});

describe('deleting', () => {
  it('answers with a Status, or with the object for some kinds', () => {
    const api = openApi();
    const { uid } = api.create(CONFIG_MAPS, configMap('a')).body.metadata;
    expect(api.remove(CONFIG_MAPS, 'a').body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid },
    });
    api.create(SERVICES, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
    expect(api.remove(SERVICES, 's').body).toMatchObject({ kind: 'Service', metadata: { name: 's' } });
  });

  it('waits for finalizers, and the last one takes the object with it', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', {}, { finalizers: ['g.dev/hold'] }));
    const commits = watched(api);
    const marked = api.remove(WIDGETS, 'a').body;
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    expect(api.remove(WIDGETS, 'a').body).toEqual(marked);
    expect(commits).toHaveLength(1);
    const { body } = api.merge(WIDGETS, 'a', { metadata: { finalizers: null } });
    expect(body.metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
    expect(api.get(WIDGETS, 'a').code).toBe(404);
    // The last event still lists the finalizer and carries the resourceVersion of the delete.
    expect(commits[1]).toMatchObject({
      type: 'DELETED',
      object: { metadata: { finalizers: ['g.dev/hold'], resourceVersion: String(api.store.revision()) } },
    });
  });

  it('checks preconditions on terminating objects too', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', {}, { finalizers: ['g.dev/hold'] }));
    const { resourceVersion = '' } = api.remove(WIDGETS, 'a').body.metadata;
    expect(api.remove(WIDGETS, 'a', { preconditions: { resourceVersion: '1' } }).code).toBe(409);
    expect(api.remove(WIDGETS, 'a', { preconditions: { resourceVersion } }).code).toBe(200);
  });

  it('turns a policy into a finalizer, and a second DELETE may change it', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', {}, { finalizers: ['g.dev/hold'] }));
    const finalizers = (propagation: 'Foreground' | 'Background' | 'Orphan') =>
      api.remove(WIDGETS, 'a', { propagation }).body.metadata.finalizers;
    expect(finalizers('Foreground')).toEqual(['g.dev/hold', 'foregroundDeletion']);
    expect(finalizers('Background')).toEqual(['g.dev/hold']);
    expect(finalizers('Orphan')).toEqual(['g.dev/hold', 'orphan']);
  });

  it('gives a pod on a node its grace period, and none to a pod without one', () => {
    const api = openApi();
    const spec = { containers: [{ name: 'main', image: 'web' }] };
    api.create(PODS, { metadata: { name: 'waiting' }, spec });
    expect(api.remove(PODS, 'waiting').code).toBe(200);
    expect(api.get(PODS, 'waiting').code).toBe(404);
    api.create(PODS, { metadata: { name: 'running' }, spec: { ...spec, nodeName: 'node-1' } });
    expect(api.remove(PODS, 'running').body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    expect(api.get(PODS, 'running').code).toBe(200);
    api.remove(PODS, 'running', { gracePeriodSeconds: 0 });
    expect(api.get(PODS, 'running').code).toBe(404);
  });

  it('deletes what a collection selects and answers with it', () => {
    const api = openApi();
    for (const name of ['a', 'b', 'c'])
      api.create(CONFIG_MAPS, configMap(name, { labels: { group: name < 'c' ? 'x' : 'y' } }));
    const { code, body } = api.store.execute({
      verb: 'deletecollection',
      resource: CONFIG_MAPS,
      namespace: 'ns',
      user: 'somebody',
      options: { labelSelector: 'group=x' },
    });
    expect([code, body['kind'], (body['items'] as unknown[]).length]).toEqual([200, 'ConfigMapList', 2]);
    expect(api.get(CONFIG_MAPS, 'a').code).toBe(404);
    expect(api.get(CONFIG_MAPS, 'c').code).toBe(200);
  });

  it('keeps a deleted namespace until somebody has emptied it', () => {
    const api = openApi();
    const { body } = api.remove(NAMESPACES, 'ns');
    expect(body).toMatchObject({ status: { phase: 'Terminating' }, spec: { finalizers: ['kubernetes'] } });
    expect(api.get(NAMESPACES, 'ns').code).toBe(200);
    const emptied = { ...body, spec: { finalizers: [] } };
    api.update(NAMESPACES, 'ns', emptied, { subresource: 'finalize' });
    expect(api.get(NAMESPACES, 'ns').code).toBe(404);
  });

  it('shows a dry delete and keeps the object', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    expect(api.remove(CONFIG_MAPS, 'a', { dryRun: true })).toMatchObject({
      code: 200,
      body: { status: 'Success' },
    });
    expect(api.get(CONFIG_MAPS, 'a').code).toBe(200);
  });
});

it('lets a test answer in the place of the store', () => {
  let broken = false;
  const body = { kind: 'Status', apiVersion: 'v1', metadata: { name: '' }, code: 500 };
  const api = openApi({ intercept: () => (broken ? { code: 500, body } : undefined) });
  broken = true;
  expect(api.create(CONFIG_MAPS, configMap('a')).code).toBe(500);
  broken = false;
  expect(api.get(CONFIG_MAPS, 'a').code).toBe(404);
});

it('tells every listener of the changes in one order, also when a listener writes', () => {
  const api = openApi();
  const seen: string[] = [];
  api.store.onCommit(({ object }) => {
    if (object.metadata.name === 'a') api.create(CONFIG_MAPS, configMap('b'));
  });
  api.store.onCommit(({ object }) => seen.push(object.metadata.name));
  api.create(CONFIG_MAPS, configMap('a'));
  expect(seen).toEqual(['a', 'b']);
});
