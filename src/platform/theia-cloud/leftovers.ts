import type { KubeObject } from '../../kube/api.ts';
import { claimOf } from './claims.ts';
import { generationOf, SIDECAR_LABEL } from './labels.ts';
import { objectsOf } from './parts.ts';
import type { Snapshot } from './read.ts';
import { SESSIONS } from './resources.ts';
import { isGoing, type SlotView } from './slot-view.ts';

/**
 * What nobody uses and nobody owns any more, under whatever name. The operator takes its AppDefinition off what it may not delete
 * when the pool shrinks, and a pool that is made anew leaves what was withdrawn of the old one: then our WarmPool alone owns it, or
 * nobody at all. Met at the operator's next start the name of such a Service stops its whole AppDefinition, so it goes at once.
 */
export function leftoversOf(
  snapshot: Snapshot,
  sourceUid: string,
  warmPoolUid: string | undefined,
  views: readonly SlotView[],
): readonly KubeObject[] {
  if (warmPoolUid === undefined) return [];
  const inUse = new Set(
    views.filter((view) => claimOf(view) !== undefined).flatMap(({ parts }) => objectsOf(parts)),
  );
  const ours = [...snapshot.services, ...snapshot.configMaps, ...snapshot.deployments].filter((object) => {
    const owners = object.metadata.ownerReferences ?? [];
    const isOurs = owners.some(({ uid }) => uid === warmPoolUid);
    return isOurs && owners.every(({ uid, kind }) => uid !== sourceUid && kind !== SESSIONS.kind);
  });
  const leaked = views.flatMap(({ parts }) => objectsOf(parts)).filter(isLeaked);
  return [...ours, ...leaked].filter((object) => !isGoing(object) && !inUse.has(object));
}

/**
 * Nobody's, but under a name that only this pool gives (it ends in the definition's uid) and with a label that only the operator
 * and we write: that is proof enough that it was the pool's. Volumes are never taken for that.
 */
export function isLeaked(object: KubeObject): boolean {
  const { ownerReferences = [], labels = {} } = object.metadata;
  const isLabelled = generationOf(object) !== undefined || labels[SIDECAR_LABEL] !== undefined;
  return ownerReferences.length === 0 && isLabelled && object.kind !== 'PersistentVolumeClaim';
}
