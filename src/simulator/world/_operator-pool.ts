import type { Failure, KubeObject, OwnerReference, Resource } from '../../kube/api.ts';
import type { AppDefinition } from '../../platform/theia-cloud/crds.ts';
import {
  generationOf,
  SERVICE_TYPE_LABEL,
  TEMPLATE_PURPOSE_LABEL,
} from '../../platform/theia-cloud/labels.ts';
import { suffixedName } from '../../platform/theia-cloud/names.ts';
import { type RenderedSlot, renderSlot } from '../../platform/theia-cloud/render.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  PROXY_TEMPLATE_NAME,
  SERVICES,
} from '../../platform/theia-cloud/resources.ts';
import type { Settings } from '../../platform/theia-cloud/settings.ts';
import { addOwner, isSolelyOwned, ownsIt, removeOwner } from './_operator-edits.ts';
import { HandlerError, type Hands } from './operator-hands.ts';

export interface OperatorContext {
  readonly hands: Hands;
  readonly settings: Settings;
  readonly log: (line: string) => void;
}

/** One of the kinds of object that make an instance, in the order in which the operator goes through them. */
interface Part {
  readonly field: keyof RenderedSlot;
  readonly resource: Resource;
  readonly holds: (object: KubeObject) => boolean;
}

const EXTERNAL: Part = {
  field: 'externalService',
  resource: SERVICES,
  holds: ({ metadata }) => metadata.labels?.[SERVICE_TYPE_LABEL] !== 'internal',
};
const INTERNAL: Part = {
  field: 'internalService',
  resource: SERVICES,
  holds: ({ metadata }) => metadata.labels?.[SERVICE_TYPE_LABEL] === 'internal',
};
const PROXY: Part = {
  field: 'proxyConfigMap',
  resource: CONFIG_MAPS,
  holds: ({ metadata }) => metadata.labels?.[TEMPLATE_PURPOSE_LABEL] === 'proxy',
};
const EMAIL: Part = {
  field: 'emailConfigMap',
  resource: CONFIG_MAPS,
  holds: ({ metadata }) => metadata.labels?.[TEMPLATE_PURPOSE_LABEL] === 'emails',
};
const DEPLOYMENT: Part = { field: 'deployment', resource: DEPLOYMENTS, holds: () => true };

/** The parts by the list they are found in; each list is read when its turn comes. */
const partsOf = ({ keycloak }: Settings): readonly (readonly [Resource, readonly Part[]])[] => [
  [SERVICES, [EXTERNAL, INTERNAL]],
  ...(keycloak ? [[CONFIG_MAPS, [PROXY, EMAIL]] as const] : []),
  [DEPLOYMENTS, [DEPLOYMENT]],
];

const referenceTo = ({ apiVersion, kind, metadata }: AppDefinition): OwnerReference => ({
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

/**
 * Whether the shared route stands: found by owner, else by name and then owned too. Without it the operator does nothing for
 * this AppDefinition, and does not come back to it.
 */
export async function passesRouteGate(context: OperatorContext, app: AppDefinition): Promise<boolean> {
  const routes = await context.hands.list(HTTP_ROUTES);
  if (routes.some((route) => ownsIt(route, app.metadata.uid))) return true;
  const place = { name: app.spec.ingressname };
  const failure = await context.hands.edit(HTTP_ROUTES, place, (route) => ({
    metadata: addOwner(route, referenceTo(app)),
  }));
  if (failure !== undefined) context.log(`route ${place.name} of ${app.metadata.name}: ${failure.message}`);
  return failure === undefined;
}

/** Creates what is missing of slots 1..min. Never looks at generations; the first create that fails ends it. */
export async function ensureInstances(context: OperatorContext, app: AppDefinition): Promise<void> {
  for (const [resource, parts] of partsOf(context.settings)) {
    const owned = await ownedBy(context, resource, app);
    // A slot's two Services are made together; of everything else one kind after the other.
    const rounds = resource === SERVICES ? [parts] : parts.map((part) => [part]);
    for (const round of rounds) {
      const present = owned.filter((object) => round.some((part) => part.holds(object)));
      await createMissing(context, app, round, missing(app, present));
    }
  }
}

async function createMissing(
  context: OperatorContext,
  app: AppDefinition,
  parts: readonly Part[],
  slots: readonly number[],
): Promise<void> {
  for (const slot of slots) {
    for (const part of parts) {
      const failure = await create(context, app, part, slot);
      if (failure !== undefined)
        throw new HandlerError(`creating ${part.field} of slot ${slot}: ${failure.message}`);
    }
  }
}

/** Makes the pool as the AppDefinition says, all slots at once, kind after kind; what fails is logged and passed over. */
export async function reconcilePool(context: OperatorContext, app: AppDefinition): Promise<void> {
  for (const [resource, parts] of partsOf(context.settings)) {
    const owned = await ownedBy(context, resource, app);
    for (const part of parts) {
      const mine = owned.filter(part.holds);
      // A Service of either kind makes its slot count as present for both.
      for (const slot of missing(app, resource === SERVICES ? owned : mine))
        await create(context, app, part, slot);
      for (const object of mine) await reconcileObject(context, app, part, object);
    }
  }
}

async function reconcileObject(
  context: OperatorContext,
  app: AppDefinition,
  part: Part,
  object: KubeObject,
): Promise<void> {
  const slot = slotInName(object);
  const isSole = isSolelyOwned(object);
  if (slot > app.spec.minInstances && isSole) await remove(context, part.resource, object);
  else if (slot > app.spec.minInstances) await disown(context, app, part.resource, object);
  else if (isSole && isOutdated(object, app)) {
    await remove(context, part.resource, object);
    await create(context, app, part, slot);
  }
}

/**
 * After a release: a slot above min goes, a slot with anything outdated is deleted and made again, **without a look at its
 * owners**. A slot that merely lacks something stays so.
 */
export async function reconcileInstance(
  context: OperatorContext,
  app: AppDefinition,
  slot: number,
): Promise<void> {
  const parts = partsOf(context.settings).flatMap(([, kinds]) => kinds);
  const found: { readonly part: Part; readonly object: KubeObject }[] = [];
  for (const resource of [SERVICES, DEPLOYMENTS, CONFIG_MAPS]) {
    const owned = await ownedBy(context, resource, app);
    for (const object of owned.filter((candidate) => slotInName(candidate) === slot)) {
      const part = parts.find((kind) => kind.resource === resource && kind.holds(object));
      if (part !== undefined) found.push({ part, object });
    }
  }
  const isSurplus = slot > app.spec.minInstances;
  if (!isSurplus && !found.some(({ object }) => isOutdated(object, app))) return;
  for (const { part, object } of found) await remove(context, part.resource, object);
  await context.hands.delete(VOLUME_CLAIMS, claimName(app, slot));
  if (isSurplus) return;
  for (const part of parts) await create(context, app, part, slot);
}

/** After the AppDefinition's end: what it owned alone goes, the rest loses it as an owner. */
export async function releaseAll(context: OperatorContext, app: AppDefinition): Promise<void> {
  for (const resource of [SERVICES, CONFIG_MAPS, DEPLOYMENTS]) {
    for (const object of await ownedBy(context, resource, app)) {
      if (isSolelyOwned(object)) await remove(context, resource, object);
      else await disown(context, app, resource, object);
    }
  }
}

const VOLUME_CLAIMS: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};

const claimName = (app: AppDefinition, slot: number): string =>
  suffixedName({ prefix: `instance-${slot}`, app: app.spec.name, uid: app.metadata.uid }, 'pvc');

/** Label missing or unreadable counts as outdated. */
const isOutdated = (object: KubeObject, app: AppDefinition): boolean =>
  generationOf(object) !== app.metadata.generation;

function missing(app: AppDefinition, present: readonly KubeObject[]): readonly number[] {
  const slots = new Set(present.map(slotInName));
  return Array.from({ length: app.spec.minInstances }, (_, index) => index + 1).filter(
    (slot) => !slots.has(slot),
  );
}

async function create(
  context: OperatorContext,
  app: AppDefinition,
  part: Part,
  slot: number,
): Promise<Failure | undefined> {
  const template = part === PROXY ? await proxyTemplate(context) : NO_TEMPLATE;
  const body = renderSlot(app, context.settings, slot, template)[part.field];
  const failure = await context.hands.create(part.resource, body);
  if (failure !== undefined) context.log(`creating ${body?.metadata.name}: ${failure.message}`);
  return failure;
}

type Template = Readonly<Record<string, string>>;
/** Stands in where the proxy's configuration does not matter. */
const NO_TEMPLATE: Template = { 'oauth2-proxy.cfg': '' };

async function proxyTemplate({ hands }: OperatorContext): Promise<Template> {
  const template = await hands.get(CONFIG_MAPS, PROXY_TEMPLATE_NAME);
  if (template.kind !== 'ok') throw new HandlerError(`reading ${PROXY_TEMPLATE_NAME}: ${template.message}`);
  return (template.value['data'] ?? {}) as Template;
}

async function remove(
  { hands, log }: OperatorContext,
  resource: Resource,
  { metadata }: KubeObject,
): Promise<void> {
  const failure = await hands.delete(resource, metadata.name);
  if (failure !== undefined) log(`deleting ${metadata.name}: ${failure.message}`);
}

async function disown(
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
