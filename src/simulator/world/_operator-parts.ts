import type { Failure, KubeObject, OwnerReference, Resource } from '../../kube/api.ts';
import type { AppDefinition } from '../../platform/theia-cloud/crds.ts';
import {
  generationOf,
  SERVICE_TYPE_LABEL,
  TEMPLATE_PURPOSE_LABEL,
} from '../../platform/theia-cloud/labels.ts';
import type { PartName } from '../../platform/theia-cloud/parts.ts';
import { compared, renderSlot } from '../../platform/theia-cloud/render.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PROXY_TEMPLATE_NAME,
  SERVICES,
} from '../../platform/theia-cloud/resources.ts';
import type { Settings } from '../../platform/theia-cloud/settings.ts';
import { differences } from '../../pool/compare.ts';
import { isSolelyOwned, ownsIt, removeOwner } from './_operator-edits.ts';
import type { OperatorFaults } from './operator-faults.ts';
import { HandlerError, type Hands } from './operator-hands.ts';

export interface OperatorContext {
  readonly hands: Hands;
  readonly settings: Settings;
  readonly faults: OperatorFaults;
  readonly log: (line: string) => void;
  /** Starts work that nobody waits for; what goes wrong in it is logged. */
  readonly beside: (work: () => Promise<void>) => void;
}

/** One of the kinds of object that make an instance. */
export interface Part {
  readonly name: PartName;
  readonly resource: Resource;
  readonly holds: (object: KubeObject) => boolean;
}

const SIDECAR_LABEL = 'theia-cloud.io/sidecar';
export const isSidecar = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[SIDECAR_LABEL] !== undefined;
const isInternal = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[SERVICE_TYPE_LABEL] === 'internal';
const isFor =
  (purpose: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[TEMPLATE_PURPOSE_LABEL] === purpose;

const INTERNAL: Part = { name: 'internalService', resource: SERVICES, holds: isInternal };
const PROXY: Part = { name: 'proxyConfigMap', resource: CONFIG_MAPS, holds: isFor('proxy') };
const EMAIL: Part = { name: 'emailConfigMap', resource: CONFIG_MAPS, holds: isFor('emails') };

/** The parts in the order in which the operator goes through them. Sidecars have no kind of their own. */
export interface Parts {
  readonly services: readonly [external: Part, internal: Part];
  readonly configMaps: readonly Part[];
  readonly deployment: Part;
}

export function partsOf({ settings, faults }: OperatorContext): Parts {
  const isMain = (object: KubeObject): boolean => faults.replacesSidecars || !isSidecar(object);
  return {
    services: [
      {
        name: 'externalService',
        resource: SERVICES,
        holds: (object) => !isInternal(object) && isMain(object),
      },
      INTERNAL,
    ],
    configMaps: settings.keycloak ? [PROXY, EMAIL] : [],
    deployment: { name: 'deployment', resource: DEPLOYMENTS, holds: isMain },
  };
}

export const referenceTo = ({ apiVersion, kind, metadata }: AppDefinition): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
});

/** The slot id in the name of a pool object. */
export const slotInName = ({ metadata }: KubeObject): number => Number(metadata.name.split('-')[1]);

/** Everything of one kind that the AppDefinition owns, alone or with others. */
export async function ownedBy(
  { hands }: OperatorContext,
  resource: Resource,
  { metadata }: AppDefinition,
): Promise<readonly KubeObject[]> {
  return (await hands.list(resource)).filter((object) => ownsIt(object, metadata.uid));
}

/** Slots 1..min that have nothing among `present`. */
export function missing(app: AppDefinition, present: readonly KubeObject[]): readonly number[] {
  const slots = new Set(present.map(slotInName));
  return slotsOf(app).filter((slot) => !slots.has(slot));
}

export function slotsOf({ spec }: AppDefinition): readonly number[] {
  return Array.from({ length: spec.minInstances }, (_, index) => index + 1);
}

/** Slots with a Service that somebody beside the AppDefinition owns. */
export function claimedAmong(services: readonly KubeObject[]): ReadonlySet<number> {
  return new Set(services.filter((service) => !isSolelyOwned(service)).map(slotInName));
}

/** Label missing or unreadable counts as outdated; a mended operator compares what is written instead. */
export async function isOutdated(
  context: OperatorContext,
  app: AppDefinition,
  part: Part,
  object: KubeObject,
): Promise<boolean> {
  if (context.faults.judgesByGeneration) return generationOf(object) !== app.metadata.generation;
  const rendered = await render(context, app, part.name, slotInName(object));
  return rendered !== undefined && differs(rendered, object);
}

/** In what Everwarm compares, too: neither a generation nor an allow-list makes a difference. */
export function differs(rendered: KubeObject, live: KubeObject): boolean {
  return differences(compared(rendered), live, { vouched: true }).length > 0;
}

/** Creates one object of a slot. Nothing is done for a part that the AppDefinition does not ask for. */
export async function create(
  context: OperatorContext,
  app: AppDefinition,
  name: PartName,
  slot: number,
): Promise<Failure | undefined> {
  const body = await render(context, app, name, slot);
  return body === undefined ? undefined : createObject(context, resourceOf(name), body);
}

export async function createObject(
  { hands, log }: OperatorContext,
  resource: Resource,
  body: KubeObject,
): Promise<Failure | undefined> {
  const failure = await hands.create(resource, body);
  if (failure !== undefined) log(`creating ${body.metadata.name}: ${failure.message}`);
  return failure;
}

/** One object of a slot as the operator's templates make it. Only the proxy's ConfigMap needs something read for it. */
export async function render(
  context: OperatorContext,
  app: AppDefinition,
  name: PartName,
  slot: number,
): Promise<KubeObject | undefined> {
  const template = name === 'proxyConfigMap' ? await proxyTemplate(context) : NO_TEMPLATE;
  return renderSlot(app, context.settings, slot, template)[name];
}

export function resourceOf(name: PartName): Resource {
  if (name === 'volumeClaim') return PERSISTENT_VOLUME_CLAIMS;
  if (name.endsWith('ConfigMap')) return CONFIG_MAPS;
  return name === 'deployment' || name.startsWith('sidecarDeployment/') ? DEPLOYMENTS : SERVICES;
}

export type Template = Readonly<Record<string, string>>;
/** Stands in where the proxy's configuration does not matter. */
export const NO_TEMPLATE: Template = { 'oauth2-proxy.cfg': '' };

export async function proxyTemplate({ hands }: OperatorContext): Promise<Template> {
  const template = await hands.get(CONFIG_MAPS, PROXY_TEMPLATE_NAME);
  if (template.kind !== 'ok') throw new HandlerError(`reading ${PROXY_TEMPLATE_NAME}: ${template.message}`);
  return (template.value['data'] ?? {}) as Template;
}

export async function remove(
  { hands, faults, log }: OperatorContext,
  resource: Resource,
  { metadata }: KubeObject,
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const asSeen = uid === undefined || resourceVersion === undefined ? {} : { uid, resourceVersion };
  const failure = await hands.delete(resource, metadata.name, faults.deletesUnguarded ? {} : asSeen);
  if (failure !== undefined) log(`deleting ${metadata.name}: ${failure.message}`);
}

export async function disown(
  { hands, log }: OperatorContext,
  app: AppDefinition,
  resource: Resource,
  { metadata }: KubeObject,
): Promise<void> {
  const failure = await hands.edit(resource, { name: metadata.name }, (object) => ({
    metadata: removeOwner(object, app.metadata.uid),
  }));
  if (failure !== undefined) log(`disowning ${metadata.name}: ${failure.message}`);
}
