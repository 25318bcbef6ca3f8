import type { Clock, Random } from '../../clock.ts';
import type { KubeApi } from '../../kube/api.ts';
import {
  type AppDefinition,
  parseAppDefinition,
  parseSession,
  type Session,
} from '../../platform/theia-cloud/crds.ts';
import { APP_DEFINITIONS_V1BETA11, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import type { Settings } from '../../platform/theia-cloud/settings.ts';
import { createLeadership } from './_operator-lease.ts';
import { ensureInstances, passesRouteGate, reconcilePool, releaseAll } from './_operator-pool.ts';
import { fail, type SessionContext, setStatus } from './_operator-session-steps.ts';
import { handleDeletedSession, handleSession } from './_operator-sessions.ts';
import { createThreads, oneAtATime } from './_threads.ts';
import { type Deliver, follow, type Heard } from './operator-feed.ts';
import { createHands, HandlerError, KilledError, measuredPace, type Pace } from './operator-hands.ts';

/** From leadership to the first handler, as measured. */
const START_UP_MS = 800;
/** When a Session's URL is asked for, in ms between tries, until it answers: about an hour in all. */
const URL_TRIES: readonly (readonly [times: number, everyMs: number])[] = [
  [60, 500],
  [60, 1_000],
  [24, 2_500],
  [60, 5_000],
  [105, 30_000],
];

export interface TheiaOperatorOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly settings: Settings;
  readonly deliver?: Deliver;
  /** False: it hears of changes to AppDefinitions and does nothing about them (default true). */
  readonly rollsOut?: boolean;
  /** True: it never comes up, whatever is asked of it (default false). */
  readonly dead?: boolean;
  readonly pace?: Pace;
  /** Whether Sessions' URLs answer (default: always). */
  readonly urlAnswers?: () => boolean;
  readonly sessionsPerUser?: number;
  readonly sessionThreads?: number;
  /** Goes on after a failure in a Session's handler that would end the process otherwise (default false). */
  readonly continueOnException?: boolean;
  readonly log?: (line: string) => void;
  /** The process ended itself: leadership lost, or something it has no answer to. */
  readonly onExit?: (reason: string) => void;
}

/** A stand-in for Theia Cloud's Java operator: the same requests in the same order, the same faults. */
export interface TheiaOperator {
  /** Starts one process; resolves when it leads and has replayed every AppDefinition, or has ended before. */
  start(): Promise<void>;
  /**
   * Ends the process. `kill`: at once; a request that is under way may still take effect, nothing more is sent, the Lease
   * runs out by itself. `terminate`: the Lease is given up first.
   */
  stop(how?: 'kill' | 'terminate'): Promise<void>;
  isRunning(): boolean;
}

/**
 * The operator as observed: nothing is repaired at a start beyond what is missing, everything is replaced at once on MODIFIED,
 * Sessions are given the lowest free slot by two separate patches. Left out: Workspaces, sidecars, the data bridge, the
 * activity monitor, the lifetime of Sessions, lazy mode, and most of the lazy fallback (see `_operator-lazy.ts`).
 */
export function createTheiaOperator(options: TheiaOperatorOptions): TheiaOperator {
  let life: Life | undefined;
  return {
    start: async () => {
      if (options.dead === true || life?.isOver() === false) return;
      life = beginLife(options);
      await life.ready;
    },
    stop: async (how = 'kill') => {
      const ending = life;
      if (how === 'terminate') await ending?.giveUpLease();
      ending?.end();
    },
    isRunning: () => life?.isOver() === false,
  };
}

/** One process, from start to end. */
interface Life {
  readonly ready: Promise<void>;
  isOver(): boolean;
  giveUpLease(): Promise<void>;
  end(): void;
}

function beginLife(options: TheiaOperatorOptions): Life {
  const { api, clock, random, namespace, settings } = options;
  const killed = new AbortController();
  const hands = createHands({
    api,
    clock,
    random,
    namespace,
    pace: options.pace ?? measuredPace,
    signal: killed.signal,
  });
  const leadership = createLeadership(hands, identity(random));
  const exit = (error: unknown): void => {
    if (killed.signal.aborted) return;
    killed.abort();
    options.onExit?.(error instanceof Error ? error.message : String(error));
  };
  const context: SessionContext = {
    hands,
    settings,
    log: options.log ?? (() => undefined),
    oneAtATime: oneAtATime(),
    sessionsPerUser: options.sessionsPerUser,
    pollUrl: (session, url) => {
      pollUrl(context, session, url, options.urlAnswers ?? (() => true)).catch(ignoreKilled(context.log));
    },
  };
  const ready = Promise.withResolvers<void>();
  lead(context, options, leadership.acquire(), ready.resolve).catch(exit).finally(ready.resolve);
  ready.promise
    .then(() => leadership.keep())
    .then(() => exit('leadership lost'))
    .catch(exit);

  return {
    ready: ready.promise,
    isOver: () => killed.signal.aborted,
    giveUpLease: () => leadership.release().catch(ignoreKilled(context.log)),
    end: () => killed.abort(),
  };
}

/** Everything a leader does: first the AppDefinitions, one after the other, then the Sessions side by side. */
async function lead(
  context: SessionContext,
  options: TheiaOperatorOptions,
  acquired: Promise<void>,
  replayed: () => void,
): Promise<void> {
  const { api, namespace, deliver = (event: Heard) => [event] } = options;
  const feed = { api, namespace, hands: context.hands, deliver };
  await acquired;
  await context.hands.sleep(START_UP_MS);

  const sessions = createThreads(options.sessionThreads ?? 4);
  const failures = Promise.withResolvers<never>();
  const takeSession = (event: Heard): void => {
    sessions
      .run(event.object.metadata.uid ?? '', () =>
        hearSession(context, event, options.continueOnException === true),
      )
      .catch(failures.reject);
  };
  const takeApp = (event: Heard): Promise<void> =>
    hearAppDefinition(context, event, options.rollsOut !== false);
  const following = Promise.withResolvers<void>();
  const apps = follow(feed, APP_DEFINITIONS_V1BETA11, takeApp, following.resolve);
  await Promise.race([following.promise, apps]);
  replayed();
  await Promise.race([apps, follow(feed, SESSIONS, takeSession, () => undefined), failures.promise]);
}

/** A failure here is logged and dropped: the AppDefinition is not looked at again before its next event. */
async function hearAppDefinition(
  context: SessionContext,
  { type, object }: Heard,
  rollsOut: boolean,
): Promise<void> {
  const app = parseAppDefinition(object);
  if (app.kind === 'invalid')
    return context.log(`AppDefinition ${object.metadata.name}: ${app.field} ${app.reason}`);
  try {
    await handleAppDefinition(context, type, app.value, rollsOut);
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.log(`AppDefinition ${object.metadata.name}: ${error.message}`);
  }
}

async function handleAppDefinition(
  context: SessionContext,
  type: Heard['type'],
  app: AppDefinition,
  rollsOut: boolean,
): Promise<void> {
  if (type === 'DELETED') return releaseAll(context, app);
  if (type === 'MODIFIED' && !rollsOut) return;
  if (!(await passesRouteGate(context, app))) return;
  await (type === 'ADDED' ? ensureInstances(context, app) : reconcilePool(context, app));
}

/** MODIFIED is nothing to a Session. A failure ends the Session in ERROR, and then the process. */
async function hearSession(context: SessionContext, { type, object }: Heard, goesOn: boolean): Promise<void> {
  if (type === 'MODIFIED') return;
  const session = parseSession(object);
  if (session.kind === 'invalid')
    return context.log(`Session ${object.metadata.name}: ${session.field} ${session.reason}`);
  try {
    await (type === 'ADDED'
      ? handleSession(context, session.value)
      : handleDeletedSession(context, session.value));
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.log(`Session ${object.metadata.name}: ${error.message}`);
    if (type === 'ADDED')
      await fail(context, session.value, 'Unexpected error. Please check the operator logs.');
    if (!goesOn) throw error;
  }
}

async function pollUrl(
  context: SessionContext,
  session: Session,
  url: string,
  answers: () => boolean,
): Promise<void> {
  for (const [times, everyMs] of URL_TRIES) {
    for (let tries = 0; tries < times; tries += 1) {
      await context.hands.sleep(everyMs);
      if (answers()) return setStatus(context, session, { url });
    }
  }
}

const ignoreKilled =
  (log: (line: string) => void) =>
  (error: unknown): void => {
    if (error instanceof KilledError) return;
    log(error instanceof Error ? error.message : String(error));
  };

/** A UUID by chance, new for each process. */
function identity(random: Random): string {
  const hex = (length: number): string =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}
