import type { KubeObject, Resource } from '../../kube/api.ts';
import type { WatchSpec } from '../platform.ts';
import { WARM_POOLS } from '../warm-pool.ts';
import { PORTAL_NAME_LABEL } from './labels.ts';
import {
  TRAINING_PORTALS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from './resources.ts';

/** Metadata alone: specs and statuses are full of passwords, and each write to one of them raises the generation. */
export const WATCHES: readonly WatchSpec[] = [
  watch(TRAINING_PORTALS),
  watch(WARM_POOLS),
  watch(WORKSHOPS),
  watch(WORKSHOP_ENVIRONMENTS),
  { ...watch(WORKSHOP_SESSIONS), urgent: true },
  watch(WORKSHOP_ALLOCATIONS),
];

/** A Workshop may be in any portal; all else says whose it is. */
export function keysOf(resource: Resource, { metadata }: KubeObject): readonly string[] {
  switch (resource.kind) {
    case TRAINING_PORTALS.kind:
    case WARM_POOLS.kind:
      return [metadata.name];
    case WORKSHOPS.kind:
      return ['*'];
    default: {
      const portal = metadata.labels?.[PORTAL_NAME_LABEL];
      return portal === undefined || portal === '' ? [] : [portal];
    }
  }
}

function watch(resource: Resource): WatchSpec {
  return { resource, metadataOnly: true, urgent: false, changed: essenceOf };
}

/** kopf writes its annotations at every step, which is no news. */
function essenceOf({ metadata }: KubeObject): string {
  const { uid, generation, labels, deletionTimestamp, annotations = {} } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => name.startsWith('everwarm.dev/'));
  return JSON.stringify([uid, generation, labels, deletionTimestamp, ours]);
}
