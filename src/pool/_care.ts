import type { Action, Held, Instance, Observed, Waiting } from './types.ts';
import { isHeld } from './waiting.ts';

/** How soon to look again when the next pick of the platform was about to be handed out. */
export const QUIET_RETRY_MS = 2_000;

/** What is known of the moment in which users are cared for. */
export interface Moment {
  readonly observed: Observed;
  readonly waiting: readonly Waiting[];
  readonly leaving: boolean;
  /** The platform's operator has the first word: what it would make is left to it. */
  readonly settling: boolean;
  readonly now: number;
}

/** What is done for those who hold an instance; whatever keeps the rest of the pool from being worked on does not keep this. */
export interface Care {
  readonly actions: readonly Action[];
  readonly held: readonly Held[];
}

/** The lowest rank first. A pool that is being left is only let go of. */
export function careFor(moment: Moment): Care {
  const refused = new Set(
    moment.waiting.filter((entry) => isHeld(entry, moment.now)).map(({ slot }) => slot),
  );
  const claimed = moment.observed.instances
    .filter((one) => one.claimedBy !== undefined)
    .sort((a, b) => a.rank - b.rank);
  const moves = claimed.flatMap((instance) =>
    moment.leaving ? letGo(instance, refused) : heal(moment, instance, refused),
  );
  return {
    actions: moves.filter((move): move is Action => 'kind' in move),
    held: moves.filter((move): move is Held => !('kind' in move)),
  };
}

function letGo({ slot, held }: Instance, refused: ReadonlySet<string>): readonly (Action | Held)[] {
  if (!held) return [];
  return [refused.has(slot) ? { slot, reason: 'refused' } : { kind: 'unhold', slot }];
}

function heal(
  { observed, settling, now }: Moment,
  { slot, needs, claimable }: Instance,
  refused: ReadonlySet<string>,
): readonly (Action | Held)[] {
  // The platform does not know that it is held, and may be about to hand it out once more.
  const isPick = claimable && observed.operator.alive;
  return needs.map(({ object, lacks, made }) => {
    if (refused.has(object)) return { slot, reason: 'refused' };
    if (settling && made) return { slot, reason: 'settling' };
    if (isPick && !observed.quiet) return { slot, reason: 'quiet', until: now + QUIET_RETRY_MS };
    return { kind: 'heal', slot, object, lacks };
  });
}
