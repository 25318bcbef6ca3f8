import { expect, it } from 'vitest';
import type { KubeObject, Resource } from '../../../src/kube/api.ts';
import { keysOf, WATCHES } from '../../../src/platform/theia-cloud/watches.ts';
import { recorded } from './_recorded.ts';

const POOL = recorded('c-pool-sidecar-mount/objects.json');
const CLAIM = recorded('f-claim-eager/after.json');

function watched(kind: string): Resource {
  const found = WATCHES.find(({ resource }) => resource.kind === kind)?.resource;
  if (found === undefined) throw new Error(`${kind} is not watched`);
  return found;
}
const keys = (object: KubeObject) => keysOf(watched(object.kind), object);
const route = (metadata: object): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'r', ...metadata },
});
const owner = (name: string) => ({
  apiVersion: 'theia.cloud/v1beta11',
  kind: 'AppDefinition',
  name,
  uid: name,
});

it('every part of an instance is news of its pool, sidecars and volume too', () => {
  const parts = POOL.filter(({ kind }) =>
    ['Service', 'Deployment', 'ConfigMap', 'PersistentVolumeClaim'].includes(kind),
  );
  expect(parts).toHaveLength(16);
  expect(new Set(parts.flatMap(keys))).toEqual(new Set(['java-ls-ws']));
});

it('a route of a Session is news of the pool that the Session is of', () => {
  const routes = CLAIM.filter(({ kind }) => kind === 'HTTPRoute');
  expect(routes.map(keys)).toEqual([['java-17-course']]);
});

it('a shared route is news of every pool that it serves, and of all when it serves none yet', () => {
  expect(keys(route({ ownerReferences: [owner('java'), owner('python')] }))).toEqual(['java', 'python']);
  expect(keys(route({}))).toEqual(['*']);
});

it('what a Gateway writes into a route’s status is no news; another spec, owner or end is', () => {
  const { changed } = WATCHES.find(({ resource }) => resource.kind === 'HTTPRoute') ?? {};
  const at = (metadata: object) => changed?.(route({ uid: 'u', generation: 1, ...metadata }));
  expect(at({ resourceVersion: '2' })).toBe(at({ resourceVersion: '1' }));
  const others = [
    { generation: 2 },
    { ownerReferences: [owner('java')] },
    { deletionTimestamp: 'now' },
    { uid: 'v' },
  ];
  for (const other of others) expect(at(other)).not.toBe(at({}));
});

it('a volume of a user is nobody’s news', () => {
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'ws-ada-java-0a1b2c3d4e5f' },
  };
  expect(keys(volume)).toEqual([]);
});
