import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, configMap, DEPLOYMENTS, deployment, openApi, WIDGETS, widget } from './_api.ts';

describe('a JSON patch', () => {
  const patched = (patch: unknown) => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a', { labels: { x: 'y' } }));
    const { code } = api.json(CONFIG_MAPS, 'a', patch);
    return { code, data: api.get(CONFIG_MAPS, 'a').body['data'] };
  };

  it.each([
    { title: 'adds', patch: [{ op: 'add', path: '/data/b', value: '2' }], data: { a: '1', b: '2' } },
    {
      title: 'replaces what is there',
      patch: [{ op: 'replace', path: '/data/a', value: '2' }],
      data: { a: '2' },
    },
    {
      title: 'replaces an absent key as if it added it',
      patch: [{ op: 'replace', path: '/data/b', value: '2' }],
      data: { a: '1', b: '2' },
    },
    {
      title: 'finds null where a key is absent',
      patch: [{ op: 'test', path: '/data/b', value: null }],
      data: { a: '1' },
    },
    { title: 'moves', patch: [{ op: 'move', from: '/data/a', path: '/data/b' }], data: { b: '1' } },
    { title: 'copies', patch: [{ op: 'copy', from: '/data/a', path: '/data/b' }], data: { a: '1', b: '1' } },
  ])('$title', ({ patch, data }) => {
    expect(patched(patch)).toMatchObject({ code: 200, data });
  });

  it('reads escaped names', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { free: { 'a/b~c': 1 } }));
    const { body } = api.json(WIDGETS, 'a', [{ op: 'replace', path: '/spec/free/a~1b~0c', value: 2 }]);
    expect(body['spec']).toMatchObject({ free: { 'a/b~c': 2 } });
  });

  it.each([
    { title: 'a failed test', patch: [{ op: 'test', path: '/data/a', value: '2' }] },
    { title: 'removing what is not there', patch: [{ op: 'remove', path: '/data/b' }] },
    { title: 'adding below what is not there', patch: [{ op: 'add', path: '/spec/x', value: 1 }] },
    { title: 'testing below what is not there', patch: [{ op: 'test', path: '/spec/x', value: null }] },
    { title: 'an operation there is not', patch: [{ op: 'swap', path: '/data/a' }] },
  ])('is rejected whole for $title', ({ patch }) => {
    const seen = patched([{ op: 'add', path: '/data/c', value: '3' }, ...patch]);
    expect(seen).toEqual({ code: 422, data: { a: '1' } });
  });

  it('works on lists by index and appends with a dash', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { tags: ['a', 'b'] }));
    const { body } = api.json(WIDGETS, 'a', [
      { op: 'add', path: '/spec/tags/-', value: 'd' },
      { op: 'add', path: '/spec/tags/2', value: 'c' },
      { op: 'remove', path: '/spec/tags/0' },
      { op: 'replace', path: '/spec/tags/0', value: 'B' },
    ]);
    expect(body['spec']).toMatchObject({ tags: ['B', 'c', 'd'] });
    expect(api.json(WIDGETS, 'a', [{ op: 'remove', path: '/spec/tags/9' }]).code).toBe(422);
  });

  it('must be a list', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    expect(api.json(CONFIG_MAPS, 'a', {}).body['message']).toBe(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  });
});

describe('a merge patch', () => {
  it('removes with null, replaces lists whole and brings defaults back', () => {
    const api = openApi();
    api.create(WIDGETS, widget('a', { size: 5, tags: ['a', 'b'], min: 2 }));
    const { body } = api.merge(WIDGETS, 'a', { spec: { size: null, min: null, tags: ['c'] } });
    expect(body['spec']).toEqual({ size: 1, mode: 'Eager', tags: ['c'] });
  });

  it('must be an object', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    expect(api.merge(CONFIG_MAPS, 'a', []).body['message']).toBe(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  });

  it('cannot set what belongs to the server', () => {
    const api = openApi();
    const before = api.create(WIDGETS, widget('a')).body;
    const metadata = { creationTimestamp: '2020-01-01T00:00:00Z', generation: 7, deletionTimestamp: null };
    expect(api.merge(WIDGETS, 'a', { metadata }).body).toEqual(before);
  });
});

describe('a strategic merge patch', () => {
  const api = () => {
    const opened = openApi();
    const body = deployment('d');
    const containers = [
      {
        name: 'main',
        image: 'web:1',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        ports: [{ containerPort: 80 }],
      },
      { name: 'side', image: 'side:1' },
    ];
    opened.create(DEPLOYMENTS, {
      ...body,
      spec: { ...body.spec, template: { ...body.spec.template, spec: { containers } } },
    });
    return opened;
  };
  const containersAfter = (patch: unknown) => {
    const { body } = api().strategic(DEPLOYMENTS, 'd', { spec: { template: { spec: patch } } });
    const { spec } = body as unknown as { spec: { template: { spec: { containers: Container[] } } } };
    return spec.template.spec.containers.map(({ name, image, env = [], ports = [] }) => ({
      name,
      image,
      env: env.map((each) => each.name),
      ports: ports.map((each) => each.containerPort),
    }));
  };
  interface Container {
    readonly name: string;
    readonly image: string;
    readonly env?: readonly { readonly name: string }[];
    readonly ports?: readonly { readonly containerPort: number }[];
  }
  const main = { name: 'main', image: 'web:1', env: ['A', 'B'], ports: [80] };
  const side = { name: 'side', image: 'side:1', env: [], ports: [] };

  it.each([
    {
      title: 'finds a container by its name',
      patch: { containers: [{ name: 'side', image: 'side:2' }] },
      after: [main, { ...side, image: 'side:2' }],
    },
    {
      title: 'adds a container that is not there',
      patch: { containers: [{ name: 'new', image: 'new:1' }] },
      after: [{ name: 'new', image: 'new:1', env: [], ports: [] }, main, side],
    },
    {
      title: 'deletes a container by directive',
      patch: { containers: [{ name: 'side', $patch: 'delete' }] },
      after: [main],
    },
    {
      title: 'replaces a list by directive',
      patch: { containers: [{ $patch: 'replace' }, { name: 'only', image: 'only:1' }] },
      after: [{ name: 'only', image: 'only:1', env: [], ports: [] }],
    },
    {
      title: 'orders a list',
      patch: {
        '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
        containers: [{ name: 'main' }],
      },
      after: [side, main],
    },
    {
      title: 'merges environment and ports inside a container',
      patch: {
        containers: [
          {
            name: 'main',
            env: [{ name: 'B', $patch: 'delete' }, { name: 'C' }],
            ports: [{ containerPort: 81 }],
          },
        ],
      },
      after: [{ ...main, env: ['C', 'A'], ports: [81, 80] }, side],
    },
  ])('$title', ({ patch, after }) => {
    expect(containersAfter(patch)).toEqual(after);
  });

  it('keeps of a union only what it names', () => {
    const { body } = api().strategic(DEPLOYMENTS, 'd', {
      spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    });
    expect(body['spec']).toMatchObject({ strategy: { type: 'Recreate' } });
    expect((body['spec'] as { strategy: object }).strategy).toEqual({ type: 'Recreate' });
  });

  it('takes values out of a list of plain values', () => {
    const opened = openApi();
    opened.create(CONFIG_MAPS, configMap('a', { finalizers: ['g.dev/x', 'g.dev/y'] }));
    const metadata = { '$deleteFromPrimitiveList/finalizers': ['g.dev/x'], finalizers: ['g.dev/z'] };
    expect(opened.strategic(CONFIG_MAPS, 'a', { metadata }).body.metadata.finalizers).toEqual([
      'g.dev/z',
      'g.dev/y',
    ]);
  });

  it('needs the merge key of an element', () => {
    const answer = api().strategic(DEPLOYMENTS, 'd', {
      spec: { template: { spec: { containers: [{ image: 'x' }] } } },
    });
    expect(answer).toMatchObject({
      code: 500,
      body: { message: 'map: map[image:x] does not contain declared merge key: name' },
    });
  });
});
