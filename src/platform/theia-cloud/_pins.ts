import type { JsonPatchOperation, KubeObject } from '../../kube/api.ts';
import { type Instance, KEPT } from '../../pool/types.ts';
import type { Request } from '../platform.ts';
import { BUILDING_ANNOTATION, PASS_ANNOTATION, type ReadWarmPool, warmPoolReference } from '../warm-pool.ts';
import { annotate, escaped, patch } from './_guarded.ts';
import { entriesOf, type SlotParts } from './parts.ts';

/** What of a slot it takes to keep it. Nothing that would be rendered: it stays as it is. */
interface KeptSlot {
  readonly parts: SlotParts;
  readonly warmPool: ReadWarmPool | undefined;
}

type Step = 'anchor' | 'parts';

/** On how many of a slot's parts, the anchor aside, our reference stands. */
export function pinnedIn({ parts, warmPool }: KeptSlot): Instance['pinned'] {
  const others = othersIn(parts);
  const pinned = others.filter((part) => ownerAt(part, warmPool) >= 0);
  if (pinned.length === 0) return undefined;
  return pinned.length === others.length ? 'all' : 'some';
}

/**
 * Our reference beside the AppDefinition's. On the anchor it keeps users away, as at a replacement; on all of them the operator,
 * which replaces only what the AppDefinition alone owns when that changes.
 */
export function pin({ parts, warmPool }: KeptSlot, step: Step, pass: string): readonly Request[] {
  const anchor = parts.externalService;
  if (anchor === undefined || warmPool === undefined) return [];
  const marks = annotate(anchor, { [BUILDING_ANNOTATION]: KEPT, [PASS_ANNOTATION]: pass });
  if (step === 'anchor') return [patch(anchor, [...taken(anchor, warmPool), ...marks])];
  const open = othersIn(parts).filter((part) => ownerAt(part, warmPool) < 0);
  return [patch(anchor, marks), ...open.map((part) => patch(part, taken(part, warmPool)))];
}

/** Takes our reference off again, and nothing else: what is kept may be stale, and its labels must go on saying so. */
export function unpin({ parts, warmPool }: KeptSlot, step: Step): readonly Request[] {
  const anchor = parts.externalService;
  if (anchor === undefined || warmPool === undefined) return [];
  if (step === 'parts') {
    const pinned = othersIn(parts).filter((part) => ownerAt(part, warmPool) >= 0);
    // A claim that came in between has written on the anchor: then its user's instance is not touched.
    return [patch(anchor, []), ...pinned.map((part) => patch(part, released(part, warmPool)))];
  }
  const isMarked = anchor.metadata.annotations?.[BUILDING_ANNOTATION] !== undefined;
  const mark = { op: 'remove', path: `/metadata/annotations/${escaped(BUILDING_ANNOTATION)}` } as const;
  return [patch(anchor, [...released(anchor, warmPool), ...(isMarked ? [mark] : [])])];
}

function othersIn(parts: SlotParts): readonly KubeObject[] {
  return entriesOf(parts)
    .filter(([name]) => name !== 'externalService')
    .map(([, part]) => part);
}

function ownerAt({ metadata }: KubeObject, warmPool: ReadWarmPool | undefined): number {
  return (metadata.ownerReferences ?? []).findIndex(({ uid }) => uid === warmPool?.ref.uid);
}

function taken(part: KubeObject, warmPool: ReadWarmPool): readonly JsonPatchOperation[] {
  if (ownerAt(part, warmPool) >= 0) return [];
  const isFirst = part.metadata.ownerReferences === undefined;
  const owner = warmPoolReference(warmPool.ref);
  return [
    { op: 'add', path: `/metadata/ownerReferences${isFirst ? '' : '/-'}`, value: isFirst ? [owner] : owner },
  ];
}

function released(part: KubeObject, warmPool: ReadWarmPool): readonly JsonPatchOperation[] {
  const at = ownerAt(part, warmPool);
  return at < 0 ? [] : [{ op: 'remove', path: `/metadata/ownerReferences/${at}` }];
}
