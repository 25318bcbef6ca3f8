import type { Session } from './crds.ts';
import type { Snapshot } from './read.ts';

/**
 * What says that a user has a session, in words; `undefined` when nothing does. Any one is enough: the portal loses its own
 * writes to whoever writes the session at the same time, so its phase may read Available under a live user.
 */
export function claimOn(session: Session, { allocations, secrets }: Snapshot): string | undefined {
  const { name, status, owner } = session;
  if (status.user !== undefined && status.user !== '') return 'status.educates.user is set';
  if (status.phase === 'Allocating' || status.phase === 'Allocated') return `its phase is ${status.phase}`;
  if (allocations.some((one) => one.name === name || one.sessionName === name))
    return 'a WorkshopAllocation stands for it';
  const secret = [`${name}-user`, `${name}-request`].find((one) => secrets.has(one));
  if (secret !== undefined) return `Secret ${secret} stands`;
  return owner === undefined ? undefined : 'its owner is noted on it';
}
