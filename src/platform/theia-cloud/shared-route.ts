import type { KubeObject } from '../../kube/api.ts';
import type { Problem } from '../../pool/types.ts';
import type { AppDefinition } from './crds.ts';

/**
 * Without the shared route the operator makes no instance and refuses every Session, and it looks for the route only when it
 * starts or the definition changes. Nothing of ours depends on it, so it holds nothing back. `undefined` also where routes may
 * not be read.
 */
export function routeConcern(
  { metadata, spec }: AppDefinition,
  routes: ReadonlyMap<string, KubeObject> | undefined,
): Problem | undefined {
  if (routes === undefined || routes.has(spec.ingressname)) return undefined;
  const isOwned = [...routes.values()].some((route) =>
    route.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid),
  );
  if (isOwned) return undefined;
  const message = `there is no HTTPRoute ${spec.ingressname} (spec.ingressname), so every Session fails: create it, then annotate the AppDefinition or restart the operator, which does not look again by itself`;
  return { reason: 'SharedRouteMissing', message };
}
