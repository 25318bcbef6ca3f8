import type { KubeObject } from '../../kube/api.ts';
import { USED_ANNOTATION } from '../warm-pool.ts';
import { entriesOf, type PartName, type SlotParts } from './parts.ts';
import { isGoing } from './slot-view.ts';

/** uids of what served a user in this slot and must not stand when it is handed out again, as its anchor tells. */
export function usedUids(anchor: KubeObject | undefined): readonly string[] {
  const text = anchor?.metadata.annotations?.[USED_ANNOTATION] ?? '';
  return text.split(' ').filter((uid) => uid !== '');
}

/** The parts among them that still stand. */
export function usedParts(parts: SlotParts): readonly (readonly [PartName, KubeObject])[] {
  const used = usedUids(parts.externalService);
  return entriesOf(parts).filter(([, part]) => !isGoing(part) && used.includes(part.metadata.uid ?? ''));
}
