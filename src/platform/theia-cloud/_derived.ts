import type { PartName } from './parts.ts';

/** In the pod's spec. */
const OF_POD = ['securityContext', 'imagePullSecrets', 'initContainers', 'volumes[user-data]'] as const;
/** In the IDE's container. */
const OF_IDE = [
  'image',
  'imagePullPolicy',
  'ports',
  'resources',
  'securityContext',
  'volumeMounts',
  'env[THEIACLOUD_MONITOR_PORT]',
  'env[DATA_BRIDGE_PORT]',
  'env[DATA_BRIDGE_ENABLED]',
  'env[SCORPIO_THEIA_ENV_STRATEGY]',
  'env[SIDECAR_',
] as const;
/** In a sidecar's: all that the operator's code does not fix. */
const OF_SIDECAR = [
  'image',
  'imagePullPolicy',
  'ports',
  'resources',
  'volumeMounts',
  'env[WORKSPACE_PATH]',
] as const;

const POD = 'spec.template.spec.';

/** True where a value comes from the AppDefinition's spec: in an instance of an older spec it says nothing of the template. */
export function isDerived(part: PartName, path: string, ide: string): boolean {
  if (part === 'deployment') {
    return (
      OF_POD.some((field) => path.startsWith(`${POD}${field}`)) ||
      OF_IDE.some((field) => path.startsWith(`${POD}containers[${ide}].${field}`)) ||
      path.startsWith('spec.template.metadata.annotations')
    );
  }
  return isOutside(part, path) || path.startsWith('spec.ports');
}

/**
 * True where a value does not come from the operator's templates at all: the proxy's configuration is copied from a ConfigMap
 * of the installation, and sidecars bear no label that tells of which spec they are.
 */
export function isOutside(part: PartName, path: string): boolean {
  if (part === 'proxyConfigMap') return path.startsWith('data');
  const [kind, sidecar] = part.split('/');
  if (kind === 'sidecarService') return path.startsWith('spec.ports');
  if (kind !== 'sidecarDeployment') return part === 'volumeClaim';
  return (
    OF_SIDECAR.some((field) => path.startsWith(`${POD}containers[${sidecar}].${field}`)) ||
    path.startsWith(`${POD}imagePullSecrets`) ||
    path.startsWith(`${POD}volumes[workspace-data]`)
  );
}
