import { describe, expect, it } from 'vitest';
import { createGarbageCollector, GARBAGE_COLLECTOR } from '../../src/embedded/gc.ts';
import type { Actor, Commit } from '../../src/embedded/types.ts';
import type { KubeObject, OwnerReference } from '../../src/kube/api.ts';
import { type Api, CONFIG_MAPS, configMap, NAMESPACES, openApi, SECRETS, WIDGETS, widget } from './_api.ts';
import { runFor } from './_clock.ts';

interface Collected extends Api {
  readonly commits: readonly Commit[];
  runFor(ms: number): void;
}

function collected(lagMs = 20): Collected {
  const api = openApi();
  const commits: Commit[] = [];
  api.store.onCommit((commit) => commits.push(commit));
  const collector: Actor = createGarbageCollector(api.store, { now: () => api.now(), lagMs });
  return { ...api, commits, runFor: (ms) => runFor(api, [collector], ms) };
}

function ownedBy(owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', ...more };
}

function child(name: string, ...ownerReferences: readonly OwnerReference[]) {
  return configMap(name, { ownerReferences });
}

describe('a background delete', () => {
  it('takes the owner at once and its children after the lag, and theirs after that', () => {
    const api = collected(50);
    const owner = api.create(WIDGETS, widget('owner')).body;
    const first = api.create(CONFIG_MAPS, child('child', ownedBy(owner))).body;
    api.create(SECRETS, { metadata: { name: 'grandchild', ownerReferences: [ownedBy(first)] } });
    api.runFor(1000);
    api.remove(WIDGETS, 'owner');
    expect(api.get(WIDGETS, 'owner').code).toBe(404);
    api.runFor(49);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(200);
    api.runFor(1);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
    expect(api.get(SECRETS, 'grandchild').code).toBe(200);
    api.runFor(50);
    expect(api.get(SECRETS, 'grandchild').code).toBe(404);
    expect(api.commits.at(-1)?.request.user).toBe(GARBAGE_COLLECTOR);
  });

  it('is not undone by an owner of the same name', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(CONFIG_MAPS, child('child', ownedBy(owner)));
    api.remove(WIDGETS, 'owner');
    api.create(WIDGETS, widget('owner'));
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
  });

  it('waits for a child with a finalizer, which keeps its owner', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(
      CONFIG_MAPS,
      configMap('child', { finalizers: ['g.dev/x'], ownerReferences: [ownedBy(owner)] }),
    );
    api.remove(WIDGETS, 'owner');
    api.runFor(100);
    const { metadata } = api.get(CONFIG_MAPS, 'child').body;
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(metadata.ownerReferences).toHaveLength(1);
  });
});

describe('a foreground delete', () => {
  it('keeps the owner until the children that block it are gone', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    const blocking = ownedBy(owner, { blockOwnerDeletion: true });
    api.create(CONFIG_MAPS, configMap('held', { finalizers: ['g.dev/x'], ownerReferences: [blocking] }));
    api.create(CONFIG_MAPS, child('free', ownedBy(owner)));
    api.remove(WIDGETS, 'owner', { propagation: 'Foreground' });
    api.runFor(500);
    expect(api.get(CONFIG_MAPS, 'free').code).toBe(404);
    expect(api.get(WIDGETS, 'owner').body.metadata.finalizers).toEqual(['foregroundDeletion']);
    api.merge(CONFIG_MAPS, 'held', { metadata: { finalizers: null } });
    api.runFor(500);
    expect(api.get(WIDGETS, 'owner').code).toBe(404);
  });

  it('goes down the whole tree before it takes the root', () => {
    const api = collected();
    const root = api.create(WIDGETS, widget('root')).body;
    const middle = api.create(CONFIG_MAPS, child('middle', ownedBy(root, { blockOwnerDeletion: true }))).body;
    api.create(CONFIG_MAPS, child('leaf', ownedBy(middle, { blockOwnerDeletion: true })));
    api.remove(WIDGETS, 'root', { propagation: 'Foreground' });
    api.runFor(1000);
    const gone = api.commits
      .filter(({ type }) => type === 'DELETED')
      .map(({ object }) => object.metadata.name);
    expect(gone).toEqual(['leaf', 'middle', 'root']);
  });
});

it('an orphaning delete takes the owner off every child, then the owner', () => {
  const api = collected();
  const owner = api.create(WIDGETS, widget('owner')).body;
  for (const name of ['a', 'b', 'c']) api.create(CONFIG_MAPS, child(name, ownedBy(owner)));
  api.remove(WIDGETS, 'owner', { propagation: 'Orphan' });
  api.runFor(1000);
  expect(api.get(WIDGETS, 'owner').code).toBe(404);
  for (const name of ['a', 'b', 'c']) {
    expect(api.get(CONFIG_MAPS, name).body.metadata.ownerReferences).toBeUndefined();
  }
});

describe('an object', () => {
  it('with one dead owner of two loses that reference, and goes with the last', () => {
    const api = collected();
    const [first, second] = ['first', 'second'].map((name) => api.create(WIDGETS, widget(name)).body);
    if (first === undefined || second === undefined) throw new Error('two owners were made');
    api.create(CONFIG_MAPS, child('child', ownedBy(first), ownedBy(second)));
    api.remove(WIDGETS, 'first');
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').body.metadata.ownerReferences).toEqual([ownedBy(second)]);
    api.remove(WIDGETS, 'second');
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
  });

  it.each([
    { title: 'whose owner never was', change: { name: 'nobody', uid: 'nobody' } },
    { title: 'whose owner has another uid', change: { uid: 'other' } },
  ])('$title is deleted', ({ change }) => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(CONFIG_MAPS, child('child', ownedBy(owner, change)));
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
  });

  it('whose owner is in another namespace is deleted', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner'), { namespace: 'default' }).body;
    api.create(CONFIG_MAPS, child('child', ownedBy(owner)));
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
  });

  it('with an owner of a kind that nobody serves stays', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(CONFIG_MAPS, child('child', ownedBy(owner, { kind: 'Gadget' })));
    api.create(CONFIG_MAPS, child('other', ownedBy(owner, { apiVersion: 'g.dev/v9' })));
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(200);
    expect(api.get(CONFIG_MAPS, 'other').code).toBe(200);
  });

  it('of the cluster stays with a namespaced owner, and owns namespaced ones itself', () => {
    const api = collected();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(NAMESPACES, { metadata: { name: 'cluster-wide', ownerReferences: [ownedBy(owner)] } });
    const namespace = api.get(NAMESPACES, 'ns').body;
    api.create(CONFIG_MAPS, child('child', ownedBy(namespace)));
    api.remove(WIDGETS, 'owner');
    api.runFor(100);
    expect(api.get(NAMESPACES, 'cluster-wide').body.metadata.deletionTimestamp).toBeUndefined();
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(200);
  });

  it('that owns itself is left alone', () => {
    const api = collected();
    const { body } = api.create(CONFIG_MAPS, configMap('self'));
    api.merge(CONFIG_MAPS, 'self', { metadata: { ownerReferences: [ownedBy(body)] } });
    api.runFor(100);
    expect(api.get(CONFIG_MAPS, 'self').code).toBe(200);
  });

  it('that was there before the collector is looked at too', () => {
    const api = openApi();
    const owner = api.create(WIDGETS, widget('owner')).body;
    api.create(CONFIG_MAPS, child('child', ownedBy(owner)));
    api.remove(WIDGETS, 'owner');
    const collector = createGarbageCollector(api.store, { now: () => api.now() });
    runFor(api, [collector], 100);
    expect(api.get(CONFIG_MAPS, 'child').code).toBe(404);
  });
});

it('writes one change a unit of work', () => {
  const api = openApi();
  const owner = api.create(WIDGETS, widget('owner')).body;
  for (let index = 0; index < 20; index += 1) api.create(CONFIG_MAPS, child(`c-${index}`, ownedBy(owner)));
  const collector = createGarbageCollector(api.store, { now: () => api.now(), lagMs: 0 });
  api.remove(WIDGETS, 'owner');
  const before = api.store.revision();
  const steps: number[] = [];
  while (collector.dueAt() !== undefined) {
    collector.run();
    steps.push(api.store.revision() - before);
  }
  expect(Math.max(...steps.map((step, index) => step - (steps[index - 1] ?? 0)))).toBe(1);
  expect(api.store.revision() - before).toBe(20);
});
