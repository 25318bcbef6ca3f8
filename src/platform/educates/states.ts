import type { Environment, Session, Workshop } from './crds.ts';

/** What an environment comes to; derived at every look, stored nowhere. `STARTING` also is one that is ready and never taken into use. */
export type EnvironmentState = 'STARTING' | 'RUNNING' | 'STALE' | 'BROKEN' | 'DRAINING' | 'GONE';

/** What a session comes to. `WARM` is one that a user can be handed. */
export type SessionState = 'WARMING' | 'WARM' | 'CLAIMED' | 'BROKEN' | 'GONE';

/** session-manager gives up after five minutes; what is not made then, is not made. */
const STARTING_MAX_MS = 360_000;
/** Built within seconds; once it failed it is tried again after a minute. */
const WARMING_MAX_MS = 120_000;

const GIVEN_UP: ReadonlySet<string> = new Set(['Failed', 'Unknown']);

interface Around {
  readonly workshop: Workshop | undefined;
  /** The portal replaces what differs (spec.portal.updates.workshop). */
  readonly updates: boolean;
  readonly isUnused: boolean;
  readonly now: number;
}

export function environmentState(environment: Environment, around: Around): EnvironmentState {
  const { isGoing, status, pinned, createdAt } = environment;
  const { workshop, updates, isUnused, now } = around;
  if (isGoing) return 'GONE';
  if (status.phase === 'Stopping') return 'DRAINING';
  if (pinned === undefined)
    return GIVEN_UP.has(status.phase ?? '') || now - createdAt >= STARTING_MAX_MS ? 'BROKEN' : 'STARTING';
  if (isUnused) return 'STARTING';
  return updates && differsFrom(environment, workshop) !== undefined ? 'STALE' : 'RUNNING';
}

/** In what an environment differs from its Workshop as it is now, in words. Without a Workshop there is nothing to differ from. */
export function differsFrom({ pinned }: Environment, workshop: Workshop | undefined): string | undefined {
  if (pinned === undefined || workshop === undefined) return undefined;
  if (pinned.uid !== workshop.uid) return `workshop: made from an older Workshop ${workshop.name} (uid)`;
  return pinned.generation === workshop.generation
    ? undefined
    : `workshop: made from generation ${pinned.generation}, it is ${workshop.generation} now`;
}

/** Readiness is the url: the phase stays Pending in sessions that are fine, and says Available of some that are not. */
export function sessionState(
  { isGoing, status, createdAt }: Session,
  isClaimed: boolean,
  now: number,
): SessionState {
  if (isClaimed) return 'CLAIMED';
  if (isGoing || status.phase === 'Stopping') return 'GONE';
  if (status.url !== undefined && status.url !== '') return 'WARM';
  return status.phase === 'Failed' || now - createdAt >= WARMING_MAX_MS ? 'BROKEN' : 'WARMING';
}
