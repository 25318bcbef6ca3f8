import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition } from '../../platform/theia-cloud/crds.ts';
import type { PartName } from '../../platform/theia-cloud/parts.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../platform/theia-cloud/resources.ts';
import {
  create,
  createObject,
  differs,
  type OperatorContext,
  remove,
  render,
  resourceOf,
  slotsOf,
} from './_operator-parts.ts';

/** The parts of a slot that its sidecars are made of, in the order in which they are made. */
export const sidecarParts = ({ spec }: AppDefinition): readonly PartName[] =>
  (spec.sidecars ?? []).flatMap(({ name }): readonly PartName[] => [
    `sidecarService/${name}`,
    `sidecarDeployment/${name}`,
  ]);

const mountsWorkspace = ({ spec }: AppDefinition): boolean =>
  (spec.sidecars ?? []).some((sidecar) => sidecar.mountWorkspace === true);

/** Creates the volumes that are missing, where a sidecar mounts the workspace. None is ever deleted here. */
export async function ensureVolumes(context: OperatorContext, app: AppDefinition): Promise<void> {
  if (!mountsWorkspace(app)) return;
  for (const slot of slotsOf(app)) {
    const wanted = await render(context, app, 'volumeClaim', slot);
    if (wanted === undefined) continue;
    const found = await context.hands.get(PERSISTENT_VOLUME_CLAIMS, wanted.metadata.name);
    if (found.kind === 'notFound') await createObject(context, PERSISTENT_VOLUME_CLAIMS, wanted);
  }
}

/** Creates what is missing of the sidecars. A name that stands is taken for the sidecar's own, whatever stands under it. */
export async function ensureSidecars(
  context: OperatorContext,
  app: AppDefinition,
  slots: readonly number[],
): Promise<void> {
  for (const slot of slots) {
    for (const name of sidecarParts(app)) {
      const wanted = await render(context, app, name, slot);
      if (wanted === undefined) continue;
      const found = await context.hands.get(resourceOf(name), wanted.metadata.name);
      if (found.kind === 'notFound') await create(context, app, name, slot);
      else if (found.kind === 'ok' && !context.faults.keepsOldSidecars)
        await renew(context, name, wanted, found.value);
    }
  }
}

async function renew(
  context: OperatorContext,
  name: PartName,
  wanted: KubeObject,
  live: KubeObject,
): Promise<void> {
  const isOurs = live.metadata.ownerReferences?.length === 1;
  if (!isOurs || !differs(wanted, live)) return;
  await remove(context, resourceOf(name), live);
  await createObject(context, resourceOf(name), wanted);
}
