import type { Clock } from '../clock.ts';
import type { Actor, Store } from './types.ts';

/** Units of work done in one go before everybody else gets a turn. */
const BATCH_MAX = 16;
/** An actor that was told something outside of any commit (a failure switched on) is heard within this time. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Drives the actors of a cluster in the clock's own time: always the one that has been due longest (ties: as listed).
 * Every commit of `store` wakes it. Returns the way to stop, after which no actor runs again.
 */
export function runActors(
  actors: readonly Actor[],
  clock: Clock,
  store: Pick<Store, 'onCommit'>,
): () => void {
  let cancel: (() => void) | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;

  const wakeAt = (at: number): void => {
    if (at >= wakesAt) return;
    cancel?.();
    wakesAt = at;
    cancel = clock.after(Math.max(0, at - clock.now()), turn);
  };
  const turn = (): void => {
    wakesAt = Number.POSITIVE_INFINITY;
    for (let units = 0; units < BATCH_MAX && runNext(actors, clock.now()); units += 1);
    wakeAt(Math.min(nextDue(actors)?.dueAt() ?? Number.POSITIVE_INFINITY, clock.now() + LOOK_AGAIN_MS));
  };
  const forget = store.onCommit(() => {
    // Asking each actor at each commit would cost more than one look too many at the next turn.
    wakeAt(clock.now());
  });
  wakeAt(clock.now());

  return () => {
    forget();
    cancel?.();
    wakesAt = Number.NEGATIVE_INFINITY;
  };
}

/** Lets the actor that has been due longest do one unit; `false` when nobody is due at `now`. */
export function runNext(actors: readonly Actor[], now: number): boolean {
  const actor = nextDue(actors);
  if (actor === undefined || (actor.dueAt() ?? Number.POSITIVE_INFINITY) > now) return false;
  actor.run();
  return true;
}

/** The actor whose next unit is due first (ties: as listed); `undefined` when nobody has anything to do. */
export function nextDue(actors: readonly Actor[]): Actor | undefined {
  let first: Actor | undefined;
  let firstAt = Number.POSITIVE_INFINITY;
  for (const actor of actors) {
    const at = actor.dueAt();
    if (at === undefined || at >= firstAt) continue;
    first = actor;
    firstAt = at;
  }
  return first;
}
