import { expect, it } from 'vitest';
import type { KubeApi, Resource } from '../../src/kube/api.ts';
import { HTTP_ROUTES, PERSISTENT_VOLUME_CLAIMS } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { createWorld } from '../../src/simulator/world.ts';
import { LOOP_RIGHTS } from './_rights.ts';

/** Every right that was asked for, as `apps/deployments: get`. */
function recording(used: Set<string>): (api: KubeApi) => KubeApi {
  const note = ({ group, plural }: Resource, verb: string, subresource = '') =>
    used.add(`${group}/${plural}${subresource}: ${verb}`);
  return (api) => ({
    get: (resource, place) => {
      note(resource, 'get');
      return api.get(resource, place);
    },
    list: (resource, options) => {
      note(resource, 'list');
      return api.list(resource, options);
    },
    create: (resource, namespace, body) => {
      note(resource, 'create');
      return api.create(resource, namespace, body);
    },
    patch: (resource, place, patch) => {
      note(resource, 'patch', place.subresource === undefined ? '' : `/${place.subresource}`);
      return api.patch(resource, place, patch);
    },
    delete: (resource, place, options) => {
      note(resource, 'delete');
      return api.delete(resource, place, options);
    },
    watch: api.watch,
  });
}

const single = (rights: readonly string[]) =>
  rights
    .flatMap((right) => {
      const [what, verbs = ''] = right.split(': ');
      return verbs.split(' ').map((verb) => `${what}: ${verb}`);
    })
    .sort();

/** Asked for only when a guarded patch was refused: the look that tells a conflict from a refusal. Who may patch may also look. */
const SORTING_OUT = [
  '/services: get',
  '/configmaps: get',
  '/persistentvolumeclaims: get',
  'apps/deployments: get',
];

it('a working day asks for every right of the loop, and for no other', async () => {
  const used = new Set<string>();
  const world = await createWorld({ operator: { rollsOut: false }, between: recording(used) });
  world.startEverwarm();
  await world.startOperator();
  const sidecar = { name: 'lsp', image: 'lsp:1', port: 5_000, languages: ['java'], mountWorkspace: true };
  world.createPool('java', { minInstances: 4, image: 'ide:1', sidecars: [sidecar] });
  // A person has written down the policy of a pool before there is one: it is adopted.
  const { group, version, kind } = WARM_POOLS;
  const policy = { spec: { mode: 'guard' }, metadata: { name: 'python' } };
  world.cluster.admin.create(WARM_POOLS, { apiVersion: `${group}/${version}`, kind, ...policy });
  world.createPool('python', { minInstances: 1, image: 'ide:1' });
  await world.settle();

  // A user comes; the route is lost, an object of the instance too, and so is one of a free one.
  const anna = world.claim('java');
  await world.run(5_000);
  world.cluster.admin.remove(HTTP_ROUTES, `${world.session(anna)?.metadata.uid}-route`);
  world.deletePart('java', 1, 'proxyConfigMap');
  world.deletePart('java', 3, 'internalService');
  await world.run(60_000);

  // The user leaves while the operator is down: what is left of the Session, and the volume, are the user's.
  await world.stopOperator();
  world.release(anna);
  await world.run(60_000);
  await world.startOperator();
  await world.settle();

  // A volume is lost, a release comes, the namespace is full for a while, and the pool gets smaller.
  const { admin } = world.cluster;
  const [volume] = admin
    .list(PERSISTENT_VOLUME_CLAIMS)
    .filter(({ metadata }) => metadata.name.startsWith('instance-2-'));
  admin.remove(PERSISTENT_VOLUME_CLAIMS, volume?.metadata.name ?? '');
  await world.run(60_000);
  world.setQuota(5);
  world.changePool('java', { minInstances: 4, image: 'ide:2' });
  await world.run(120_000);
  world.setQuota(undefined);
  await world.settle();
  world.changePool('java', { minInstances: 2 });
  await world.settle();

  const given = single(LOOP_RIGHTS);
  expect([...used].filter((right) => !given.includes(right))).toEqual([]);
  expect(given.filter((right) => !used.has(right) && !SORTING_OUT.includes(right))).toEqual([]);
});
