import { expect, it } from 'vitest';
import { createClaimProtection } from '../../src/embedded/claims.ts';
import { createNamespaceController } from '../../src/embedded/namespaces.ts';
import { CLAIMS, CONFIG_MAPS, configMap, NAMESPACES, openApi, PODS, WIDGETS, widget } from './_api.ts';
import { runFor } from './_clock.ts';

function cluster() {
  const api = openApi();
  const now = () => api.now();
  const actors = [createNamespaceController(api.store, { now }), createClaimProtection(api.store, { now })];
  return { ...api, runFor: (ms: number) => runFor(api, actors, ms) };
}

it('leaves the contents of a deleted namespace alone for five seconds, then everything goes', () => {
  const api = cluster();
  api.create(CONFIG_MAPS, configMap('a'));
  api.create(WIDGETS, widget('w'));
  api.remove(NAMESPACES, 'ns');
  api.runFor(4_999);
  expect(api.get(CONFIG_MAPS, 'a').code).toBe(200);
  api.runFor(1_001);
  expect(api.get(CONFIG_MAPS, 'a').code).toBe(404);
  expect(api.get(WIDGETS, 'w').code).toBe(404);
  expect(api.get(NAMESPACES, 'ns').code).toBe(404);
});

it('says which finalizers a namespace waits for, and goes soon after they are gone', () => {
  const api = cluster();
  api.create(WIDGETS, widget('w', {}, { finalizers: ['g.dev/x'] }));
  api.remove(NAMESPACES, 'ns');
  api.runFor(10_000);
  expect(api.get(NAMESPACES, 'ns').body['status']).toMatchObject({
    phase: 'Terminating',
    conditions: [
      { type: 'NamespaceContentRemaining', status: 'True' },
      {
        type: 'NamespaceFinalizersRemaining',
        message: 'Some content in the namespace has finalizers remaining: g.dev/x in 1 resource instances',
      },
    ],
  });
  api.merge(WIDGETS, 'w', { metadata: { finalizers: null } });
  api.runFor(4_000);
  expect(api.get(NAMESPACES, 'ns').code).toBe(404);
});

it('accepts updates and deletes, but nothing new, while a namespace goes', () => {
  const api = cluster();
  api.create(CONFIG_MAPS, configMap('a'));
  api.remove(NAMESPACES, 'ns');
  expect(api.create(CONFIG_MAPS, configMap('b')).code).toBe(403);
  expect(api.create(CONFIG_MAPS, configMap('b'), { options: { dryRun: true } }).code).toBe(403);
  expect(api.merge(CONFIG_MAPS, 'a', { data: { a: '2' } }).code).toBe(200);
  expect(api.remove(CONFIG_MAPS, 'a').code).toBe(200);
});

it('keeps a deleted claim until the last pod that mounts it is gone', () => {
  const api = cluster();
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }];
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  api.create(CLAIMS, { metadata: { name: 'c' }, spec: claim });
  api.create(PODS, {
    metadata: { name: 'p' },
    spec: { volumes, containers: [{ name: 'main', image: 'web' }] },
  });
  api.remove(CLAIMS, 'c');
  api.runFor(1_000);
  expect(api.get(CLAIMS, 'c').body.metadata.deletionTimestamp).toBeDefined();
  api.remove(PODS, 'p');
  api.runFor(1_000);
  expect(api.get(CLAIMS, 'c').code).toBe(404);
});
