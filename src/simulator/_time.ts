import { nextDue, runNext } from '../embedded/runner.ts';
import type { Cluster } from './cluster.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A clock and what happens by itself as it moves. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly cluster: Pick<Cluster, 'actors'>;
}

/** Everything that is due until then, in the order of time; who is due at one instant goes before the timers. */
export async function advance({ clock, cluster: { actors } }: Stage, ms: number): Promise<void> {
  const end = clock.now() + ms;
  for (;;) {
    while (runNext(actors, clock.now()));
    await clock.settle();
    const actorAt = nextDue(actors)?.dueAt() ?? Number.POSITIVE_INFINITY;
    const timerAt = clock.nextAt() ?? Number.POSITIVE_INFINITY;
    if (Math.min(actorAt, timerAt) > end) break;
    if (actorAt > timerAt) await clock.step(end);
    else await clock.runUntil(Math.max(actorAt, clock.now()));
  }
  await clock.runUntil(end);
}

/** When the next thing happens by itself; `undefined` when nothing does. */
export function nextAt({ clock, cluster }: Stage): number | undefined {
  const times = [nextDue(cluster.actors)?.dueAt(), clock.nextAt()].filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The cluster does something by itself within `ms`; what only back-offs and deadlines bring comes later. */
export function isBusy({ clock, cluster }: Stage, ms: number): boolean {
  const due = nextDue(cluster.actors)?.dueAt();
  return due !== undefined && due <= clock.now() + ms;
}
