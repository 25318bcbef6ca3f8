import { TerminalError } from '../../errors.ts';
import type { KubeApi, Resource } from '../../kube/api.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  PROXY_TEMPLATE_NAME,
} from '../../platform/theia-cloud/resources.ts';
import { type Settings, SettingsSchema } from '../../platform/theia-cloud/settings.ts';

export const OPERATOR_DEPLOYMENT_NAME = 'operator-deployment';
const SHARED_ROUTE_NAME = 'ide-instances-route';

/** The settings of the installation that the recorded fixtures come from. */
export const RECORDED_SETTINGS: Settings = SettingsSchema.parse({
  keycloak: true,
  keycloakUrl: 'https://keycloak.example.org/auth/',
  keycloakRealm: 'TheiaCloud',
  keycloakClientId: 'theia-cloud',
  eagerStart: true,
  instancesHost: 'ide.example.org',
  usePaths: true,
  instancesPath: 'instances',
  enableMonitor: true,
  serviceUrl: 'https://ide.example.org/service',
  serviceAuthToken: 'example-service-token',
  oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy',
  oAuth2ProxyVersion: 'v7.12.0',
  storageClassName: 'default',
  requestedStorage: '250Mi',
  bandwidthLimiter: 'K8SANNOTATION',
});

/** The arguments by which an operator is given `settings`. The image of the proxy is none: it is fixed in the operator. */
function operatorArguments(settings: Settings): readonly string[] {
  const flags: readonly (readonly [option: string, isOn: boolean])[] = [
    ['--keycloak', settings.keycloak],
    ['--eagerStart', settings.eagerStart],
    ['--usePaths', settings.usePaths],
    ['--enableMonitor', settings.enableMonitor],
    ['--enableActivityTracker', settings.enableActivityTracker],
    ['--enableBuildCaching', settings.enableBuildCaching],
    ['--enableBuildCachePush', settings.enableBuildCachePush],
    ['--enableDependencyCaching', settings.enableDependencyCaching],
  ];
  const values: readonly (readonly [option: string, value: string])[] = [
    ['--keycloakURL', settings.keycloakUrl],
    ['--keycloakRealm', settings.keycloakRealm],
    ['--keycloakClientId', settings.keycloakClientId],
    ['--cloudProvider', 'K8S'],
    ['--bandwidthLimiter', settings.bandwidthLimiter === 'NONE' ? '' : settings.bandwidthLimiter],
    ['--wondershaperImage', settings.wondershaperImage],
    ['--sessionsPerUser', '10'],
    ['--instancesHost', settings.instancesHost],
    ['--instancesPath', settings.instancesPath],
    ['--serviceUrl', settings.serviceUrl],
    ['--serviceAuthToken', settings.serviceAuthToken],
    ['--storageClassName', settings.storageClassName],
    ['--requestedStorage', settings.requestedStorage],
    ['--oAuth2ProxyVersion', settings.oAuth2ProxyVersion],
    ['--buildCacheUrl', settings.buildCacheUrl],
    ['--dependencyCacheUrl', settings.dependencyCacheUrl],
    ['--leaderLeaseDuration', '6'],
    ['--leaderRenewDeadline', '4'],
    ['--leaderRetryPeriod', '1'],
  ];
  return [
    ...flags.flatMap(([option, isOn]) => (isOn ? [option] : [])),
    ...values.flatMap(([option, value]) => (value === '' ? [] : [option, value])),
  ];
}

export interface Installation {
  readonly namespace: string;
  /** Default: those of the recorded fixtures. */
  readonly settings?: Settings;
}

/** What an installation has before its first AppDefinition, the operator's Deployment aside. What is there stays as it is. */
export async function installBaseObjects(api: KubeApi, { namespace }: Installation): Promise<void> {
  await put(api, HTTP_ROUTES, namespace, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: SHARED_ROUTE_NAME, labels: MANAGED_BY_HELM },
    spec: {
      hostnames: ['ide.example.org', '*.webview.ide.example.org'],
      parentRefs: [{ name: 'ide-gateway', namespace: 'gateway-system', sectionName: 'https' }],
    },
  });
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
  const config = { 'oauth2-proxy.cfg': `${PROXY_CONFIG.join('\n')}\n` };
  await put(api, CONFIG_MAPS, namespace, {
    ...configMap,
    metadata: { name: PROXY_TEMPLATE_NAME },
    data: config,
  });
  const pages = {
    'error.html': '<!doctype html><title>Error</title>',
    'sign_in.html': '<!doctype html><title>Sign in</title>',
  };
  await put(api, CONFIG_MAPS, namespace, {
    ...configMap,
    metadata: { name: 'oauth2-templates' },
    data: pages,
  });
}

/** The operator's own Deployment, whose arguments tell everybody else how it is set. */
export async function installOperatorDeployment(api: KubeApi, installation: Installation): Promise<void> {
  const labels = { app: 'operator' };
  const container = {
    name: 'operator',
    image: 'registry.example.org/theia-cloud/operator:1.0.0',
    args: operatorArguments(installation.settings ?? RECORDED_SETTINGS),
  };
  await put(api, DEPLOYMENTS, installation.namespace, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: OPERATOR_DEPLOYMENT_NAME, labels: MANAGED_BY_HELM },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
}

/** What a person writes to have a pool: an AppDefinition as in the fixtures, with `fields` of its spec set otherwise. */
export function appDefinition(name: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    apiVersion: 'theia.cloud/v1beta11',
    kind: 'AppDefinition',
    metadata: { name, labels: MANAGED_BY_HELM, annotations: { 'helm.sh/revision': '1' } },
    spec: {
      name,
      image: 'registry.example.org/ide/java-17:1.0.0',
      imagePullPolicy: 'IfNotPresent',
      pullSecret: 'ide-registry',
      uid: 101,
      port: 3000,
      ingressname: SHARED_ROUTE_NAME,
      minInstances: 3,
      maxInstances: 20,
      timeout: 1440,
      requestsMemory: '500M',
      requestsCpu: '500m',
      limitsMemory: '3000M',
      limitsCpu: '2',
      mountPath: '/home/project',
      ...fields,
    },
  };
}

const MANAGED_BY_HELM = { 'app.kubernetes.io/managed-by': 'Helm' };

const PROXY_CONFIG = [
  'provider="keycloak-oidc"',
  'redirect_url="https://placeholder/oauth2/callback"',
  'oidc_issuer_url="https://keycloak.example.org/auth/realms/TheiaCloud"',
  'client_id="theia-cloud"',
  'client_secret="not-a-secret"',
  'cookie_secret="bm90LWEtc2VjcmV0LW5vdC1hLXNlY3JldC0xMjM0NTY="',
  'http_address="0.0.0.0:5000"',
  'upstreams="http://127.0.0.1:placeholder-port/"',
  'skip_auth_routes=["/health.*"]',
  'reverse_proxy="true"',
  'custom_templates_dir="/templates"',
];

async function put(api: KubeApi, resource: Resource, namespace: string, body: unknown): Promise<void> {
  const outcome = await api.create(resource, namespace, body);
  if (outcome.kind === 'ok' || outcome.kind === 'exists') return;
  throw new TerminalError(`installing Theia Cloud: creating a ${resource.kind}: ${outcome.message}`);
}
