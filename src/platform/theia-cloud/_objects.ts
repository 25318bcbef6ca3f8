import type { KubeObject, OwnerReference } from '../../kube/api.ts';
import type { AppDefinition } from './crds.ts';
import { GENERATION_LABEL } from './labels.ts';

type Labels = Readonly<Record<string, string>>;

/** An object as the operator's templates make it: owned by the AppDefinition, labelled with its generation. */
export function labelled(
  appDefinition: AppDefinition,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
  name: string,
  labels: Labels,
): KubeObject {
  const generation = String(appDefinition.metadata.generation);
  return unlabelled(appDefinition, type, name, { ...labels, [GENERATION_LABEL]: generation });
}

/** The same for what the operator forgets to label. */
export function unlabelled(
  { apiVersion, kind, metadata }: AppDefinition,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
  name: string,
  labels: Labels,
  blocking: Pick<OwnerReference, 'blockOwnerDeletion' | 'controller'> = {},
): KubeObject {
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...blocking };
  return { ...type, metadata: { name, namespace: metadata.namespace, labels, ownerReferences: [owner] } };
}

/** An empty amount is left out, not set to nothing. */
export function amounts(cpu: string | undefined, memory: string | undefined): unknown {
  return { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) };
}
