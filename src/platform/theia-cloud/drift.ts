import type { KubeObject } from '../../kube/api.ts';
import { differences } from '../../pool/compare.ts';
import { quantityOf } from '../../pool/quantity.ts';
import { REVISION_LABEL } from '../warm-pool.ts';
import type { AppDefinition } from './crds.ts';
import { GENERATION_LABEL, generationOf } from './labels.ts';
import { entriesOf, isService, isUnlabelled, type PartName } from './parts.ts';
import { compared } from './render.ts';
import { isGoing, type SlotView } from './slot-view.ts';

/**
 * Begins our revision label on a part that was stale when its generation label was renewed for a user's sake: that label then
 * vouches for nothing.
 */
export const STALE_PREFIX = 'stale-';

const STORAGE = 'spec.resources.requests.storage';

/** The parts whose generation label is not the AppDefinition's: renewing it needs no replacement. */
export function olderParts({ parts, source }: SlotView): readonly (readonly [PartName, KubeObject])[] {
  return entriesOf(parts).filter(([name, part]) => !isUnlabelled(name) && isOlder(part, source));
}

/** The generation label is there and parses, but is not the AppDefinition's. */
export function isOlder(part: KubeObject, source: AppDefinition): boolean {
  return !isGoing(part) && generationOf(part) !== source.metadata.generation;
}

/** The parts that are not what would be rendered now, with the paths. Services are renewed, never a reason to replace. */
export function driftByPart(view: SlotView): ReadonlyMap<PartName, readonly string[]> {
  const drift = new Map<PartName, readonly string[]>();
  for (const [name, live] of entriesOf(view.parts)) {
    if (isService(name) || isGoing(live) || view.revision === undefined) continue;
    const rendered = view.rendered?.[name];
    const paths = rendered === undefined ? ['is not wanted'] : driftIn(view, name, rendered, live);
    if (paths.length > 0) drift.set(name, paths);
  }
  return drift;
}

function driftIn(view: SlotView, name: PartName, rendered: KubeObject, live: KubeObject): readonly string[] {
  const mark = live.metadata.labels?.[REVISION_LABEL];
  const isOurs = mark === view.revision;
  const isMarked = mark?.startsWith(STALE_PREFIX) === true;
  const isPlain = view.warmPool?.staleness === 'generation';
  // Nothing vouches for what the operator made without a label; by its plain rule nothing can be said of it.
  if (isUnlabelled(name)) return isPlain ? [] : withoutGrowth(rendered, live, isOurs);

  const { generation } = view.source.metadata;
  const label = generationOf(live);
  const path = `metadata.labels[${GENERATION_LABEL}]`;
  if (label === undefined) return [path];
  if (isPlain) return label === generation && !isMarked ? [] : [path];
  return differences(compared(rendered), live, { vouched: isOurs || (label === generation && !isMarked) });
}

/** A volume that was made larger since is no worse than the one that is asked for. */
function withoutGrowth(rendered: KubeObject, live: KubeObject, vouched: boolean): readonly string[] {
  const paths = differences(compared(rendered), live, { vouched });
  return hasRoomFor(live, rendered) ? paths.filter((path) => path !== STORAGE) : paths;
}

function hasRoomFor(live: KubeObject, rendered: KubeObject): boolean {
  const asked = quantityOf(storageOf(rendered));
  const found = quantityOf(storageOf(live));
  return asked !== undefined && found !== undefined && found >= asked;
}

function storageOf({ spec }: KubeObject): unknown {
  return (spec as { resources?: { requests?: { storage?: unknown } } } | undefined)?.resources?.requests
    ?.storage;
}
