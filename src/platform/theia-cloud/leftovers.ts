import type { KubeObject } from '../../kube/api.ts';
import { isGoing, type SlotView } from './instance.ts';
import { SESSIONS } from './resources.ts';

/** A slot of which only objects are left that nobody but our WarmPool owns. */
export interface Leftover {
  readonly slot: string;
  readonly objects: readonly KubeObject[];
}

/**
 * The operator takes its AppDefinition off whatever it may not delete when the pool shrinks. A withdrawn Service is then
 * held by our reference alone; met at the operator's next start its name stops the whole AppDefinition. It goes at once.
 */
export function leftoversOf(views: readonly SlotView[]): readonly Leftover[] {
  return views
    .map((view) => ({ slot: String(view.slot), objects: orphansIn(view) }))
    .filter(({ objects }) => objects.length > 0);
}

function orphansIn({ source, parts, warmPool }: SlotView): readonly KubeObject[] {
  return (Object.values(parts) as readonly KubeObject[]).filter((part) => {
    const owners = part.metadata.ownerReferences ?? [];
    const ours = owners.some(({ uid }) => uid === warmPool?.ref.uid);
    return (
      ours &&
      !isGoing(part) &&
      owners.every(({ uid, kind }) => uid !== source.metadata.uid && kind !== SESSIONS.kind)
    );
  });
}
