import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition } from '../../platform/theia-cloud/crds.ts';
import { suffixedName } from '../../platform/theia-cloud/names.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICES,
} from '../../platform/theia-cloud/resources.ts';
import {
  claimedAmong,
  create,
  createObject,
  isOutdated,
  isSidecar,
  type OperatorContext,
  ownedBy,
  type Part,
  type Parts,
  partsOf,
  remove,
  render,
  resourceOf,
  slotInName,
} from './_operator-parts.ts';
import { sidecarParts } from './_operator-sidecars.ts';

/** How long a volume is waited for that was deleted, and how often it is looked at. */
const VOLUME_GONE_MAX_MS = 30_000;
const VOLUME_LOOK_MS = 500;

/** An object of the slot; sidecars have no part. */
interface Found {
  readonly part: Part | undefined;
  readonly object: KubeObject;
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
  // Unlike on MODIFIED, a sidecar is not taken for the IDE here.
  const parts = partsOf({ ...context, faults: { ...context.faults, replacesSidecars: false } });
  const found = await objectsOf(context, app, parts, slot);
  const isSurplus = slot > app.spec.minInstances;
  if (!isSurplus && !(await isAnyOutdated(context, app, found))) return;
  const services = found.map(({ object }) => object).filter(({ kind }) => kind === 'Service');
  if (!context.faults.recyclesClaimed && claimedAmong(services).has(slot)) return;
  for (const { object } of found) await removeOne(context, object);
  await removeRest(context, app, slot);
  if (!isSurplus) await makeAnew(context, app, parts, slot);
}

async function objectsOf(
  context: OperatorContext,
  app: AppDefinition,
  { services, configMaps, deployment }: Parts,
  slot: number,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  const parts = [...services, deployment, ...configMaps];
  for (const resource of [SERVICES, DEPLOYMENTS, CONFIG_MAPS]) {
    for (const object of await ownedBy(context, resource, app)) {
      if (slotInName(object) !== slot) continue;
      found.push({ part: parts.find((one) => one.resource === resource && one.holds(object)), object });
    }
  }
  return found;
}

async function isAnyOutdated(
  context: OperatorContext,
  app: AppDefinition,
  found: readonly Found[],
): Promise<boolean> {
  for (const { part, object } of found) {
    // A sidecar has no generation label, and so it always counts as outdated.
    if (part === undefined && context.faults.recyclesForSidecars && isSidecar(object)) return true;
    if (part !== undefined && (await isOutdated(context, app, part, object))) return true;
  }
  return false;
}

function removeOne(context: OperatorContext, object: KubeObject): Promise<void> {
  const resource = { Service: SERVICES, Deployment: DEPLOYMENTS }[object.kind] ?? CONFIG_MAPS;
  return remove(context, resource, object);
}

/** Once more by name what should be there, found or not: sidecars, then the volume. */
async function removeRest(context: OperatorContext, app: AppDefinition, slot: number): Promise<void> {
  const { hands, log } = context;
  for (const name of sidecarParts(app).toReversed()) {
    const wanted = await render(context, app, name, slot);
    if (wanted !== undefined) await remove(context, resourceOf(name), nameOnly(wanted));
  }
  const failure = await hands.delete(PERSISTENT_VOLUME_CLAIMS, volumeName(app, slot), {});
  if (failure !== undefined) return log(`deleting ${volumeName(app, slot)}: ${failure.message}`);
  const end = hands.now() + VOLUME_GONE_MAX_MS;
  while (hands.now() < end) {
    await hands.sleep(VOLUME_LOOK_MS);
    if ((await hands.get(PERSISTENT_VOLUME_CLAIMS, volumeName(app, slot))).kind === 'notFound') return;
  }
}

const nameOnly = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name },
});

const volumeName = (app: AppDefinition, slot: number): string =>
  suffixedName({ prefix: `instance-${slot}`, app: app.spec.name, uid: app.metadata.uid }, 'pvc');

async function makeAnew(
  context: OperatorContext,
  app: AppDefinition,
  { services, configMaps }: Parts,
  slot: number,
): Promise<void> {
  for (const { name } of [...services, ...configMaps]) await create(context, app, name, slot);
  const volume = await create(context, app, 'volumeClaim', slot);
  for (const name of sidecarParts(app)) await create(context, app, name, slot);
  const wanted = await render(context, app, 'deployment', slot);
  if (wanted === undefined) return;
  const isVolumeLost = volume !== undefined && context.faults.dropsVolumes;
  await createObject(context, DEPLOYMENTS, isVolumeLost ? withoutVolume(wanted, app, slot) : wanted);
}

/** The Deployment as it is made when its volume could not be: nothing that the user writes outlives the pod. */
function withoutVolume(deployment: KubeObject, app: AppDefinition, slot: number): KubeObject {
  const { spec } = deployment as unknown as { readonly spec: Spec };
  const { volumes, containers } = spec.template.spec;
  const lost = volumes.find((one) => one.persistentVolumeClaim?.claimName === volumeName(app, slot))?.name;
  const kept = containers.map((one) => ({
    ...one,
    volumeMounts: (one.volumeMounts ?? []).filter(({ name }) => name !== lost),
  }));
  const pod = {
    ...spec.template.spec,
    containers: kept,
    volumes: volumes.filter(({ name }) => name !== lost),
  };
  return { ...deployment, spec: { ...spec, template: { ...spec.template, spec: pod } } };
}

interface Spec {
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly volumeMounts?: readonly { readonly name: string }[] }[];
      readonly volumes: readonly {
        readonly name: string;
        readonly persistentVolumeClaim?: { readonly claimName: string };
      }[];
    };
  };
}
