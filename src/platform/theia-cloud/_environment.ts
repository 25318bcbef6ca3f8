import { extraDataBridgePort, hasDataBridge, monitorPort } from './_ports.ts';
import { type Env, sidecarVariables } from './_sidecars.ts';
import type { AppDefinition } from './crds.ts';
import { instancePath } from './names.ts';
import type { Settings } from './settings.ts';

/** What the operator leaves in the environment where it has nothing to fill in. */
const MONITOR_PORT_LEFT_OPEN = 'placeholder-monitor-env-port';
const ACTIVITY_TRACKER_LEFT_OPEN = 'placeholder-enable-activity-tracker';

const TRUST_FOLDER = '/etc/ssl/theia-trust';
/** Without it the trust bundle is a ConfigMap that does not exist, mounted where nobody looks. */
const UNUSED_TRUST_BUNDLE = 'trust-bundle-unused';

/** The environment of a warm IDE, in the operator's order. */
export function environment(appDefinition: AppDefinition, settings: Settings, slot: number): readonly Env[] {
  const { keycloak, serviceAuthToken } = settings;
  const url = `https://${settings.instancesHost}${instancePath(appDefinition, slot, settings)}/`;
  return [
    ...variables({
      THEIACLOUD_SERVICE_AUTH_TOKEN: serviceAuthToken,
      THEIACLOUD_APP_ID: serviceAuthToken,
      THEIACLOUD_SERVICE_URL: settings.serviceUrl,
      // The pod is made before its Session: these stay empty for as long as it lives.
      THEIACLOUD_SESSION_UID: '',
      THEIACLOUD_SESSION_NAME: '',
      THEIACLOUD_SESSION_USER: '',
      THEIACLOUD_SESSION_URL: url,
      THEIACLOUD_SESSION_SECRET: '',
      ...monitoring(appDefinition, settings),
      THEIACLOUD_KEYCLOAK_URL: keycloak ? settings.keycloakUrl : '',
      THEIACLOUD_KEYCLOAK_REALM: keycloak ? settings.keycloakRealm : '',
      THEIACLOUD_KEYCLOAK_CLIENT_ID: keycloak ? settings.keycloakClientId : '',
      ...caches(settings),
      ...dataBridge(appDefinition),
      ...(keycloak ? { THEIA: '1' } : {}),
      ...trust(settings),
    }),
    ...sidecarVariables(appDefinition, slot),
  ];
}

/** Where the trust bundle is mounted, and from which ConfigMap. */
export function trustBundle(settings: Settings): { readonly configMap: string; readonly mountPath: string } {
  return trustsCache(settings)
    ? { configMap: 'theia-internal-trust', mountPath: TRUST_FOLDER }
    : { configMap: UNUSED_TRUST_BUNDLE, mountPath: `/tmp/${UNUSED_TRUST_BUNDLE}` };
}

function monitoring({ spec }: AppDefinition, settings: Settings): Readonly<Record<string, string>> {
  const port = settings.enableMonitor ? monitorPort(spec) : undefined;
  const tracker = String(settings.enableActivityTracker);
  return {
    THEIACLOUD_MONITOR_ENABLE_ACTIVITY_TRACKER: settings.enableMonitor ? tracker : ACTIVITY_TRACKER_LEFT_OPEN,
    THEIACLOUD_MONITOR_PORT: port === undefined ? MONITOR_PORT_LEFT_OPEN : String(port),
  };
}

/** A cache is on if it is enabled and has an address. */
function caches(settings: Settings): Readonly<Record<string, string>> {
  const build = settings.enableBuildCaching ? settings.buildCacheUrl.trim() : '';
  const dependencies = settings.enableDependencyCaching ? settings.dependencyCacheUrl.trim() : '';
  return {
    BUILD_CACHE_ENABLED: String(build !== ''),
    BUILD_CACHE_URL: build,
    BUILD_CACHE_PUSH: String(build !== '' && settings.enableBuildCachePush),
    DEPENDENCY_CACHE_ENABLED: String(dependencies !== ''),
    DEPENDENCY_CACHE_URL: dependencies,
  };
}

function dataBridge({ spec }: AppDefinition): Readonly<Record<string, string>> {
  const isOn = hasDataBridge(spec);
  return {
    DATA_BRIDGE_PORT: String(extraDataBridgePort(spec) ?? ''),
    DATA_BRIDGE_ENABLED: isOn ? '1' : '0',
    SCORPIO_THEIA_ENV_STRATEGY: isOn ? 'data-bridge' : '',
  };
}

/** Only a build cache behind TLS needs the installation's own certificates. */
function trustsCache({ enableBuildCaching, buildCacheUrl }: Settings): boolean {
  return enableBuildCaching && buildCacheUrl.trim().startsWith('https');
}

function trust(settings: Settings): Readonly<Record<string, string>> {
  if (!trustsCache(settings)) return { NODE_EXTRA_CA_CERTS: '', GRADLE_OPTS: '' };
  const store = `-Djavax.net.ssl.trustStore=${TRUST_FOLDER}/truststore.jks`;
  return {
    NODE_EXTRA_CA_CERTS: `${TRUST_FOLDER}/trust-bundle.pem`,
    GRADLE_OPTS: `${store} -Djavax.net.ssl.trustStorePassword=changeit`,
  };
}

function variables(values: Readonly<Record<string, string>>): readonly Env[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
