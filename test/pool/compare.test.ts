import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differences } from '../../src/pool/compare.ts';
import { changed, leaves, rendered, turnedRound } from './_rendered.ts';

const VOUCHED = { vouched: true };
const UNVOUCHED = { vouched: false };

describe('no difference', () => {
  it.each([
    [
      'another spelling of an amount',
      { resources: { limits: { memory: '3000M' } } },
      { resources: { limits: { memory: '3G' } } },
    ],
    [
      'an amount as a number',
      { resources: { requests: { cpu: '2' } } },
      { resources: { requests: { cpu: 2 } } },
    ],
    ['another spelling of storage', { storage: '1024Mi' }, { storage: '1Gi' }],
    ['a port as text', { targetPort: 3000 }, { targetPort: '3000' }],
    ['a number of pods as text', { maxSurge: 1, maxUnavailable: '0' }, { maxSurge: '1', maxUnavailable: 0 }],
    ['an empty value that the server dropped', { env: [{ name: 'A', value: '' }] }, { env: [{ name: 'A' }] }],
    ['a zero, a false, an empty list and map that it dropped', { a: 0, b: false, c: [], d: { e: {} } }, {}],
    ['a map that it dropped for being empty', { metadata: { labels: {} } }, { metadata: {} }],
    ['a default', { replicas: 1 }, { replicas: 1, revisionHistoryLimit: 10 }],
    [
      'a default within an entry',
      { ports: [{ name: 'http' }] },
      { ports: [{ name: 'http', protocol: 'TCP' }] },
    ],
    [
      'the entries of a named list in another order',
      { env: [{ name: 'A' }, { name: 'B' }] },
      { env: [{ name: 'B' }, { name: 'A' }] },
    ],
    [
      'another owner',
      { ownerReferences: [{ uid: 'u1' }] },
      { ownerReferences: [{ uid: 'u2' }, { uid: 'u1' }] },
    ],
    ['a label beside ours', { labels: { app: 'x' } }, { labels: { app: 'x', team: 'y' } }],
    [
      'an empty label with the name of a method',
      { labels: { constructor: '', app: 'x' } },
      { labels: { app: 'x' } },
    ],
    ['a key that has the name of a closed list', { data: { a: 'b' } }, { data: { a: 'b', env: 'x' } }],
    ['nothing in place of an empty value', { a: '' }, { a: null }],
    ['a list that nobody closes', {}, { tolerations: [{ key: 'x' }] }],
  ])('%s', (_, one, live) => {
    expect(differences(one, live, UNVOUCHED)).toEqual([]);
  });
});

describe('a difference', () => {
  const ide = (fields: object) => ({
    spec: { template: { spec: { containers: [{ name: 'java-17-course', ...fields }] } } },
  });

  it.each([
    [
      'an image set by hand',
      ide({ image: 'a' }),
      ide({ image: 'b' }),
      'spec.template.spec.containers[java-17-course].image',
    ],
    [
      'an image taken away',
      ide({ image: 'a' }),
      ide({}),
      'spec.template.spec.containers[java-17-course].image',
    ],
    ['a container taken away', ide({}), {}, 'spec'],
    ['another container in its place', { containers: [{ name: 'a' }] }, { containers: [] }, 'containers[a]'],
    [
      'a value where an empty one is rendered',
      { env: [{ name: 'A', value: '' }] },
      { env: [{ name: 'A', value: 'x' }] },
      'env[A].value',
    ],
    [
      'an amount',
      { resources: { limits: { cpu: '1' } } },
      { resources: { limits: { cpu: '1001m' } } },
      'resources.limits.cpu',
    ],
    [
      'an amount that is none',
      { resources: { limits: { cpu: 'lots' } } },
      { resources: { limits: { cpu: 'more' } } },
      'resources.limits.cpu',
    ],
    [
      'a number in text that is no amount',
      { env: [{ name: 'A', value: '1000m' }] },
      { env: [{ name: 'A', value: '1' }] },
      'env[A].value',
    ],
    [
      'a text that only stands near amounts',
      { resources: { notes: { a: '1000m' } } },
      { resources: { notes: { a: '1' } } },
      'resources.notes.a',
    ],
    [
      'an amount outside resources',
      { template: { limits: { a: '1000m' } } },
      { template: { limits: { a: '1' } } },
      'template.limits.a',
    ],
    ['a text where a number is rendered', { port: 3000 }, { port: '3000' }, 'port'],
    ['an argument', { args: ['--a', '--b'] }, { args: ['--a', '--c'] }, 'args[1]'],
    [
      'a label',
      { labels: { 'theia-cloud.io/x': '1' } },
      { labels: { 'theia-cloud.io/x': '2' } },
      'labels[theia-cloud.io/x]',
    ],
    ['a map in place of a list', { args: ['--a'] }, { args: { a: 1 } }, 'args'],
    ['a list in place of a map', { labels: { a: 'b' } }, { labels: ['a'] }, 'labels'],
    ['root, where no user is set', { runAsUser: 0 }, {}, 'runAsUser'],
    ['no replicas, where the server would say one', { replicas: 0 }, {}, 'replicas'],
    [
      'a token mounted by default',
      { automountServiceAccountToken: false },
      {},
      'automountServiceAccountToken',
    ],
    [
      'a volume of another kind',
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
      'volumes[v].emptyDir',
    ],
    [
      'a port with another name',
      { ports: [{ name: 'http', port: 80 }] },
      { ports: [{ name: 'web', port: 80 }] },
      'ports[http]',
    ],
    ['a missing field named like a method', { labels: { toString: 'x' } }, { labels: {} }, 'labels.toString'],
  ])('%s', (_, one, live, path) => {
    expect(differences(one, live, VOUCHED)).toContain(path);
    expect(differences(one, live, UNVOUCHED)).toContain(path);
  });

  it.each(['replicas', 'runAsUser', 'runAsGroup', 'fsGroup'])('is a zero that is gone from %s', (field) => {
    expect(differences({ [field]: 0 }, {}, VOUCHED)).toEqual([field]);
  });

  it.each(['automountServiceAccountToken', 'enableServiceLinks', 'optional'])(
    'is a false that is gone from %s',
    (field) => {
      expect(differences({ [field]: false }, {}, VOUCHED)).toEqual([field]);
    },
  );

  it('is another order of entries that have no name', () => {
    const one = { rules: [{ a: 1 }, { a: 2 }] };
    const live = { rules: [{ a: 2 }, { a: 1 }] };
    expect(differences(one, live, UNVOUCHED)).toEqual(['rules[0].a', 'rules[1].a']);
    expect(differences(one, live, VOUCHED)).toEqual(['rules[1]']);
  });

  it('is told once, and in order', () => {
    const one = {
      b: 1,
      a: 1,
      env: [
        { name: 'Z', value: 'x' },
        { name: 'Z', value: 'y' },
      ],
    };
    expect(differences(one, {}, UNVOUCHED)).toEqual(['a', 'b', 'env[Z#2]', 'env[Z]']);
  });
});

describe('something beside the rendered entries', () => {
  const one = { env: [{ name: 'A' }], ports: [{ containerPort: 3000 }], args: ['--a', '--b'], image: 'x' };

  it.each([
    ['a variable', { env: [{ name: 'A' }, { name: 'B' }] }, 'env[B]'],
    ['a variable a second time', { env: [{ name: 'A' }, { name: 'A', value: 'again' }] }, 'env[A#2]'],
    ['a port', { ports: [{ containerPort: 3000 }, { containerPort: 8081 }] }, 'ports[8081]'],
    ['an argument at the end', { args: ['--a', '--b', '--c'] }, 'args[2]'],
    ['an empty argument at the end', { args: ['--a', '--b', ''] }, 'args[2]'],
    ['a port that has a number alone', { ports: [{ containerPort: 3000 }, { port: 80 }] }, 'ports[80]'],
    ['a volume, where none is rendered', { volumes: [{ name: 'v' }] }, 'volumes[v]'],
    [
      'a mount, where none is rendered',
      { volumeMounts: [{ mountPath: '/v', name: 'v' }] },
      'volumeMounts[/v]',
    ],
    ['a container', { containers: [{ name: 'debug' }] }, 'containers[debug]'],
    ['an init container', { initContainers: [{ name: 'init' }] }, 'initContainers[init]'],
    ['a pull secret whose option was removed', { imagePullSecrets: [{ name: 's' }] }, 'imagePullSecrets[s]'],
    ['an entry without a name', { imagePullSecrets: ['s'] }, 'imagePullSecrets[0]'],
  ])('%s is a difference unless a label vouches', (_, beside, path) => {
    expect(differences(one, { ...one, ...beside }, UNVOUCHED)).toEqual([path]);
    expect(differences(one, { ...one, ...beside }, VOUCHED)).toEqual([]);
  });

  it('is an argument where none is rendered', () => {
    expect(differences({}, { args: ['--a'] }, UNVOUCHED)).toEqual(['args[0]']);
    expect(differences({}, { args: ['--a'] }, VOUCHED)).toEqual([]);
  });

  it('is found within the entries of a list that has no names', () => {
    const live = { rules: [{ env: [{ name: 'A' }, { name: 'B' }] }] };
    expect(differences({ rules: [{ env: [{ name: 'A' }] }] }, live, UNVOUCHED)).toEqual(['rules[0].env[B]']);
  });

  it('an empty argument that is gone is a difference all the same', () => {
    expect(differences({ args: ['--a', ''] }, { args: ['--a'] }, UNVOUCHED)).toEqual(['args[1]']);
    expect(differences({ args: ['--a', ''] }, { args: ['--a'] }, VOUCHED)).toEqual(['args[1]']);
  });

  it.each([
    ['nothing but text', ['A']],
    ['a map for a name', [{ name: { a: 1 } }]],
    ['nothing at all', [null]],
  ])('entries with %s are compared one by one', (_, env) => {
    expect(differences({ env }, { env }, UNVOUCHED)).toEqual([]);
    expect(differences({ env }, { env: [...env, ...env] }, UNVOUCHED)).toEqual(['env[1]']);
    expect(differences({ env }, { env: [{ name: 'x' }] }, UNVOUCHED).join()).toMatch(/^env\[0\]/);
  });

  it('may stand between the arguments where a label vouches, which keep their order', () => {
    expect(differences({ args: ['--a', '--b'] }, { args: ['--x', '--a', '--y', '--b'] }, VOUCHED)).toEqual(
      [],
    );
    expect(differences({ args: ['--a', '--b'] }, { args: ['--b', '--a'] }, VOUCHED)).toEqual(['args[1]']);
    expect(differences({ args: ['--a', '--a'] }, { args: ['--a'] }, VOUCHED)).toEqual(['args[1]']);
  });
});

describe('for every world', () => {
  it('what is rendered does not differ from itself', () => {
    fc.assert(
      fc.property(fc.oneof(rendered, fc.jsonValue()), fc.boolean(), (one, vouched) => {
        expect(differences(one, structuredClone(one), { vouched })).toEqual([]);
      }),
    );
  });

  it('the order of keys and of named entries says nothing', () => {
    fc.assert(
      fc.property(rendered, fc.boolean(), (one, vouched) => {
        expect(differences(one, turnedRound(one), { vouched })).toEqual([]);
        expect(differences(turnedRound(one), one, { vouched })).toEqual([]);
      }),
    );
  });

  it('a change of any rendered leaf is a difference, vouched for or not', () => {
    fc.assert(
      fc.property(rendered, fc.nat(), fc.boolean(), (one, choice, vouched) => {
        const all = leaves(one);
        const steps = all[choice % all.length] ?? [];
        const live = changed(one, steps, (leaf) => (typeof leaf === 'boolean' ? !leaf : `${leaf}7`));

        expect(differences(one, live, { vouched })).not.toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('a named entry that is gone is a difference, vouched for or not', () => {
    fc.assert(
      fc.property(rendered, fc.boolean(), (one, vouched) => {
        fc.pre(one.spec.template.containers.length > 0);
        const live = changed(one, ['spec', 'template', 'containers'], (list) => (list as unknown[]).slice(1));
        const [first] = one.spec.template.containers;

        expect(differences(one, live, { vouched })).toContain(
          `spec.template.containers[${String(first?.['name'])}]`,
        );
      }),
    );
  });

  it('whatever is added to maps and named lists is none where a label vouches', () => {
    fc.assert(
      fc.property(rendered, (one) => {
        expect(differences(one, enriched(one), VOUCHED)).toEqual([]);
      }),
    );
  });

  it('and one for each entry of a closed list where none does', () => {
    fc.assert(
      fc.property(rendered, (one) => {
        const closed = Object.keys(one.spec.template).filter((key) => key !== 'automountServiceAccountToken');
        const found = differences(one, enriched(one), UNVOUCHED);

        expect(found).toEqual(expect.arrayContaining(closed.map((key) => `spec.template.${key}[added]`)));
        expect(found.every((path) => /\[(added|[0-9]+)\]$/.test(path))).toBe(true);
      }),
    );
  });
});

/** `value` as a webhook might leave it: one more entry in each map and each list. */
function enriched(value: unknown): unknown {
  if (Array.isArray(value)) {
    const hasNames = value.every((entry) => typeof entry === 'object' && !('path' in entry));
    const added = { name: 'added', uid: 'added', mountPath: 'added' };
    return hasNames ? [added, ...value.map(enriched)] : [...value.map(enriched), 'added'];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries([
    ...Object.entries(value).map(([key, inner]) => [key, enriched(inner)]),
    ['addedField', 'x'],
  ]);
}
