import type { KubeObject, Resource } from '../../kube/api.ts';
import type { AppDefinition } from '../../platform/theia-cloud/crds.ts';
import { CONFIG_MAPS, DEPLOYMENTS, HTTP_ROUTES, SERVICES } from '../../platform/theia-cloud/resources.ts';
import { addOwner, isSolelyOwned, ownsIt } from './_operator-edits.ts';
import {
  claimedAmong,
  create,
  disown,
  isOutdated,
  missing,
  type OperatorContext,
  ownedBy,
  type Part,
  partsOf,
  referenceTo,
  remove,
  slotInName,
  slotsOf,
} from './_operator-parts.ts';
import { ensureSidecars, ensureVolumes } from './_operator-sidecars.ts';
import { HandlerError } from './operator-hands.ts';

/**
 * Whether the shared route stands: found by owner, else by name and then owned too. Without it the operator does nothing for
 * this AppDefinition, and does not come back to it.
 */
export async function passesRouteGate(context: OperatorContext, app: AppDefinition): Promise<boolean> {
  const { hands, faults, log } = context;
  const place = { name: app.spec.ingressname };
  const routes = await hands.list(HTTP_ROUTES);
  if (!faults.ownsSharedRoute) return routes.some(({ metadata }) => metadata.name === place.name);
  if (routes.some((route) => ownsIt(route, app.metadata.uid))) return true;
  const failure = await hands.edit(HTTP_ROUTES, place, (route) => ({
    metadata: addOwner(route, referenceTo(app)),
  }));
  if (failure !== undefined) log(`route ${place.name} of ${app.metadata.name}: ${failure.message}`);
  return failure === undefined;
}

/** Creates what is missing of slots 1..min. Never looks at generations; the first create that fails ends it. */
export async function ensureInstances(context: OperatorContext, app: AppDefinition): Promise<void> {
  const { services, configMaps, deployment } = partsOf(context);
  const owned = await ownedBy(context, SERVICES, app);
  // A slot's two Services are made together; of everything else one kind after the other.
  for (const round of context.faults.countsHalfPairs ? [services] : services.map((part) => [part])) {
    const present = owned.filter((object) => round.some((part) => part.holds(object)));
    await createMissing(context, app, round, missing(app, present));
  }
  const standing = configMaps.length > 0 ? await ownedBy(context, CONFIG_MAPS, app) : [];
  for (const part of configMaps) {
    await createMissing(context, app, [part], missing(app, standing.filter(part.holds)));
  }
  // Listed before sidecars are made: the Deployment of one counts as the slot's own.
  const running = (await ownedBy(context, DEPLOYMENTS, app)).filter(deployment.holds);
  await ensureVolumes(context, app);
  await ensureSidecars(context, app, slotsOf(app));
  await createMissing(context, app, [deployment], missing(app, running));
}

async function createMissing(
  context: OperatorContext,
  app: AppDefinition,
  parts: readonly Part[],
  slots: readonly number[],
): Promise<void> {
  for (const slot of slots) {
    for (const { name } of parts) {
      const failure = await create(context, app, name, slot);
      if (failure !== undefined && context.faults.stopsAtTakenName)
        throw new HandlerError(`creating ${name} of slot ${slot}: ${failure.message}`);
    }
  }
}

/** Makes the pool as the AppDefinition says, all slots at once, kind after kind; what fails is logged and passed over. */
export async function reconcilePool(context: OperatorContext, app: AppDefinition): Promise<void> {
  const { services, configMaps, deployment } = partsOf(context);
  const standing = await ownedBy(context, SERVICES, app);
  const claimed = claimedAmong(standing);
  const goThrough = async (part: Part, owned: readonly KubeObject[]): Promise<void> => {
    const mine = owned.filter(part.holds);
    // A Service of either kind makes its slot count as present for both.
    const counted = part.resource === SERVICES && context.faults.countsHalfPairs ? owned : mine;
    for (const slot of missing(app, counted)) await create(context, app, part.name, slot);
    for (const object of mine) await reconcileObject(context, app, { part, object, claimed });
  };
  for (const part of services) await goThrough(part, standing);
  const shared = configMaps.length > 0 ? await ownedBy(context, CONFIG_MAPS, app) : [];
  for (const part of configMaps) await goThrough(part, shared);
  await ensureVolumes(context, app);
  await ensureSidecars(context, app, slotsOf(app));
  await goThrough(deployment, await ownedBy(context, DEPLOYMENTS, app));
}

interface Found {
  readonly part: Part;
  readonly object: KubeObject;
  /** Slots that were claimed when the pass began. */
  readonly claimed: ReadonlySet<number>;
}

async function reconcileObject(
  context: OperatorContext,
  app: AppDefinition,
  { part, object, claimed }: Found,
): Promise<void> {
  const { faults } = context;
  const slot = slotInName(object);
  const isSurplus = slot > app.spec.minInstances;
  const isSole = isSolelyOwned(object);
  const isAllowed = part.resource !== CONFIG_MAPS || faults.replacesClaimedConfigMaps || !claimed.has(slot);
  if (isSurplus && !isSole) {
    if (faults.disownsRetired) await disown(context, app, part.resource, object);
  } else if (isSurplus && isAllowed) {
    await remove(context, part.resource, object);
  } else if (isSole && isAllowed && (await isOutdated(context, app, part, object))) {
    await remove(context, part.resource, object);
    await create(context, app, part.name, slot);
  }
}

const RELEASED: readonly Resource[] = [SERVICES, CONFIG_MAPS, DEPLOYMENTS];

/** After the AppDefinition's end: what it owned alone goes, the rest loses it as an owner. */
export async function releaseAll(context: OperatorContext, app: AppDefinition): Promise<void> {
  for (const resource of RELEASED) {
    for (const object of await ownedBy(context, resource, app)) {
      if (isSolelyOwned(object)) await remove(context, resource, object);
      else await disown(context, app, resource, object);
    }
  }
}
