import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { AppDefinition } from '../../../src/platform/theia-cloud/crds.ts';
import { parseAppDefinition } from '../../../src/platform/theia-cloud/crds.ts';
import type { Parsed } from '../../../src/platform/theia-cloud/parsed.ts';
import type { ProxyTemplate } from '../../../src/platform/theia-cloud/render.ts';
import type { Settings } from '../../../src/platform/theia-cloud/settings.ts';
import { settingsFromArguments } from '../../../src/platform/theia-cloud/settings.ts';

const FOLDER = new URL('../../fixtures/theia-cloud/', import.meta.url);

/** The arguments of the recorded operator without Keycloak. */
export const PLAIN_ARGUMENTS: readonly string[] = [
  ...[
    '--eagerStart',
    '--cloudProvider',
    'K8S',
    '--bandwidthLimiter',
    'K8SANNOTATION',
    '--sessionsPerUser',
    '10',
  ],
  ...['--instancesHost', 'ide.example.org', '--usePaths', '--instancesPath', 'instances'],
  ...['--storageClassName', 'default', '--requestedStorage', '250Mi', '--enableMonitor'],
  ...['--oAuth2ProxyVersion', 'v7.12.0', '--serviceUrl', 'https://ide.example.org/service'],
  ...['--serviceAuthToken', 'example-service-token'],
];

/** The arguments of the recorded operator. */
export const KEYCLOAK_ARGUMENTS: readonly string[] = [
  ...['--keycloak', '--keycloakURL', 'https://keycloak.example.org/auth/'],
  ...['--keycloakRealm', 'TheiaCloud', '--keycloakClientId', 'theia-cloud'],
  ...PLAIN_ARGUMENTS,
];

/** The arguments of the recorded operator where a case says that it had others. */
export const FULL_ARGUMENTS: readonly string[] = [...KEYCLOAK_ARGUMENTS, '--enableActivityTracker'];
export const HOST_ARGUMENTS: readonly string[] = [
  ...['--keycloak', '--keycloakURL', 'https://keycloak.example.org/auth/'],
  ...['--keycloakRealm', 'TheiaCloud', '--keycloakClientId', 'theia-cloud', '--eagerStart'],
  ...['--bandwidthLimiter', 'K8SANNOTATIONANDWONDERSHAPER'],
  ...['--wondershaperImage', 'registry.example.org/theia-cloud/wondershaper:1.2.0'],
  ...['--instancesHost', 'instances.example.org', '--storageClassName', 'default', '--enableMonitor'],
  ...['--oAuth2ProxyVersion', 'v7.12.0', '--serviceUrl', 'https://ide.example.org/service'],
  ...['--serviceAuthToken', 'example-service-token'],
  ...['--enableBuildCaching', '--buildCacheUrl', 'https://cache.example.org/', '--enableBuildCachePush'],
  ...['--enableDependencyCaching', '--dependencyCacheUrl', 'https://deps.example.org/'],
];

/** All objects of a recorded file, `a-pool-keycloak/objects.json`. */
export function recorded(file: string): readonly KubeObject[] {
  const object = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
  return object.kind === 'List' ? object.items : [object];
}

/** The one object with that kind and name. */
export function find(objects: readonly KubeObject[], kind: string, name: string): KubeObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name} was recorded`);
  return found;
}

/** The one AppDefinition among `objects`. */
export function appDefinitionIn(objects: readonly KubeObject[]): AppDefinition {
  return unwrap(parseAppDefinition(objects.find(({ kind }) => kind === 'AppDefinition')));
}

/** Settings of the recorded operator, whose proxy image came from another registry. */
export function recordedSettings(args: readonly string[]): Settings {
  return unwrap(
    settingsFromArguments(args, [], { oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy' }),
  );
}

/** The shared proxy configuration that stood in the namespace of every recorded case with Keycloak. */
export function recordedTemplate(): ProxyTemplate {
  const { data } = find(
    recorded('a-pool-keycloak/objects.json'),
    'ConfigMap',
    'oauth2-proxy-config',
  ) as KubeObject & {
    data: ProxyTemplate;
  };
  return data;
}

export function unwrap<T>(result: Parsed<T>): T {
  if (result.kind === 'invalid') throw new Error(`${result.field} ${result.reason}`);
  return result.value;
}
