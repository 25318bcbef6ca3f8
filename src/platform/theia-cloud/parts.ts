import type { KubeObject } from '../../kube/api.ts';

/** Every object of an instance by what it is; of sidecars there may be several, told apart by their names in the spec. */
export type PartName =
  | 'externalService'
  | 'internalService'
  | 'proxyConfigMap'
  | 'emailConfigMap'
  | 'volumeClaim'
  | `sidecarService/${string}`
  | `sidecarDeployment/${string}`
  | 'deployment';

/** Objects of one slot, standing or rendered. */
export type SlotParts = Readonly<Partial<Record<PartName, KubeObject>>>;

/** What is made first stands first: the Deployment when all that it mounts is there, the anchor last of all. */
const ORDER: readonly string[] = [
  'internalService',
  'proxyConfigMap',
  'emailConfigMap',
  'volumeClaim',
  'sidecarService',
  'sidecarDeployment',
  'deployment',
  'externalService',
];

/** The parts with their names, in the order in which they are made. */
export function entriesOf(parts: SlotParts): readonly (readonly [PartName, KubeObject])[] {
  return Object.entries(parts)
    .filter((entry): entry is [PartName, KubeObject] => entry[1] !== undefined)
    .sort(([a], [b]) => ORDER.indexOf(kindOf(a)) - ORDER.indexOf(kindOf(b)));
}

/** The objects alone, in the same order. */
export function objectsOf(parts: SlotParts): readonly KubeObject[] {
  return entriesOf(parts).map(([, object]) => object);
}

/** What of `parts` is there. */
export function present(parts: Readonly<Record<string, KubeObject | undefined>>): SlotParts {
  return Object.fromEntries(Object.entries(parts).filter(([, object]) => object !== undefined));
}

/** The two Services that stay through a replacement; they are renewed in place. */
export function isService(name: PartName): name is 'externalService' | 'internalService' {
  return name === 'externalService' || name === 'internalService';
}

/** The platform's operator writes no generation on these. */
export function isUnlabelled(name: PartName): boolean {
  return name === 'volumeClaim' || isSidecar(name);
}

export function isSidecar(name: PartName): boolean {
  return name.startsWith('sidecar');
}

function kindOf(name: PartName): string {
  return name.split('/', 1)[0] ?? '';
}
