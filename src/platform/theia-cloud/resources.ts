import type { Resource } from '../../kube/api.ts';

const THEIA_CLOUD = 'theia.cloud';

/** The kinds that this platform reads or writes, as their URLs name them. */
export const SERVICES: Resource = core('Service', 'services');
export const CONFIG_MAPS: Resource = core('ConfigMap', 'configmaps');
export const PODS: Resource = core('Pod', 'pods');
export const RESOURCE_QUOTAS: Resource = core('ResourceQuota', 'resourcequotas');
export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export const DEPLOYMENTS: Resource = grouped('apps', 'v1', 'Deployment', 'deployments');
export const LEASES: Resource = grouped('coordination.k8s.io', 'v1', 'Lease', 'leases');
export const HTTP_ROUTES: Resource = grouped('gateway.networking.k8s.io', 'v1', 'HTTPRoute', 'httproutes');
export const SESSIONS: Resource = grouped(THEIA_CLOUD, 'v1beta8', 'Session', 'sessions');

/** Newest first: the first that the cluster serves is the one to read. */
export const APP_DEFINITIONS_V1BETA11: Resource = appDefinitions('v1beta11');
export const APP_DEFINITIONS_V1BETA10: Resource = appDefinitions('v1beta10');
export const APP_DEFINITION_VERSIONS: readonly Resource[] = [
  APP_DEFINITIONS_V1BETA11,
  APP_DEFINITIONS_V1BETA10,
];

/** The shared proxy configuration that every proxy ConfigMap is made from, in the pool's namespace. */
export const PROXY_TEMPLATE_NAME = 'oauth2-proxy-config';

/** The Java operator's leader Lease, in its own namespace. */
export const OPERATOR_LEASE_NAME = 'theia-cloud-operator-leaders';

function appDefinitions(version: string): Resource {
  return grouped(THEIA_CLOUD, version, 'AppDefinition', 'appdefinitions');
}

function core(kind: string, plural: string): Resource {
  return grouped('', 'v1', kind, plural);
}

function grouped(group: string, version: string, kind: string, plural: string): Resource {
  return { group, version, kind, plural, namespaced: true };
}
