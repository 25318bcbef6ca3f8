import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { KubeApi, Outcome } from '../kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS } from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Instance } from '../pool/types.ts';
import { appDefinition } from '../simulator/world/theia-install.ts';
import type { TheiaOperator } from '../simulator/world/theia-operator.ts';
import type { Users } from '../simulator/world/users.ts';
import type { PoolLook } from './look.ts';
import { isSettled } from './pool-view.ts';
import type { Tell } from './story.ts';

/** The pool of the demo world. */
const POOL = 'java-17';
const INSTANCES = 6;
/** Two at a time: a few, and quick enough to watch. */
const MAX_UNAVAILABLE = 2;
const ANNA = 'anna@example.org';
const BEN = 'ben@example.org';
const LOOK_EVERY_MS = 250;
/** Between two acts, so that a reader can follow. */
const PAUSE_MS = 1_000;
/** Between two rounds of the loop. */
const REST_MS = 10_000;

/** Where the demo is played, and with whom. */
export interface Stage {
  readonly clock: Clock;
  readonly namespace: string;
  /** The hands of a person with kubectl. */
  readonly person: KubeApi;
  readonly users: Users;
  readonly operator: TheiaOperator;
  /** The pools as they are now. */
  readonly look: () => Promise<readonly PoolLook[]>;
  /** Resolves when no pass runs or is due, so that one act ends before the next begins. */
  readonly idle: () => Promise<void>;
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

/**
 * The story of the incident that Everwarm is for: a pool in use, a release that the platform's operator sleeps through,
 * a Deployment that goes missing. Resolves when it is told; a stage whose signal aborts ends it early.
 */
export async function playDemo(stage: Stage): Promise<void> {
  await open(stage);
  await playRound(stage, 1, { leaves: BEN });
}

/** Goes on with one release after the other until the signal aborts. */
export async function playOn(stage: Stage): Promise<void> {
  for (let round = 2; !stage.signal.aborted; round += 1) {
    await until(stage, (looks) => looks.every(isSettled));
    await pause(stage, REST_MS);
    const guest = `guest-${round}@example.org`;
    await act(stage, () => stage.users.come(guest, POOL));
    await pause(stage, PAUSE_MS);
    await playRound(stage, round, { leaves: guest });
  }
}

async function open(stage: Stage): Promise<void> {
  const { operator, person, namespace, users, tell } = stage;
  await operator.start();
  tell({ type: 'Story', who: 'operator', what: 'the platform operator is up' });
  const policy = {
    apiVersion: 'everwarm.dev/v1alpha1',
    kind: 'WarmPool',
    metadata: { name: POOL },
    spec: { rollout: { maxUnavailable: MAX_UNAVAILABLE } },
  };
  await act(stage, () => person.create(WARM_POOLS, namespace, policy));
  const definition = appDefinition(POOL, { minInstances: INSTANCES, image: imageOf(0) });
  tell({ type: 'Story', who: 'person', what: `ships ${INSTANCES} instances of ${tagOf(0)}` });
  await act(stage, () => person.create(APP_DEFINITIONS_V1BETA11, namespace, definition));
  await until(stage, (looks) => instancesOf(looks).filter(isWarm).length === INSTANCES);
  await act(stage, () => users.come(ANNA, POOL));
  await act(stage, () => users.come(BEN, POOL));
  await until(stage, (looks) => instancesOf(looks).filter(isClaimed).length === 2);
  await pause(stage, PAUSE_MS);
}

/** One release, slept through by the operator; one user who leaves; one Deployment that goes missing. */
async function playRound(
  stage: Stage,
  round: number,
  { leaves }: { readonly leaves: string },
): Promise<void> {
  const { operator, tell, users } = stage;
  await operator.stop('terminate');
  tell({ type: 'Story', who: 'operator', what: 'is restarted by the release, and down' });
  await release(stage, round);
  await operator.start();
  tell({
    type: 'Story',
    who: 'operator',
    what: 'is back, hears ADDED and does nothing',
  });
  await pause(stage, PAUSE_MS);
  await act(stage, () => users.go(leaves, POOL));
  await until(stage, (looks) => instancesOf(looks).every((one) => isClaimed(one) || isFresh(one)));
  await stage.idle();
  await deleteOne(stage);
}

function release(stage: Stage, round: number): Promise<void> {
  const { person, namespace, tell } = stage;
  tell({ type: 'Story', who: 'person', what: `releases ${tagOf(round)}` });
  const patch = { spec: { image: imageOf(round) } };
  return act(stage, () =>
    person.patch(APP_DEFINITIONS_V1BETA11, { namespace, name: POOL }, { type: 'merge', patch }),
  );
}

/** Deletes the Deployment of the last free instance and waits for another; nobody but Everwarm notices. */
async function deleteOne(stage: Stage): Promise<void> {
  const { person, namespace } = stage;
  const [look] = await stage.look();
  const victim = look?.observation.observed.instances.findLast(
    (one) => one.claimedBy === undefined && one.workload !== undefined,
  );
  const name = look?.objects.find(({ metadata }) => metadata.uid === victim?.workload?.uid)?.metadata.name;
  if (name === undefined) return;
  await act(stage, () => person.delete(DEPLOYMENTS, { namespace, name }, { propagation: 'Background' }));
  await until(stage, (looks) =>
    instancesOf(looks).some(
      (one) =>
        one.slot === victim?.slot &&
        isFresh(one) &&
        one.workload !== undefined &&
        one.workload.uid !== victim.workload?.uid,
    ),
  );
}

const imageOf = (round: number): string => `registry.example.org/ide/${tagOf(round)}`;
const tagOf = (round: number): string => `java-17:1.${round}.0`;

const isClaimed = (one: Instance): boolean => one.claimedBy !== undefined;
const isWarm = (one: Instance): boolean => one.phase === 'ready' && one.withdrawn === undefined;
const isFresh = (one: Instance): boolean => isWarm(one) && one.drift.length === 0 && one.dirt === undefined;

function instancesOf(looks: readonly PoolLook[]): readonly Instance[] {
  return looks.flatMap(({ observation }) => observation.observed.instances);
}

/** Waits for the world, however long it takes. */
async function until(stage: Stage, holds: (looks: readonly PoolLook[]) => boolean): Promise<void> {
  while (!stage.signal.aborted) {
    const looks = await stage.look();
    if (looks.length > 0 && holds(looks)) return;
    await stage.clock.sleep(LOOK_EVERY_MS, stage.signal);
  }
}

function pause({ clock, signal }: Stage, ms: number): Promise<void> {
  return clock.sleep(ms, signal);
}

async function act<T>({ signal }: Stage, request: () => Promise<Outcome<T>>): Promise<void> {
  if (signal.aborted) return;
  const outcome = await request();
  if (outcome.kind !== 'ok') throw new TerminalError(`the demo cannot go on: ${outcome.message}`);
}
