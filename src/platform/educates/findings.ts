import type { Environment, Session } from './crds.ts';
import { type Finding, ofPool } from './finding.ts';
import { PORTAL_UID_LABEL } from './labels.ts';
import type { EnvironmentView, Place, PortalView, SessionView } from './places.ts';
import { differsFrom } from './states.ts';

/** The portal ends what drains within half a minute after its last session. */
const LEAKED_MS = 120_000;
/** The portal's own loop looks every 15 s. */
const REFRESH_LATE_MS = 60_000;

/** Everything about a portal that needs somebody, in the order of the list; what stands beside it last. */
export function findingsOf(view: PortalView): readonly Finding[] {
  const { snapshot, findings, places, strays } = view;
  return [
    ...findings,
    ...places.flatMap((place) => placeFindings(place, view)),
    ...strays.map(({ name, environmentName }) =>
      ofPool(
        'OrphanedSession',
        `WorkshopSession ${name}: its WorkshopEnvironment ${environmentName} is gone, and sessions made for it are collected at once`,
      ),
    ),
    ...snapshot.allocations
      .filter(({ status }) => status.phase === 'Failed')
      .map(({ name, status }) =>
        ofPool(
          'AllocationFailed',
          `WorkshopAllocation ${name} failed: its user is without the objects of the request${because(status.message)}`,
        ),
      ),
  ];
}

/** What is wrong with one place. */
export function placeFindings(place: Place, view: PortalView): readonly Finding[] {
  const { slot, view: filled } = place;
  if (filled === undefined) return missing(place);
  const { now } = view.snapshot;
  const said =
    place.role === 'entry' ? entryFinding(place, filled, view) : besideFinding(place, filled, view.snapshot);
  const sessions = filled.sessions.flatMap((session) => sessionFinding(session));
  const late = notRefreshed(place, filled.environment, now);
  return [...said, ...late, ...sessions].map((finding) => ({ slot, ...finding }));
}

type Said = readonly Omit<Finding, 'slot'>[];

function missing({ slot, entry }: Place): readonly Finding[] {
  // What blocks the entry is said already.
  if (entry === undefined || entry.blocked !== undefined || entry.dropped !== undefined) return [];
  const message = `there is no WorkshopEnvironment for ${JSON.stringify(slot)}: the portal has not made one`;
  return [{ slot, reason: 'EnvironmentMissing', message }];
}

function entryFinding(place: Place, filled: EnvironmentView, view: PortalView): Said {
  const { environment, state } = filled;
  const { snapshot, updates } = view;
  const which = `WorkshopEnvironment ${environment.name}`;
  const since = new Date(environment.createdAt).toISOString().replace('.000Z', 'Z');
  if (state === 'BROKEN') return [broken(environment, since)];
  if (state === 'STARTING' && environment.pinned !== undefined) {
    const message = `${which} is ready, and the portal has never taken it into use: made at ${since}, it has no session, where ${place.entry?.reserved} should be warm`;
    return [{ reason: 'NeverActivated', message }];
  }
  const difference = differsFrom(environment, snapshot.workshops.get(environment.workshopName));
  if (difference === undefined) return noRoom(place, filled, view);
  if (updates)
    return [{ reason: 'Stale', message: `${which}: ${difference}, and the portal has not replaced it` }];
  const message = `${which}: ${difference}; the portal keeps it, for spec.portal.updates.workshop is off`;
  return [{ reason: 'Stale', message, isMeant: true }];
}

/** What went wrong with it, from wherever session-manager has noted it. */
export function causeOf({ status, failure }: Environment | Session): string | undefined {
  const said = status.message ?? failure;
  return said === undefined || said === '' ? undefined : said;
}

function broken(environment: Environment, since: string): Omit<Finding, 'slot'> {
  const { name, status } = environment;
  const cause = because(causeOf(environment));
  if (status.phase === 'Failed' || status.phase === 'Unknown')
    return { reason: 'EnvironmentFailed', message: `WorkshopEnvironment ${name} is ${status.phase}${cause}` };
  return {
    reason: 'EnvironmentStuck',
    message: `WorkshopEnvironment ${name} does not get ready, made at ${since}${cause}`,
  };
}

/** Live sessions of environments that drain keep the new one from having any. */
function noRoom({ entry }: Place, { environment, sessions }: EnvironmentView, view: PortalView): Said {
  const { maximum, places, snapshot } = view;
  if (entry === undefined || sessions.length > 0 || entry.reserved === 0 || entry.initial === 0) return [];
  if (maximum === 0 || snapshot.sessions.length < maximum || environment.pinned === undefined) return [];
  const draining = places.filter((place) => place.view?.state === 'DRAINING');
  const kept = draining.flatMap((place) => place.view?.sessions ?? []).length;
  if (kept === 0) return [];
  const message = `no warm session for ${JSON.stringify(entry.slot)}: ${snapshot.sessions.length} stand, spec.portal.sessions.maximum is ${maximum}, and ${kept} of them are in environments that only drain`;
  return [{ reason: 'NoRoom', message }];
}

function notRefreshed({ entry }: Place, { name, createdAt }: Environment, now: number): Said {
  const refreshMs = entry?.refreshMs ?? 0;
  if (refreshMs === 0 || now - createdAt < refreshMs + REFRESH_LATE_MS) return [];
  const message = `WorkshopEnvironment ${name} is older than its refresh allows, and the portal has not replaced it`;
  return [{ reason: 'NotRefreshed', message }];
}

function besideFinding(
  { role }: Place,
  filled: EnvironmentView,
  { now, portal, environments }: PortalView['snapshot'],
): Said {
  const { environment, state, sessions } = filled;
  const which = `WorkshopEnvironment ${environment.name}`;
  if (state === 'GONE') return [];
  if (role === 'orphan') {
    const uid = environment.labels[PORTAL_UID_LABEL] ?? 'none';
    const message = `${which} is of a portal that is gone (uid ${uid})`;
    return [{ reason: 'OrphanedEnvironment', message }];
  }
  if (state !== 'DRAINING') {
    return role === 'second'
      ? [{ reason: 'SecondEnvironment', message: `${which} is a second one for its entry` }]
      : [
          {
            reason: 'EntryGone',
            message: `${which}: its entry is no longer in spec.workshops of ${portal?.name}`,
          },
        ];
  }
  const isHeld = sessions.some((one) => one.state === 'CLAIMED');
  const since = drainsSince(environment, environments);
  if (isHeld || since === undefined || now - since < LEAKED_MS) return [];
  const message = `${which} is Stopping, nobody is in it, and the portal has not deleted it`;
  return [{ reason: 'EnvironmentLeaked', message }];
}

/** Since when at the latest: it was written last when it was told to stop, and what replaces it was made right after. */
function drainsSince(environment: Environment, all: readonly Environment[]): number | undefined {
  if (environment.writtenAt !== undefined) return environment.writtenAt;
  const next = all.filter(
    ({ workshopName, createdAt }) =>
      workshopName === environment.workshopName && createdAt > environment.createdAt,
  );
  return next.length === 0 ? undefined : Math.max(...next.map(({ createdAt }) => createdAt));
}

function sessionFinding({ session, state }: SessionView): Said {
  const { name, status } = session;
  const cause = because(causeOf(session));
  const phase = status.phase ?? 'without a phase';
  if (state === 'BROKEN')
    return [
      { reason: 'SessionBroken', message: `WorkshopSession ${name} is ${phase} and has no url${cause}` },
    ];
  const isFailed = status.phase === 'Failed' || status.phase === 'Pending' || causeOf(session) !== undefined;
  if (state !== 'CLAIMED' || status.url !== undefined || !isFailed) return [];
  const message = `WorkshopSession ${name} is a user's and has no url${cause}`;
  return [{ reason: 'UserWithoutSession', message }];
}

function because(cause: string | undefined): string {
  return cause === undefined || cause === '' ? '' : `: ${cause}`;
}
