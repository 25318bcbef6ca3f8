import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { DEPLOYMENTS, PODS, SERVICES } from '../../src/platform/theia-cloud/resources.ts';
import type { Everwarm } from '../../src/simulator/_everwarm.ts';
import type { World } from '../../src/simulator/world.ts';
import type { RemoteKubelet } from '../real-cluster/kubelet.ts';
import type { View } from '../real-cluster/mirror.ts';
import type { Witness } from './_witness.ts';

export interface Scene {
  readonly witness: Pick<Witness, 'calledAt'>;
  readonly everwarm: Everwarm;
  readonly kubelet: RemoteKubelet;
  readonly view: View;
  /** A wait up to this long is kept to the letter; a longer one ends early where nothing happens for as long as this. */
  readonly letterMs: number;
  /** For the message of a story that does not end. */
  readonly told: () => string;
}

const LOOK_EVERY_MS = 20;
/** No wait is longer than this: what a longer one would show is told on the embedded server alone. */
const WAIT_MAX_MS = 75_000;
/** Asking Everwarm for its plans costs the server a dozen requests. */
const ASK_EVERY_MS = 1_000;
/** What the kubelet does by itself later than this counts as a back-off. */
const BUSY_MS = 5_000;
/** What the controllers do by themselves they do within this time; where they seem to have done it, sooner. */
const QUIET_MS = 6_000;
const DONE_QUIET_MS = 1_000;
/** A wait this long means what is due by then, too: on a busy machine that takes a moment more. */
const DUE_MS = 500;
const CALM_MS = 400;
const CATCH_UP_MS = 20_000;
const PATIENCE_MS = 420_000;

/** The ways in which time passes where it cannot be told to. */
export function timeOf(scene: Scene): Pick<World, 'run' | 'runUntil' | 'settle'> {
  const { everwarm, kubelet, view, letterMs, witness } = scene;
  let heardAt = systemClock.now();
  view.onCommit(({ resource }) => {
    // The operator renews its Lease for as long as it runs.
    if (resource.plural !== 'leases') heardAt = systemClock.now();
  });
  const isQuiet = () => {
    const due = kubelet.dueAt();
    const isBusy = due !== undefined && due <= systemClock.now() + BUSY_MS;
    return everwarm.isIdle() && !isBusy;
  };
  const sinceNewsMs = () => systemClock.now() - heardAt;
  const sinceCallMs = () => systemClock.now() - witness.calledAt();
  const isStill = () => isQuiet() && sinceNewsMs() >= (hasSettled(view) ? DONE_QUIET_MS : QUIET_MS);
  /** Until `claim` holds, or until then. */
  const waitUntil = async (claim: () => boolean, end: number) => {
    while (!claim() && systemClock.now() < end) await systemClock.sleep(LOOK_EVERY_MS);
  };
  const runUntil: World['runUntil'] = async (claim, limitMs = PATIENCE_MS) => {
    const end = systemClock.now() + Math.min(limitMs, PATIENCE_MS);
    while (!claim()) {
      if (systemClock.now() >= end)
        throw new Error(`after ${limitMs} ms it is still not so: ${claim}; ${scene.told()}`);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  };
  return {
    runUntil,
    run: async (ms) => {
      const end = systemClock.now() + Math.min(ms, Math.max(letterMs, WAIT_MAX_MS));
      await systemClock.sleep(Math.min(ms, letterMs));
      await waitUntil(() => isQuiet() && sinceNewsMs() >= letterMs, end);
      if (ms >= DUE_MS)
        await waitUntil(() => sinceNewsMs() >= CALM_MS && sinceCallMs() >= CALM_MS, end + CATCH_UP_MS);
    },
    settle: async (limitMs = PATIENCE_MS) => {
      const end = systemClock.now() + Math.min(limitMs, PATIENCE_MS);
      for (;;) {
        await systemClock.sleep(LOOK_EVERY_MS);
        if (isStill()) {
          if (!(await everwarm.hasPlans())) return;
          await systemClock.sleep(ASK_EVERY_MS);
        }
        if (systemClock.now() >= end) throw new Error(`not settled after ${limitMs} ms: ${scene.told()}`);
      }
    },
  };
}

/** No controller has anything left to do for a Deployment, and nothing is on its way out. */
function hasSettled(view: View): boolean {
  const objects = [...view.list(DEPLOYMENTS), ...view.list(PODS), ...view.list(SERVICES)];
  return (
    objects.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
    view.list(DEPLOYMENTS).every(isSettled)
  );
}

function isSettled(deployment: KubeObject): boolean {
  const { replicas: wanted = 1 } = (deployment['spec'] ?? {}) as { replicas?: number };
  const status = (deployment['status'] ?? {}) as DeploymentStatus;
  const { observedGeneration, replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const isSeen = observedGeneration === deployment.metadata.generation;
  return isSeen && replicas === wanted && availableReplicas === readyReplicas;
}

interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}
