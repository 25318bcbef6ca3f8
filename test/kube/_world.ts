import { type Clock, seededRandom } from '../../src/clock.ts';
import type { KubeObject, Resource } from '../../src/kube/api.ts';
import { staticTokenCluster } from '../../src/kube/auth/static-token.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';

export const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
export const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

/** A token that must never be seen anywhere. */
export const TOKEN = 'canary-token-7f3a';

/** A client for the server at `url`. */
export function clientFor(
  url: string,
  clock: Clock,
  more: { deadlineMs?: number; pageSize?: number } = {},
): KubeClient {
  const cluster = staticTokenCluster({ server: url, token: TOKEN });
  return createKubeApi({ cluster, clock, random: seededRandom(1), ...more });
}

/** A Deployment as a server would send it. */
export function deployment(name: string, resourceVersion = '1', uid = `uid-${name}`): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'ide', uid, resourceVersion },
  };
}
