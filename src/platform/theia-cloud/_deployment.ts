import type { AppDefinition } from './crds.ts';
import { APP_LABEL, GENERATION_LABEL } from './labels.ts';
import { instanceNames, instancePath, podSelector } from './names.ts';
import type { Settings } from './settings.ts';

const PROXY_PORT = 5000;
const DEFAULT_UID = 1000;
/** What the operator leaves in the environment where it has nothing to fill in. */
const MONITOR_PORT_LEFT_OPEN = 'placeholder-monitor-env-port';
const ACTIVITY_TRACKER_LEFT_OPEN = 'placeholder-enable-activity-tracker';
/** Without caches the trust bundle is a ConfigMap that does not exist, mounted where nobody looks. */
const UNUSED_TRUST_BUNDLE = 'trust-bundle-unused';

interface Env {
  readonly name: string;
  readonly value: string;
}

/** The spec of a warm instance's Deployment. */
export function deploymentSpec(appDefinition: AppDefinition, settings: Settings, slot: number): unknown {
  const { metadata, spec } = appDefinition;
  const labels = { [APP_LABEL]: podSelector(appDefinition, slot) };
  const ide = ideContainer(appDefinition, environment(appDefinition, settings, slot));
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels: { ...labels, [GENERATION_LABEL]: String(metadata.generation) } },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { fsGroup: userId(spec.uid) },
        ...(spec.pullSecret ? { imagePullSecrets: [{ name: spec.pullSecret }] } : {}),
        containers: settings.keycloak ? [proxyContainer(settings), ide] : [ide],
        volumes: [...(settings.keycloak ? proxyVolumes(appDefinition, slot) : []), trustBundle()],
      },
    },
  };
}

function proxyContainer(settings: Settings): unknown {
  return {
    name: 'oauth2-proxy',
    image: `${settings.oAuth2ProxyImage}:${settings.oAuth2ProxyVersion}`,
    imagePullPolicy: 'IfNotPresent',
    args: [
      '--config=/etc/oauth2-proxy.cfg',
      '--authenticated-emails-file=/emails/authenticated-emails-list',
      '--gcp-healthchecks',
      '--reverse-proxy',
      '--skip-auth-route=/monitor/*',
    ],
    ports: [{ name: 'web', containerPort: PROXY_PORT, protocol: 'TCP' }],
    volumeMounts: [
      { name: 'oauth2-proxy-config', mountPath: '/etc/oauth2-proxy.cfg', subPath: 'oauth2-proxy.cfg' },
      { name: 'oauth2-templates', mountPath: '/templates' },
      // A directory, not a subPath: the kubelet carries changes of the allow-list into it.
      { name: 'oauth2-emails', mountPath: '/emails' },
    ],
  };
}

function proxyVolumes(appDefinition: AppDefinition, slot: number): readonly unknown[] {
  const names = instanceNames(appDefinition, slot);
  return [
    { name: 'oauth2-proxy-config', configMap: { name: names.proxyConfigMap } },
    { name: 'oauth2-templates', configMap: { name: 'oauth2-templates' } },
    { name: 'oauth2-emails', configMap: { name: names.emailConfigMap } },
  ];
}

function ideContainer({ spec }: AppDefinition, env: readonly Env[]): unknown {
  const uid = userId(spec.uid);
  return {
    name: spec.name,
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy ?? 'Always',
    ports: [{ name: 'application', containerPort: spec.port, protocol: 'TCP' }],
    resources: {
      limits: amounts(spec.limitsCpu, spec.limitsMemory),
      requests: amounts(spec.requestsCpu, spec.requestsMemory),
    },
    securityContext: { runAsUser: uid, runAsGroup: uid },
    env,
    volumeMounts: [{ name: 'trust-bundle', mountPath: `/tmp/${UNUSED_TRUST_BUNDLE}`, readOnly: true }],
  };
}

function trustBundle(): unknown {
  return { name: 'trust-bundle', configMap: { name: UNUSED_TRUST_BUNDLE, optional: true } };
}

function environment(appDefinition: AppDefinition, settings: Settings, slot: number): readonly Env[] {
  const { keycloak, serviceAuthToken } = settings;
  const url = `https://${settings.instancesHost}${instancePath(appDefinition, slot, settings)}/`;
  const tracker = settings.enableMonitor
    ? String(settings.enableActivityTracker)
    : ACTIVITY_TRACKER_LEFT_OPEN;
  return variables({
    THEIACLOUD_SERVICE_AUTH_TOKEN: serviceAuthToken,
    THEIACLOUD_APP_ID: serviceAuthToken,
    THEIACLOUD_SERVICE_URL: settings.serviceUrl,
    // The pod is made before its Session: these stay empty for as long as it lives.
    THEIACLOUD_SESSION_UID: '',
    THEIACLOUD_SESSION_NAME: '',
    THEIACLOUD_SESSION_USER: '',
    THEIACLOUD_SESSION_URL: url,
    THEIACLOUD_SESSION_SECRET: '',
    THEIACLOUD_MONITOR_ENABLE_ACTIVITY_TRACKER: tracker,
    THEIACLOUD_MONITOR_PORT: MONITOR_PORT_LEFT_OPEN,
    THEIACLOUD_KEYCLOAK_URL: keycloak ? settings.keycloakUrl : '',
    THEIACLOUD_KEYCLOAK_REALM: keycloak ? settings.keycloakRealm : '',
    THEIACLOUD_KEYCLOAK_CLIENT_ID: keycloak ? settings.keycloakClientId : '',
    BUILD_CACHE_ENABLED: 'false',
    BUILD_CACHE_URL: '',
    BUILD_CACHE_PUSH: 'false',
    DEPENDENCY_CACHE_ENABLED: 'false',
    DEPENDENCY_CACHE_URL: '',
    DATA_BRIDGE_PORT: '',
    DATA_BRIDGE_ENABLED: '0',
    SCORPIO_THEIA_ENV_STRATEGY: '',
    ...(keycloak ? { THEIA: '1' } : {}),
    NODE_EXTRA_CA_CERTS: '',
    GRADLE_OPTS: '',
  });
}

function variables(values: Readonly<Record<string, string>>): readonly Env[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** An empty amount is left out, not set to nothing. */
function amounts(cpu: string | undefined, memory: string | undefined): unknown {
  return { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) };
}

function userId(uid: number): number {
  return uid < 0 ? DEFAULT_UID : uid;
}
