import { bandwidthAnnotations, wondershaper } from './_bandwidth.ts';
import { environment, trustBundle } from './_environment.ts';
import { amounts } from './_objects.ts';
import { extraDataBridgePort, extraMonitorPort } from './_ports.ts';
import { claimedVolume, hasVolume, mountPath } from './_volume.ts';
import type { AppDefinition } from './crds.ts';
import { APP_LABEL, GENERATION_LABEL } from './labels.ts';
import { instanceNames, podSelector } from './names.ts';
import type { Settings } from './settings.ts';

const PROXY_PORT = 5000;
const DEFAULT_UID = 1000;
const USER_DATA = 'user-data';

/** The spec of a warm instance's Deployment. */
export function deploymentSpec(appDefinition: AppDefinition, settings: Settings, slot: number): unknown {
  const { metadata, spec } = appDefinition;
  const labels = { [APP_LABEL]: podSelector(appDefinition, slot) };
  const ide = ideContainer(appDefinition, settings, slot);
  const annotations = bandwidthAnnotations(appDefinition, settings);
  const initContainers = wondershaper(appDefinition, settings);
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: {
        labels: { ...labels, [GENERATION_LABEL]: String(metadata.generation) },
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { fsGroup: userId(spec.uid) },
        ...(spec.pullSecret ? { imagePullSecrets: [{ name: spec.pullSecret }] } : {}),
        ...(initContainers.length === 0 ? {} : { initContainers }),
        containers: settings.keycloak ? [proxyContainer(settings), ide] : [ide],
        volumes: [
          ...(settings.keycloak ? proxyVolumes(appDefinition, slot) : []),
          { name: 'trust-bundle', configMap: { name: trustBundle(settings).configMap, optional: true } },
          ...(hasVolume(appDefinition) ? [claimedVolume(appDefinition, USER_DATA, slot)] : []),
        ],
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

function ideContainer(appDefinition: AppDefinition, settings: Settings, slot: number): unknown {
  const { spec } = appDefinition;
  const uid = userId(spec.uid);
  const trust = { name: 'trust-bundle', mountPath: trustBundle(settings).mountPath, readOnly: true };
  const data = { name: USER_DATA, mountPath: mountPath(appDefinition) };
  return {
    name: spec.name,
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy ?? 'Always',
    ports: idePorts(spec, settings),
    resources: {
      limits: amounts(spec.limitsCpu, spec.limitsMemory),
      requests: amounts(spec.requestsCpu, spec.requestsMemory),
    },
    securityContext: { runAsUser: uid, runAsGroup: uid },
    env: environment(appDefinition, settings, slot),
    volumeMounts: hasVolume(appDefinition) ? [trust, data] : [trust],
  };
}

function idePorts(spec: AppDefinition['spec'], settings: Settings): readonly unknown[] {
  const ports = {
    application: spec.port,
    monitor: settings.enableMonitor ? extraMonitorPort(spec) : undefined,
    'data-bridge': extraDataBridgePort(spec),
  };
  return Object.entries(ports)
    .filter(([, port]) => port !== undefined)
    .map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' }));
}

function userId(uid: number): number {
  return uid < 0 ? DEFAULT_UID : uid;
}
