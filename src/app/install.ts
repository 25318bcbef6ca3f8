import { TerminalError } from '../errors.ts';
import type { KubeApi, Resource } from '../kube/api.ts';
import { WARM_POOL_CRD } from '../platform/warm-pool-crd.ts';

const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** Installs the WarmPool kind; one that is there stays as it is. Rejects with TerminalError when the cluster refuses. */
export async function installWarmPoolKind(api: KubeApi): Promise<void> {
  const outcome = await api.create(DEFINITIONS, undefined, WARM_POOL_CRD);
  if (outcome.kind === 'ok' || outcome.kind === 'exists') return;
  throw new TerminalError(`the WarmPool kind cannot be installed: ${outcome.kind}, ${outcome.message}`);
}
