import type { Ailment, Identity, Instance, Phase, Revision } from '../../pool/types.ts';
import type { Environment } from './crds.ts';
import { causeOf } from './findings.ts';
import type { EnvironmentView, Place, PortalView } from './places.ts';
import { differsFrom } from './states.ts';
import { isUntouchable, type Treatment } from './treatment.ts';

/** What is known of one place beside its objects. */
interface Around {
  /** Hand-out order. */
  readonly rank: number;
  readonly view: PortalView;
  readonly treatment: Treatment | undefined;
  readonly revision: Revision;
  /** Nobody is to wait for the portal: what was dropped goes back. */
  readonly isLeft: boolean;
}

/** Translates one place of a portal into the planner's words. The environment is anchor and workload in one. */
export function instanceOf(place: Place, around: Around): Instance {
  const { rank, view, treatment } = around;
  const { slot, role, view: filled } = place;
  const environment = filled?.environment;
  const phase = phaseOf(place);
  const isEnding = filled?.state === 'DRAINING' || filled?.state === 'GONE';
  const identity = environment === undefined ? undefined : identityOf(environment);
  const users = usersIn(filled);
  const isHis = isUntouchable(place);
  const trouble = treatment?.remedies.length ? undefined : troubleOf(filled, phase);
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
    refresh: treatment?.key.startsWith('refresh/') === true,
    relabel: false,
    ...(users === undefined ? {} : isHis ? { claimedBy: users } : { usedBy: users }),
    held: false,
    needs: [],
    claimable: phase === 'ready' && filled?.sessions.some(({ state }) => state === 'WARM') === true,
    ...(trouble === undefined ? {} : { trouble }),
    ...(treatment === undefined ? {} : { ailment: ailmentOf(treatment) }),
    ...droppedFrom(place, around),
  };
}

function ailmentOf({ key, message, afterMs, remedies }: Treatment): Ailment {
  return { key, message, afterMs, remedies: remedies.map(({ name, on, takes }) => ({ name, on, takes })) };
}

/** Since then the portal has certainly been told, by a clock of whole seconds. */
const TOLD_MS = 2_000;
/** A portal that has not seen it by then does not work: what was dropped goes back. */
const UNSEEN_MAX_MS = 120_000;

/** An entry in our annotation: withdrawn, and built again by putting it back when the portal has seen that it was gone. */
function droppedFrom({ entry, view: filled }: Place, { view, revision, isLeft }: Around): Partial<Instance> {
  const { dropped } = entry ?? {};
  if (entry === undefined || dropped === undefined) return {};
  const age = view.snapshot.now - dropped.since;
  const isSeen = filled === undefined || filled.state === 'DRAINING' || filled.state === 'GONE';
  const mayReturn = entry.isBack === true || (age >= TOLD_MS && (isSeen || isLeft)) || age >= UNSEEN_MAX_MS;
  return {
    exists: true,
    withdrawn: { building: revision, pass: dropped.pass },
    phase: 'missing',
    absent: true,
    terminating: !mayReturn,
    drift: [],
    claimable: false,
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
function usersIn(filled: EnvironmentView | undefined): string | undefined {
  const claimed = (filled?.sessions ?? []).filter(({ state }) => state === 'CLAIMED');
  const [first] = claimed.map(({ session }) => session.name).sort();
  return first === undefined || claimed.length === 1 ? first : `${first} and ${claimed.length - 1} more`;
}

function identityOf({ uid, object }: Environment): Identity {
  return { uid, resourceVersion: object.metadata.resourceVersion ?? '' };
}
