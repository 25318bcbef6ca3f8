import type { Resource } from '../../../kube/api.ts';

/** Kinds of Kubernetes itself that the programs make. */
export const NAMESPACES = core('Namespace', 'namespaces', false);
export const SERVICE_ACCOUNTS = core('ServiceAccount', 'serviceaccounts', true);
export const CONFIG_MAPS = core('ConfigMap', 'configmaps', true);

function core(kind: string, plural: string, namespaced: boolean): Resource {
  return { group: '', version: 'v1', kind, plural, namespaced };
}
