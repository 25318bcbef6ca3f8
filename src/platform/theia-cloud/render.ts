import type { KubeObject } from '../../kube/api.ts';
import { isRecord } from '../../kube/json.ts';
import { revisionOf } from '../../pool/revision.ts';
import { deploymentSpec } from './_deployment.ts';
import { labelled } from './_objects.ts';
import { extraDataBridgePort, extraMonitorPort } from './_ports.ts';
import { sidecarParts } from './_sidecars.ts';
import { hasVolume, volumeClaim } from './_volume.ts';
import type { AppDefinition } from './crds.ts';
import { APP_LABEL, GENERATION_LABEL, SERVICE_TYPE_LABEL, TEMPLATE_PURPOSE_LABEL } from './labels.ts';
import { instanceNames, instancePath, podSelector } from './names.ts';
import { entriesOf, isService, type SlotParts } from './parts.ts';
import { PROXY_TEMPLATE_NAME } from './resources.ts';
import type { Settings } from './settings.ts';

/** The objects of one slot as the platform's operator would make them now. */
export type RenderedSlot = SlotParts & {
  readonly externalService: KubeObject;
  readonly internalService: KubeObject;
  readonly deployment: KubeObject;
};

/** The `data` of the shared ConfigMap that proxy ConfigMaps are copied from. */
export type ProxyTemplate = Readonly<Record<string, string>>;

const PROXY_CONFIG_KEY = 'oauth2-proxy.cfg';
/** Key of the allow-list; a free instance has an empty one. */
export const ALLOW_LIST_KEY = 'authenticated-emails-list';
const INTERNAL_PORT = 3001;

/** Why nothing can be rendered for lack of the shared proxy configuration; `undefined` when it can. */
export function proxyProblem(settings: Settings, template: ProxyTemplate | undefined): string | undefined {
  if (!settings.keycloak) return undefined;
  if (template === undefined) return `ConfigMap ${PROXY_TEMPLATE_NAME} is missing`;
  return template[PROXY_CONFIG_KEY] === undefined
    ? `ConfigMap ${PROXY_TEMPLATE_NAME} has no key ${PROXY_CONFIG_KEY}`
    : undefined;
}

/**
 * Renders one slot, pure. `unsupported` and `proxyProblem` must be asked first. ConfigMaps only with Keycloak.
 * Labels of our own are the caller's to add.
 */
export function renderSlot(
  appDefinition: AppDefinition,
  settings: Settings,
  slot: number,
  template?: ProxyTemplate,
): RenderedSlot {
  const problem = proxyProblem(settings, template);
  if (problem !== undefined) throw new Error(`rendering ${appDefinition.spec.name}: ${problem}`);
  const names = instanceNames(appDefinition, slot);
  const app = podSelector(appDefinition, slot);

  const always = {
    externalService: service(
      appDefinition,
      names.externalService,
      { [APP_LABEL]: app },
      externalPorts(appDefinition, settings),
    ),
    internalService: service(
      appDefinition,
      names.internalService,
      { [APP_LABEL]: app, [SERVICE_TYPE_LABEL]: 'internal' },
      [{ name: 'http-internal', protocol: 'TCP', port: INTERNAL_PORT, targetPort: appDefinition.spec.port }],
    ),
    deployment: {
      ...labelled(appDefinition, { apiVersion: 'apps/v1', kind: 'Deployment' }, names.deployment, {}),
      spec: deploymentSpec(appDefinition, settings, slot),
    },
    ...sidecarParts(appDefinition, slot),
    ...(hasVolume(appDefinition) ? { volumeClaim: volumeClaim(appDefinition, settings, slot) } : {}),
  };
  if (template === undefined || !settings.keycloak) return always;
  return {
    ...always,
    proxyConfigMap: configMap(
      appDefinition,
      names.proxyConfigMap,
      'proxy',
      proxyData(appDefinition, settings, slot, template),
    ),
    emailConfigMap: configMap(appDefinition, names.emailConfigMap, 'emails', { [ALLOW_LIST_KEY]: '' }),
  };
}

/**
 * The part of a rendered object on which staleness is judged (P18): without what belongs to the world and not to the
 * template. The generation label moves by itself, owners are judged by uid, and the allow-list is the user's.
 */
export function compared(rendered: KubeObject): unknown {
  const { labels = {} } = rendered.metadata;
  const spec = rendered['spec'];
  const data = labels[TEMPLATE_PURPOSE_LABEL] === 'emails' ? undefined : rendered['data'];
  return {
    metadata: { labels: withoutGeneration(labels) },
    ...(spec === undefined ? {} : { spec: withoutTemplateGeneration(spec) }),
    ...(data === undefined ? {} : { data }),
  };
}

/** The revision that every slot of the pool should have: the same for all of them, moved by nothing but what is rendered. */
export function poolRevision(
  appDefinition: AppDefinition,
  settings: Settings,
  template?: ProxyTemplate,
): string {
  // Slot 0 never exists: it stands for all of them. Services are renewed in place, so they are left out.
  const judged = entriesOf(renderSlot(appDefinition, settings, 0, template)).filter(
    ([name]) => !isService(name),
  );
  return revisionOf(judged.map(([, part]) => compared(part)));
}

function proxyData(
  appDefinition: AppDefinition,
  settings: Settings,
  slot: number,
  template: ProxyTemplate,
): ProxyTemplate {
  const url = `https://${settings.instancesHost}${instancePath(appDefinition, slot, settings)}`;
  const config = (template[PROXY_CONFIG_KEY] ?? '')
    .replaceAll('https://placeholder', () => url)
    .replaceAll('placeholder-port', String(appDefinition.spec.port));
  return { ...template, [PROXY_CONFIG_KEY]: config };
}

function service(
  appDefinition: AppDefinition,
  name: string,
  labels: Readonly<Record<string, string>>,
  ports: readonly unknown[],
): KubeObject {
  const selector = { [APP_LABEL]: labels[APP_LABEL] };
  return {
    ...labelled(appDefinition, { apiVersion: 'v1', kind: 'Service' }, name, labels),
    spec: { type: 'ClusterIP', selector, ports },
  };
}

function externalPorts({ spec }: AppDefinition, settings: Settings): readonly unknown[] {
  const monitor = extraMonitorPort(spec);
  const bridge = extraDataBridgePort(spec);
  return [
    { name: 'http', protocol: 'TCP', port: spec.port, targetPort: settings.keycloak ? 'web' : spec.port },
    ...(monitor === undefined ? [] : [samePort('monitor-express', monitor)]),
    ...(bridge === undefined ? [] : [samePort('data-bridge', bridge)]),
  ];
}

function samePort(name: string, port: number): unknown {
  return { name, protocol: 'TCP', port, targetPort: port };
}

function configMap(
  appDefinition: AppDefinition,
  name: string,
  purpose: 'proxy' | 'emails',
  data: ProxyTemplate,
): KubeObject {
  const labels = { [TEMPLATE_PURPOSE_LABEL]: purpose };
  return { ...labelled(appDefinition, { apiVersion: 'v1', kind: 'ConfigMap' }, name, labels), data };
}

function withoutGeneration(labels: unknown): unknown {
  if (!isRecord(labels)) return labels;
  const { [GENERATION_LABEL]: _, ...others } = labels;
  return others;
}

/** Takes the generation label off a Deployment's pod template; other specs pass through. */
function withoutTemplateGeneration(spec: unknown): unknown {
  if (!isRecord(spec) || !isRecord(spec['template']) || !isRecord(spec['template']['metadata'])) return spec;
  const { metadata } = spec['template'];
  return {
    ...spec,
    template: {
      ...spec['template'],
      metadata: { ...metadata, labels: withoutGeneration(metadata['labels']) },
    },
  };
}
