import type { Clock, Random } from '../../clock.ts';
import type { KubeApi, KubeObject, Outcome } from '../../kube/api.ts';
import { SESSIONS } from '../../platform/theia-cloud/resources.ts';

/** The people of a world: they ask for a Session and delete it again, as the platform's service does for them. */
export interface Users {
  /** Asks for a Session of `appDefinition`; its name follows from both, so a user has at most one of each. */
  come(user: string, appDefinition: string): Promise<Outcome<KubeObject>>;
  /** Ends that Session. */
  go(user: string, appDefinition: string): Promise<Outcome<void>>;
}

export interface UsersOptions {
  readonly api: KubeApi;
  readonly namespace: string;
}

export function createUsers({ api, namespace }: UsersOptions): Users {
  return {
    come: (user, appDefinition) => {
      const name = sessionName(user, appDefinition);
      return api.create(SESSIONS, namespace, {
        apiVersion: 'theia.cloud/v1beta8',
        kind: 'Session',
        metadata: { name },
        spec: { name, appDefinition, user, sessionSecret: '00000000-0000-4000-8000-000000000001' },
      });
    },
    go: (user, appDefinition) =>
      api.delete(
        SESSIONS,
        { namespace, name: sessionName(user, appDefinition) },
        { propagation: 'Background' },
      ),
  };
}

/** The name of a user's Session without a Workspace, as the platform's service makes it. */
export function sessionName(user: string, appDefinition: string): string {
  const workspace = `ws-${appDefinition}-${user}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
  return `${workspace.slice(0, 54)}-session`;
}

export interface CrowdOptions {
  readonly users: Users;
  readonly clock: Clock;
  readonly random: Random;
  readonly appDefinition: string;
  /** How many people there are; each comes, stays and goes by itself. */
  readonly people: number;
  /** Mean time between going and coming back. */
  readonly awayMs: number;
  /** Mean time of a Session. */
  readonly stayMs: number;
}

/** Lets a crowd come and go until the returned function is called; who is there then stays. */
export function runCrowd(options: CrowdOptions): () => void {
  const stopped = new AbortController();
  for (let person = 1; person <= options.people; person += 1) {
    // Whatever a request comes to, the person tries again after the next pause.
    void live(options, `learner-${person}@example.org`, stopped.signal);
  }
  return () => stopped.abort();
}

async function live(options: CrowdOptions, user: string, signal: AbortSignal): Promise<void> {
  const { users, clock, random, appDefinition, awayMs, stayMs } = options;
  const pause = (meanMs: number): Promise<void> => clock.sleep(2 * meanMs * random(), signal);
  for (;;) {
    await pause(awayMs);
    if (signal.aborted) return;
    await users.come(user, appDefinition);
    await pause(stayMs);
    if (signal.aborted) return;
    await users.go(user, appDefinition);
  }
}
