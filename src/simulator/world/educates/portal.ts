import type { Clock, Random } from '../../../clock.ts';
import type { KubeApi } from '../../../kube/api.ts';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../../platform/educates/resources.ts';
import { oneAtATime } from '../_threads.ts';
import { createHands, valueAt } from './_hands.ts';
import { type DeliverPortalEvent, hearKind, type PortalEvent } from './_kopf.ts';
import { activateEnvironment, hearPortal, hearWorkshop } from './_portal-environments.ts';
import { round } from './_portal-round.ts';
import { activate, claim, createSession, endSession } from './_portal-sessions.ts';
import {
  activeSessions,
  createDatabase,
  type Database,
  isActive,
  type PortalContext,
  warmSessions,
} from './_rows.ts';
import { PORTAL_AS_OBSERVED, type PortalFaults } from './portal-faults.ts';
import { type Answer, answer, type Believed } from './portal-rest.ts';
import type { Program } from './session-manager.ts';

const ROUND_MS = 15_000;
/** From the event to the activation. */
const ACTIVATION_MS = 250;
/** How long a claim over REST waits for its user. */
const CLAIM_MS = 60_000;

interface PortalOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly name: string;
  readonly faults?: Partial<PortalFaults>;
  readonly deliver?: DeliverPortalEvent;
  readonly log?: (line: string) => void;
}

/** A session that was handed out. `token` activates it; a browser needs none. */
interface Handed {
  readonly name: string;
  readonly environment: string;
  readonly token?: string;
}

/** A stand-in for the portal of one TrainingPortal. */
export interface Portal extends Program {
  /** A user asks for a session of an entry; `undefined` when none is to be had, or the portal is down. */
  request(entry: string, user: string, way: 'rest' | 'browser'): Promise<Handed | undefined>;
  /** The user of a claim over REST is there; false when it is over. */
  activate(session: string, token: string): Promise<boolean>;
  /** A user leaves; false when there is no such session. */
  terminate(session: string): Promise<boolean>;
  /** For so long nothing can be written into the database. */
  lockDatabase(ms: number): void;
  environments(): readonly Believed[];
  /** The generation of the TrainingPortal that it has dealt with last. */
  generation(): number | undefined;
  /** What it answers to a GET about its environments. */
  answer(path: string, states?: readonly string[]): Answer;
}

/** The portal as observed: it acts on events and on its database; what gets lost between the two stays lost. */
export function createPortal(options: PortalOptions): Portal {
  const db = createDatabase();
  const faults = { ...PORTAL_AS_OBSERVED, ...options.faults };
  let life: Life | undefined;
  const served = async <T>(fallback: T, work: (context: PortalContext) => Promise<T>): Promise<T> => {
    const running = life;
    return running === undefined ? fallback : running.lock(() => work(running.context));
  };
  const environments = (): readonly Believed[] =>
    db.environments.map((row) => ({
      name: row.name,
      entry: row.wanted.entry,
      state: row.state,
      linked: row.pinned !== undefined,
      workshop: row.wanted.workshop,
      capacity: row.wanted.capacity,
      reserved: row.wanted.reserved,
      available: warmSessions(db, row).length,
      allocated: activeSessions(db, row).filter(({ owner }) => owner !== undefined).length,
    }));
  return {
    start: () => {
      life ??= begin(options, db, faults);
    },
    stop: () => {
      life?.end();
      life = undefined;
    },
    request: (entry, user, way) => served(undefined, (context) => request(context, entry, user, way)),
    activate: (name, token) =>
      served(false, async (context) => {
        const row = db.sessions.find((one) => one.name === name && one.token === token);
        if (row === undefined || row.state !== 'WAITING') return false;
        await activate(context, row);
        return true;
      }),
    terminate: (name) =>
      served(false, async (context) => {
        const row = activeSessions(db).find((one) => one.name === name && one.owner !== undefined);
        if (row === undefined) return false;
        await endSession(context, row);
        return true;
      }),
    lockDatabase: (ms) => {
      db.lockedUntil = options.clock.now() + ms;
    },
    environments,
    generation: () => db.portal?.generation,
    answer: (path, states) =>
      answer(
        {
          environments: environments(),
          generation: db.portal?.generation,
          failsOnUnlinked: faults.failsOnUnlinked,
        },
        path,
        states,
      ),
  };
}

interface Life {
  readonly context: PortalContext;
  lock<T>(work: () => Promise<T>): Promise<T>;
  end(): void;
}

function begin(options: PortalOptions, db: Database, faults: PortalFaults): Life {
  const { api, clock, name, random, deliver } = options;
  const killed = new AbortController();
  const { signal } = killed;
  const log = options.log ?? (() => undefined);
  const lock = oneAtATime();
  const hands = createHands({ api, clock, random, signal });
  const locked = async (work: () => Promise<void>): Promise<void> => {
    await lock(work).catch((error: unknown) => {
      if (!signal.aborted) log(`Exception raised by task: ${String(error)}`);
    });
  };
  const later = (ms: number, work: () => Promise<void>): void => {
    clock.after(ms, () => {
      if (!signal.aborted) void locked(work);
    });
  };
  const context: PortalContext = { name, db, hands, faults, random, log, later };
  const isHeard = ({ type }: PortalEvent): boolean =>
    type !== 'DELETED' && (type !== 'ADDED' || !faults.ignoresAdded);
  const ear = { api, clock, signal, log, ...(deliver === undefined ? {} : { deliver }) };
  void hearKind(ear, TRAINING_PORTALS, async (event) => {
    if (isHeard(event) && event.object.metadata.name === name)
      await lock(() => hearPortal(context, event.object));
  });
  void hearKind(ear, WORKSHOP_ENVIRONMENTS, async (event) => {
    const { object } = event;
    const isMine = object.metadata.labels?.['training.educates.dev/portal.name'] === name;
    const isReady = valueAt(object, 'status', 'educates', 'workshop', 'uid') !== undefined;
    if (isHeard(event) && isMine && isReady) later(ACTIVATION_MS, () => activateEnvironment(context, object));
  });
  void hearKind(ear, WORKSHOPS, async (event) => {
    if (isHeard(event)) await lock(() => hearWorkshop(context, event.object));
  });
  const again = (): void =>
    later(ROUND_MS, async () => {
      again();
      await round(context);
    });
  again();
  return { context, lock, end: () => killed.abort() };
}

/** His own session, else the lowest warm one, else a new one if there is room. */
async function request(
  context: PortalContext,
  entry: string,
  user: string,
  way: 'rest' | 'browser',
): Promise<Handed | undefined> {
  const { db, hands, faults, random } = context;
  const environment = db.environments.find((row) => isActive(row) && row.wanted.entry === entry);
  if (environment?.state !== 'RUNNING') return undefined;
  const own = activeSessions(db, environment).find((row) => row.owner === user && row.state !== 'STOPPING');
  const handed = (row: { readonly name: string; readonly token?: string }): Handed => ({
    name: row.name,
    environment: environment.name,
    ...(row.token === undefined ? {} : { token: row.token }),
  });
  if (own !== undefined) return handed(own);
  const { expiresMs } = environment.wanted;
  const token = random().toString(36).slice(2);
  const stayMs = way === 'rest' ? CLAIM_MS : expiresMs;
  const mine = {
    owner: user,
    ...(way === 'rest' ? { token } : {}),
    ...(stayMs === 0 ? {} : { expiresAt: hands.now() + stayMs }),
  };
  for (const row of warmSessions(db, environment)) {
    const isThere = faults.handsOutTheGone || (await hands.get(WORKSHOP_SESSIONS, row.name)) !== undefined;
    if (!isThere) continue;
    Object.assign(row, mine);
    await claim(context, row);
    return handed(row);
  }
  const { maximum = 0 } = db.portal ?? {};
  const isFull =
    activeSessions(db, environment).length >= environment.wanted.capacity ||
    (maximum !== 0 && activeSessions(db).length >= maximum);
  const made = isFull ? undefined : await createSession(context, environment, mine);
  return made === undefined ? undefined : handed(made);
}
