import type { KubeObject } from '../kube/api.ts';
import { sidecarName, volumeClaimName } from '../platform/theia-cloud/names.ts';
import { DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS, PODS, SERVICES } from '../platform/theia-cloud/resources.ts';
import { containersOf, isGoing, type Kinds, named } from './_fields.ts';

/** What an instance has beside the usual objects: sidecars, and a volume where one of them mounts it. */
export interface Extras {
  readonly sidecars: readonly (KubeObject | undefined)[];
  readonly deployments: readonly (KubeObject | undefined)[];
  readonly images: readonly string[];
  readonly pods: readonly KubeObject[];
  readonly volumeClaim: KubeObject | undefined;
  readonly mounts: boolean;
  /** Something of a sidecar stands that the definition does not ask for. */
  readonly surplus: boolean;
  /** What must stand in the environment of the IDE. */
  readonly told: readonly string[];
}

interface SidecarSpec {
  readonly name: string;
  readonly image: string;
  readonly mountWorkspace?: boolean;
}

/** What of it stands for one slot. */
export function extrasOf(source: KubeObject, slot: number, of: Kinds): Extras {
  const { sidecars = [] } = source['spec'] as { readonly sidecars?: readonly SidecarSpec[] };
  const names = sidecars.map(({ name }) => sidecarName(named(source), slot, name));
  const deployments = names.map((name) => of(DEPLOYMENTS).get(name));
  const mounts = sidecars.some(({ mountWorkspace }) => mountWorkspace === true);
  return {
    sidecars: [...names.map((name) => of(SERVICES).get(name)), ...deployments],
    deployments,
    images: sidecars.map(({ image }) => image),
    pods: [...of(PODS).values()].filter((pod) => names.includes(pod.metadata.labels?.['app'] ?? '')),
    volumeClaim: of(PERSISTENT_VOLUME_CLAIMS).get(volumeClaimName(named(source), slot)),
    mounts,
    surplus: [...of(SERVICES).values(), ...of(DEPLOYMENTS).values()].some(
      (object) => isSidecarIn(object, source, slot) && !names.includes(object.metadata.name),
    ),
    told: names.map((name) => `"value":"${name}"`),
  };
}

function isSidecarIn(object: KubeObject, { metadata }: KubeObject, slot: number): boolean {
  const { name, labels } = object.metadata;
  const isHere = name.startsWith(`instance-${slot}-`) && name.endsWith((metadata.uid ?? '?').slice(-12));
  return isHere && labels?.['theia-cloud.io/sidecar'] !== undefined && !isGoing(object);
}

/** A sidecar of another image or one too many, or an IDE that was told of others or has not the volume it should have. */
export function areStale(
  { deployments, images, mounts, surplus, told }: Extras,
  deployment: KubeObject | undefined,
): boolean {
  const isOld = deployments.some(
    (one, at) => one !== undefined && !isGoing(one) && containersOf(one)[0]?.image !== images[at],
  );
  if (isOld || surplus || deployment === undefined || isGoing(deployment)) return isOld || surplus;
  const spec = JSON.stringify(deployment['spec']);
  return spec.includes('persistentVolumeClaim') !== mounts || !told.every((text) => spec.includes(text));
}
