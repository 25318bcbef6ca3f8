import { claimOn } from './claims.ts';
import type { Environment, Portal, Session } from './crds.ts';
import type { Entries, Entry } from './entries.ts';
import { ENTRY_LABEL, PORTAL_UID_LABEL } from './labels.ts';
import type { Snapshot } from './read.ts';
import { type EnvironmentState, environmentState, type SessionState, sessionState } from './states.ts';

/** A session, and what it comes to. */
export interface SessionView {
  readonly session: Session;
  readonly state: SessionState;
  /** What says that a user has it. */
  readonly claim?: string;
}

/** An environment, its sessions, and what it comes to. */
export interface EnvironmentView {
  readonly environment: Environment;
  readonly state: EnvironmentState;
  readonly sessions: readonly SessionView[];
}

/** What fills an entry, or stands where no entry is. */
export interface Place {
  /** The entry's, or the name of an environment that is nobody's. */
  readonly slot: string;
  readonly entry?: Entry;
  readonly view?: EnvironmentView;
  /** `second`: the entry has a newer one. `orphan`: it is another portal's, which is gone. */
  readonly role: 'entry' | 'second' | 'unlisted' | 'orphan';
}

/** A portal as it is now. */
export interface PortalView extends Entries {
  readonly snapshot: Snapshot;
  readonly updates: boolean;
  /** The portal runs: it can be moved. */
  readonly isServed: boolean;
  /** When a person asked for new environments, by slot; `*` for all. Epoch ms. */
  readonly wishes: ReadonlyMap<string, number>;
  readonly places: readonly Place[];
  /** Sessions whose environment is gone. */
  readonly strays: readonly Session[];
}

/** A portal that was taken into use a moment ago has no session yet. */
const ACTIVATION_MS = 60_000;
/** And the same after a write: it may be the one that made it ready. */
const SETTLED_MS = 15_000;

/** Puts every environment in its place: the newest that is in use fills its entry, all others stand beside. */
export function arrange(
  snapshot: Snapshot,
  listed: Entries,
  wishes: PortalView['wishes'] = new Map(),
): PortalView {
  const { portal, environments, sessions } = snapshot;
  const updates = portal?.spec.portal.updates.workshop ?? false;
  const byAge = [...environments].sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  const taken = new Map<Environment, Entry>();
  for (const entry of listed.entries) {
    const found = byAge.find(
      (one) => !taken.has(one) && isOwn(one, portal) && isInUse(one) && isFor(one, entry),
    );
    if (found !== undefined) taken.set(found, entry);
  }
  const viewOf = (environment: Environment): EnvironmentView => {
    const own = sessions.filter(({ environmentName }) => environmentName === environment.name);
    const entry = taken.get(environment);
    const isUnused =
      entry !== undefined && own.length === 0 && isNeverTaken(environment, entry, snapshot, listed.maximum);
    const workshop = snapshot.workshops.get(environment.workshopName);
    return {
      environment,
      state: environmentState(environment, { workshop, updates, isUnused, now: snapshot.now }),
      sessions: own.map((session) => sessionViewOf(session, snapshot)),
    };
  };
  const filled = listed.entries.map((entry): Place => {
    const [found] = [...taken].find(([, one]) => one === entry) ?? [];
    return {
      slot: entry.slot,
      entry,
      role: 'entry',
      ...(found === undefined ? {} : { view: viewOf(found) }),
    };
  });
  const beside = [...environments]
    .filter((environment) => !taken.has(environment))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((environment): Place => {
      const isSecond = listed.entries.some((entry) => isFor(environment, entry));
      const role = isOwn(environment, portal) ? (isSecond ? 'second' : 'unlisted') : 'orphan';
      return { slot: environment.name, role, view: viewOf(environment) };
    });
  const names = new Set(environments.map(({ name }) => name));
  const strays = sessions.filter(({ isGoing, environmentName }) => !isGoing && !names.has(environmentName));
  const isServed = portal?.status.educates?.phase === 'Running';
  return { ...listed, snapshot, updates, isServed, wishes, places: [...filled, ...beside], strays };
}

function isOwn({ labels }: Environment, portal: Portal | undefined): boolean {
  return portal !== undefined && labels[PORTAL_UID_LABEL] === portal.uid;
}

function isInUse({ isGoing, status }: Environment): boolean {
  return !isGoing && status.phase !== 'Stopping';
}

/** Releases before 3.6.1 do not say which entry an environment is of. */
function isFor({ labels, workshopName }: Environment, { slot, workshopName: wanted }: Entry): boolean {
  return workshopName === wanted && (labels[ENTRY_LABEL] ?? wanted) === slot;
}

/**
 * It is ready, warm sessions are wanted, there is room for them, and none was ever seen. None is wanted of an entry that begins
 * with 0, and none can be made when the portal is full.
 */
function isNeverTaken(
  { pinned, createdAt, writtenAt = 0, status }: Environment,
  { reserved, initial, capacity }: Entry,
  { now, sessions }: Snapshot,
  maximum: number,
): boolean {
  const isWanted =
    reserved > 0 && initial > 0 && capacity > 0 && status.initial !== 0 && status.reserved !== 0;
  const hasRoom = maximum === 0 || sessions.length < maximum;
  const hasHadTime = now - createdAt >= ACTIVATION_MS && now - writtenAt >= SETTLED_MS;
  return pinned !== undefined && isWanted && hasRoom && hasHadTime;
}

function sessionViewOf(session: Session, snapshot: Snapshot): SessionView {
  const claim = claimOn(session, snapshot);
  const state = sessionState(session, claim !== undefined, snapshot.now);
  return { session, state, ...(claim === undefined ? {} : { claim }) };
}
