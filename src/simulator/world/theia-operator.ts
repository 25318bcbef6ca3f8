import type { Clock, Random } from '../../clock.ts';
import type { KubeApi, Resource } from '../../kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import type { Settings } from '../../platform/theia-cloud/settings.ts';
import { resyncForever } from './_operator-apps.ts';
import { hearAppDefinition, hearSession, hearWorkspace } from './_operator-hearing.ts';
import { createLeadership } from './_operator-lease.ts';
import type { SessionContext } from './_operator-session-steps.ts';
import { WORKSPACES } from './_operator-workspaces.ts';
import { createThreads, oneAtATime } from './_threads.ts';
import { AS_OBSERVED, type OperatorFaults } from './operator-faults.ts';
import { type Deliver, follow, type Heard } from './operator-feed.ts';
import { createHands, KilledError, measuredPace, type Pace } from './operator-hands.ts';

/** From leadership to the first handler, as measured. */
const START_UP_MS = 800;
export interface TheiaOperatorOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly settings: Settings;
  readonly deliver?: Deliver;
  /** Its faults, where it differs from what was observed (default: it has all of them). */
  readonly faults?: Partial<OperatorFaults>;
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
 * Sessions are given the lowest free slot by two separate patches. Left out: the data bridge, the activity monitor, the lifetime
 * of Sessions, persistent volumes, and the attempt to delete sidecars' pods as a collection (always refused, F13).
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
  const log = options.log ?? (() => undefined);
  const context: SessionContext = {
    hands,
    settings,
    faults: { ...AS_OBSERVED, ...options.faults },
    log,
    beside: (work) => {
      work().catch(ignoreKilled(log));
    },
    oneAtATime: oneAtATime(),
    sessionsPerUser: options.sessionsPerUser,
    urlAnswers: options.urlAnswers ?? (() => true),
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
    giveUpLease: () => leadership.release().catch(ignoreKilled(log)),
    end: () => killed.abort(),
  };
}

/**
 * Everything a leader does: first the AppDefinitions, one after the other, then the Workspaces, then the Sessions side by side.
 * Each kind is heard from then on.
 */
async function lead(
  context: SessionContext,
  options: TheiaOperatorOptions,
  acquired: Promise<void>,
  replayed: () => void,
): Promise<void> {
  const { api, namespace, deliver = (event: Heard) => [event] } = options;
  const { hands, faults } = context;
  const feed = { api, namespace, hands, deliver, hearsTwice: faults.hearsTwice };
  const goesOn = options.continueOnException === true;
  const rollsOut = options.rollsOut !== false;
  await acquired;
  await hands.sleep(START_UP_MS);

  const sessions = createThreads(options.sessionThreads ?? 4);
  const failures = Promise.withResolvers<never>();
  const takeSession = (event: Heard): void => {
    sessions
      .run(event.object.metadata.uid ?? '', () => hearSession(context, event, goesOn))
      .catch(failures.reject);
  };
  const takeApp = (event: Heard): Promise<void> => hearAppDefinition(context, event, rollsOut);
  const takeWorkspace = (event: Heard): Promise<void> => hearWorkspace(context, event, goesOn);
  const following: Promise<void>[] = [failures.promise];
  /** Resolves when everything of the kind that stands was replayed. */
  const hear = async (resource: Resource, take: (event: Heard) => Promise<void> | void): Promise<void> => {
    const listed = Promise.withResolvers<void>();
    following.push(follow(feed, resource, take, listed.resolve));
    await Promise.race([listed.promise, ...following]);
  };
  await hear(APP_DEFINITIONS_V1BETA11, takeApp);
  replayed();
  await hear(WORKSPACES, takeWorkspace);
  await hear(SESSIONS, takeSession);
  if (!faults.neverLooksAgain) following.push(resyncForever(context, rollsOut));
  await Promise.race(following);
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
