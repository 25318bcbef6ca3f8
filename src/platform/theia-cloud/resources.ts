import type { Resource } from '../../kube/api.ts';

const THEIA_CLOUD = 'theia.cloud';

/** A kind that is known by its name where it is written down. */
type Named<Kind extends string> = Resource & { readonly kind: Kind };

/** The kinds that this platform reads or writes, as their URLs name them. */
export const SERVICES = core('Service', 'services');
export const CONFIG_MAPS = core('ConfigMap', 'configmaps');
export const PERSISTENT_VOLUME_CLAIMS = core('PersistentVolumeClaim', 'persistentvolumeclaims');
export const PODS: Resource = core('Pod', 'pods');
export const RESOURCE_QUOTAS: Resource = core('ResourceQuota', 'resourcequotas');
export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export const DEPLOYMENTS = grouped('apps', 'v1', 'Deployment', 'deployments');
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

function core<Kind extends string>(kind: Kind, plural: string): Named<Kind> {
  return grouped('', 'v1', kind, plural);
}

function grouped<Kind extends string>(
  group: string,
  version: string,
  kind: Kind,
  plural: string,
): Named<Kind> {
  return { group, version, kind, plural, namespaced: true };
}
