import { type Condition, type Container, type Pod, timestamp } from './_workloads.ts';
import { type Json, list, record } from './json.ts';

/** What is true of a pod's containers when its status is written. */
export interface PodFacts {
  readonly now: number;
  readonly ip: string;
  /** How often the containers were restarted. */
  readonly restarts: number;
}

/** A container that does not run, as `kubectl` shows it. */
export interface Waiting {
  readonly container: string;
  readonly reason: string;
  readonly message?: string;
}

/** Bound, nothing runs yet. */
export function creatingStatus(pod: Pod, facts: PodFacts): Json {
  return { ...startedStatus(pod, facts, [], allWaiting(pod)), phase: 'Pending' };
}

/** Every container runs; `ready` tells whether the pod serves. */
export function runningStatus(pod: Pod, facts: PodFacts, ready: boolean): Json {
  const unready = ready ? [] : containersOf(pod).map(({ name }) => name);
  return { ...startedStatus(pod, facts, unready, []), phase: 'Running', ...addressOf(facts) };
}

/** One container waits for its image or for its next start; the others run if the pod got that far. */
export function waitingStatus(pod: Pod, facts: PodFacts, waiting: Waiting): Json {
  const pulled = facts.restarts > 0;
  const status = startedStatus(pod, facts, [waiting.container], [waiting]);
  return { ...status, phase: pulled ? 'Running' : 'Pending', ...addressOf(facts) };
}

/** No node takes the pod. */
export function unschedulableStatus(pod: Pod, now: number, message: string): Json {
  const finding = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
  return { ...pod.status, phase: 'Pending', conditions: [condition(pod, finding, now)] };
}

const containersOf = (pod: Pod): readonly Container[] => pod.spec.containers ?? [];

const allWaiting = (pod: Pod): readonly Waiting[] =>
  containersOf(pod).map(({ name }) => ({ container: name, reason: 'ContainerCreating' }));

const addressOf = ({ ip }: PodFacts): Json => ({ podIP: ip, podIPs: [{ ip }] });

function startedStatus(
  pod: Pod,
  facts: PodFacts,
  unready: readonly string[],
  waiting: readonly Waiting[],
): Json {
  const { now } = facts;
  const idle = new Set([...unready, ...waiting.map(({ container }) => container)]);
  const readiness =
    idle.size === 0
      ? ({ status: 'True' } as const)
      : ({
          status: 'False',
          reason: 'ContainersNotReady',
          message: `containers with unready status: [${[...idle].join(' ')}]`,
        } as const);
  const creating = waiting.length === containersOf(pod).length && waiting[0]?.reason === 'ContainerCreating';
  return {
    ...pod.status,
    hostIP: '10.0.0.2',
    startTime: pod.status?.['startTime'] ?? timestamp(now),
    conditions: [
      condition(pod, { type: 'PodReadyToStartContainers', status: creating ? 'False' : 'True' }, now),
      condition(pod, { type: 'Initialized', status: 'True' }, now),
      condition(pod, { type: 'Ready', ...readiness }, now),
      condition(pod, { type: 'ContainersReady', ...readiness }, now),
      condition(pod, { type: 'PodScheduled', status: 'True' }, now),
    ],
    containerStatuses: containersOf(pod).map((container) =>
      containerStatus(pod, container, facts, idle, waiting),
    ),
  };
}

function condition(pod: Pod, finding: Condition, now: number): Json {
  const known = pod.status?.conditions?.find(({ type }) => type === finding.type);
  const lastTransitionTime = known?.status === finding.status ? known.lastTransitionTime : undefined;
  return { lastProbeTime: null, lastTransitionTime: lastTransitionTime ?? timestamp(now), ...finding };
}

function containerStatus(
  pod: Pod,
  { name, image }: Container,
  { now, restarts }: PodFacts,
  idle: ReadonlySet<string>,
  waiting: readonly Waiting[],
): Json {
  const wait = waiting.find(({ container }) => container === name);
  const id = `fake://${pod.metadata.uid}/${name}`;
  const common = { name, image, ready: !idle.has(name), started: wait === undefined };
  if (wait === undefined) {
    const startedAt = startedBefore(pod, name) ?? timestamp(now);
    return {
      ...common,
      imageID: `fake://${image}`,
      containerID: id,
      restartCount: restartsBefore(pod, name),
      lastState: {},
      state: { running: { startedAt } },
    };
  }
  const { container: _, ...state } = wait;
  const crashed = restarts > 0;
  const at = timestamp(now);
  return {
    ...common,
    imageID: crashed ? `fake://${image}` : '',
    ...(crashed ? { containerID: id } : {}),
    restartCount: restarts,
    lastState: crashed
      ? { terminated: { exitCode: 1, reason: 'Error', startedAt: at, finishedAt: at, containerID: id } }
      : {},
    state: { waiting: state },
  };
}

const statusOf = (pod: Pod, container: string): Json =>
  record(list(pod.status?.['containerStatuses']).find((status) => record(status)['name'] === container));

function startedBefore(pod: Pod, container: string): unknown {
  return record(record(statusOf(pod, container)['state'])['running'])['startedAt'];
}

function restartsBefore(pod: Pod, container: string): unknown {
  return statusOf(pod, container)['restartCount'] ?? 0;
}
