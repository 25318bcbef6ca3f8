import type { KubeObject } from '../../kube/api.ts';
import { revisionOf } from '../../pool/revision.ts';
import { deploymentSpec } from './_deployment.ts';
import type { AppDefinition } from './crds.ts';
import { APP_LABEL, GENERATION_LABEL, SERVICE_TYPE_LABEL, TEMPLATE_PURPOSE_LABEL } from './labels.ts';
import { instanceNames, instancePath, podSelector } from './names.ts';
import { PROXY_TEMPLATE_NAME } from './resources.ts';
import type { Settings } from './settings.ts';

/** The objects of one slot as the platform's operator would make them now. ConfigMaps only with Keycloak. */
export interface RenderedSlot {
  readonly externalService: KubeObject;
  readonly internalService: KubeObject;
  readonly deployment: KubeObject;
  readonly proxyConfigMap?: KubeObject;
  readonly emailConfigMap?: KubeObject;
}

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
 * Renders one slot, pure. What `unsupported` names is not rendered, and `proxyProblem` must be asked first.
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
    externalService: service(appDefinition, names.externalService, { [APP_LABEL]: app }, [
      {
        name: 'http',
        protocol: 'TCP',
        port: appDefinition.spec.port,
        targetPort: settings.keycloak ? 'web' : appDefinition.spec.port,
      },
    ]),
    internalService: service(
      appDefinition,
      names.internalService,
      { [APP_LABEL]: app, [SERVICE_TYPE_LABEL]: 'internal' },
      [{ name: 'http-internal', protocol: 'TCP', port: INTERNAL_PORT, targetPort: appDefinition.spec.port }],
    ),
    deployment: {
      ...object(appDefinition, 'apps/v1', 'Deployment', names.deployment, {}),
      spec: deploymentSpec(appDefinition, settings, slot),
    },
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
  const { deployment, proxyConfigMap, emailConfigMap } = renderSlot(appDefinition, settings, 0, template);
  const judged = [deployment, proxyConfigMap, emailConfigMap].filter((one) => one !== undefined);
  return revisionOf(judged.map(compared));
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
    ...object(appDefinition, 'v1', 'Service', name, labels),
    spec: { type: 'ClusterIP', selector, ports },
  };
}

function configMap(
  appDefinition: AppDefinition,
  name: string,
  purpose: 'proxy' | 'emails',
  data: ProxyTemplate,
): KubeObject {
  return { ...object(appDefinition, 'v1', 'ConfigMap', name, { [TEMPLATE_PURPOSE_LABEL]: purpose }), data };
}

function object(
  { apiVersion, kind, metadata }: AppDefinition,
  ownApiVersion: string,
  ownKind: string,
  name: string,
  labels: Readonly<Record<string, string>>,
): KubeObject {
  return {
    apiVersion: ownApiVersion,
    kind: ownKind,
    metadata: {
      name,
      namespace: metadata.namespace,
      labels: { ...labels, [GENERATION_LABEL]: String(metadata.generation) },
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }],
    },
  };
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
