import type { KubeObject, Resource } from '../../../../src/kube/api.ts';
import { createEducates } from '../../../../src/platform/educates/educates.ts';
import { WORKSHOP_ENVIRONMENTS, WORKSHOP_SESSIONS } from '../../../../src/platform/educates/resources.ts';
import { createEducatesWorld, type EducatesWorld, type EducatesWorldOptions } from './_world.ts';

export const JAVA = { name: 'lab-java-basics', capacity: 4, initial: 2, reserved: 2 };
export const SETTINGS = {
  sessions: { maximum: 20 },
  updates: { workshop: true },
  workshop: { defaults: { expires: '60m' } },
};

/** A portal with these entries (and their Workshops), as it is half a minute later. */
export async function campus(
  options: EducatesWorldOptions = {},
  workshops: readonly { readonly name: string }[] = [JAVA],
): Promise<EducatesWorld> {
  const world = await createEducatesWorld(options);
  for (const name of new Set(workshops.map((entry) => entry.name))) await world.workshop(name);
  await world.setPortal({ portal: SETTINGS, workshops });
  await world.run(30_000);
  return world;
}

interface Told extends KubeObject {
  readonly status?: { readonly educates?: Readonly<Record<string, unknown>> };
}

/** `name phase` of everything of a kind. */
export async function phases(world: EducatesWorld, resource: Resource): Promise<readonly string[]> {
  return (await world.all(resource)).map((object: Told) => {
    const { phase = 'none', url } = object.status?.educates ?? {};
    const isBuilt = resource !== WORKSHOP_SESSIONS || url !== undefined;
    return `${object.metadata.name} ${phase}${isBuilt ? '' : ' (no url)'}`;
  });
}

export const environments = (world: EducatesWorld) => phases(world, WORKSHOP_ENVIRONMENTS);
export const sessions = (world: EducatesWorld) => phases(world, WORKSHOP_SESSIONS);

/** `name state` of everything that the portal knows. */
export function believed(world: EducatesWorld): readonly string[] {
  return world.portal.environments().map(({ name, state }) => `${name} ${state}`);
}

/** What Everwarm finds wrong, as `slot Reason`. */
export async function findings(world: EducatesWorld): Promise<readonly string[]> {
  const platform = createEducates({ mode: 'observe' });
  const scope = { cluster: 'here', namespace: 'campus-labs-ui' };
  const [seen] = await platform.observe(world.api('everwarm'), scope, { quota: false });
  if (seen === undefined) throw new Error('the portal is not seen');
  return (seen.findings ?? []).map(({ slot, reason }) => `${slot} ${reason}`);
}
