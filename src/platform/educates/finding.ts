import { type Slot, WHOLE_POOL } from '../../pool/types.ts';

/** What is not as it should be, and needs somebody: of one slot, or of the whole portal. */
export interface Finding {
  readonly slot: Slot;
  readonly reason:
    | 'InvalidEntry'
    | 'DuplicateEntry'
    | 'WorkshopMissing'
    | 'InvalidWorkshop'
    | 'NoWorkshops'
    | 'NeverActivated'
    | 'EnvironmentFailed'
    | 'EnvironmentStuck'
    | 'EnvironmentMissing'
    | 'SecondEnvironment'
    | 'EntryGone'
    | 'EnvironmentLeaked'
    | 'OrphanedEnvironment'
    | 'OrphanedSession'
    | 'Stale'
    | 'NotRefreshed'
    | 'SessionBroken'
    | 'UserWithoutSession'
    | 'AllocationFailed'
    | 'NoRoom'
    | 'SharedWorkshop'
    | 'DroppedUnreadable'
    | 'ObserveOnly';
  /** One sentence that names the object or the field. */
  readonly message: string;
  /** The portal's own settings want it so: told, and nobody's fault. */
  readonly isMeant?: true;
}

export function ofPool(reason: Finding['reason'], message: string): Finding {
  return { slot: WHOLE_POOL, reason, message };
}
