import { expect, it } from 'vitest';
import { CONFIG_MAPS, configMap, DEPLOYMENTS, deployment, openApi, PODS, QUOTAS, refusal } from './_api.ts';

function quota(hard: Readonly<Record<string, string>>) {
  return { metadata: { name: 'q' }, spec: { hard } };
}

function pod(name: string) {
  return { metadata: { name }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
}

it('refuses what would exceed a quota and says which', () => {
  const api = openApi();
  api.create(QUOTAS, quota({ pods: '1', 'count/deployments.apps': '1' }));
  expect(api.create(PODS, pod('a')).code).toBe(201);
  expect(refusal(api.create(PODS, pod('b')))).toEqual({
    code: 403,
    reason: 'Forbidden',
    message: 'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    details: { name: 'b', kind: 'pods' },
  });
  api.create(DEPLOYMENTS, deployment('a'));
  expect(api.create(DEPLOYMENTS, deployment('b')).body['message']).toBe(
    'deployments.apps "b" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1',
  );
});

it('shows what is used and forgets what has gone', () => {
  const api = openApi();
  api.create(CONFIG_MAPS, configMap('early'));
  api.create(QUOTAS, quota({ configmaps: '3', 'count/configmaps': '3' }));
  const used = () => (api.get(QUOTAS, 'q').body['status'] as { used: unknown }).used;
  expect(used()).toEqual({ configmaps: '1', 'count/configmaps': '1' });
  api.create(CONFIG_MAPS, configMap('late'));
  expect(used()).toEqual({ configmaps: '2', 'count/configmaps': '2' });
  api.remove(CONFIG_MAPS, 'early');
  expect(used()).toEqual({ configmaps: '1', 'count/configmaps': '1' });
});

it('lets more in once the quota is raised', () => {
  const api = openApi();
  api.create(QUOTAS, quota({ pods: '0' }));
  expect(api.create(PODS, pod('a')).code).toBe(403);
  const { body } = api.merge(QUOTAS, 'q', { spec: { hard: { pods: '1' } } });
  expect(body['spec']).toEqual({ hard: { pods: '1' } });
  expect(api.get(QUOTAS, 'q').body['status']).toEqual({ hard: { pods: '1' }, used: { pods: '0' } });
  expect(api.create(PODS, pod('a')).code).toBe(201);
});

it('does not count pods that have ended', () => {
  const api = openApi();
  api.create(QUOTAS, quota({ pods: '1' }));
  api.create(PODS, pod('a'));
  api.merge(PODS, 'a', { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  expect(api.create(PODS, pod('b')).code).toBe(201);
});

it('says that a quota is full before it says that a name is taken', () => {
  const api = openApi();
  api.create(QUOTAS, quota({ configmaps: '1' }));
  api.create(CONFIG_MAPS, configMap('a'));
  expect(api.create(CONFIG_MAPS, configMap('a')).code).toBe(403);
});
