import type { Identity, Instance, Phase } from '../../pool/types.ts';
import type { Environment } from './crds.ts';
import { causeOf } from './findings.ts';
import type { EnvironmentView, Place, PortalView } from './places.ts';
import { differsFrom } from './states.ts';

/** Translates one place of a portal into the planner's words. The environment is anchor and workload in one. */
export function instanceOf(place: Place, rank: number, view: PortalView): Instance {
  const { slot, role, view: filled } = place;
  const environment = filled?.environment;
  const phase = phaseOf(place);
  const isEnding = filled?.state === 'DRAINING' || filled?.state === 'GONE';
  const identity = environment === undefined ? undefined : identityOf(environment);
  const claimedBy = claimedIn(filled);
  const trouble = troubleOf(filled, phase);
  return {
    slot,
    rank,
    target: role === 'entry',
    exists: environment !== undefined,
    ...(identity === undefined || isEnding ? {} : { anchor: identity }),
    ...(identity === undefined ? {} : { workload: identity }),
    phase,
    absent: false,
    terminating: isEnding,
    drift: role === 'entry' && environment !== undefined ? driftOf(environment, view) : [],
    unstable: false,
    refresh: false,
    relabel: false,
    ...(claimedBy === undefined ? {} : { claimedBy }),
    held: false,
    needs: [],
    claimable: phase === 'ready' && filled?.sessions.some(({ state }) => state === 'WARM') === true,
    ...(role === 'orphan' && environment !== undefined && !isEnding
      ? { foreign: `WorkshopEnvironment/${environment.name}` }
      : {}),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function driftOf(environment: Environment, { snapshot }: PortalView): readonly string[] {
  const difference = differsFrom(environment, snapshot.workshops.get(environment.workshopName));
  return difference === undefined ? [] : [difference];
}

function phaseOf({ view: filled }: Place): Phase {
  if (filled === undefined) return 'missing';
  switch (filled.state) {
    case 'STARTING':
    case 'BROKEN':
      return 'pending';
    case 'DRAINING':
    case 'GONE':
      return 'deleting';
    default: {
      const isUsable = filled.sessions.some(({ state }) => state === 'WARM' || state === 'CLAIMED');
      const isEmpty = filled.sessions.every(({ state }) => state === 'GONE');
      return isUsable || isEmpty ? 'ready' : 'pending';
    }
  }
}

function troubleOf(filled: EnvironmentView | undefined, phase: Phase): Instance['trouble'] {
  if (filled === undefined || phase !== 'pending') return undefined;
  const { environment, state, sessions } = filled;
  const { status } = environment;
  if (state === 'BROKEN') {
    const isGivenUp = status.phase === 'Failed' || status.phase === 'Unknown';
    const message =
      causeOf(environment) ?? (isGivenUp ? `its phase is ${status.phase}` : 'it does not get ready');
    return { cause: 'deadline', message };
  }
  if (state === 'STARTING')
    return environment.pinned === undefined
      ? undefined
      : { cause: 'deadline', message: 'it is ready, and the portal has never taken it into use' };
  const broken = sessions.find((one) => one.state === 'BROKEN')?.session;
  if (broken === undefined) return undefined;
  const message = `WorkshopSession ${broken.name}: ${causeOf(broken) ?? 'it has no url'}`;
  return { cause: 'deadline', message };
}

/** The first of its users' sessions, and how many more there are. */
function claimedIn(filled: EnvironmentView | undefined): string | undefined {
  const claimed = (filled?.sessions ?? []).filter(({ state }) => state === 'CLAIMED');
  const [first] = claimed.map(({ session }) => session.name).sort();
  return first === undefined || claimed.length === 1 ? first : `${first} and ${claimed.length - 1} more`;
}

function identityOf({ uid, object }: Environment): Identity {
  return { uid, resourceVersion: object.metadata.resourceVersion ?? '' };
}
