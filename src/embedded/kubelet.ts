import type { Random } from '../clock.ts';
import type { KubeObject } from '../kube/api.ts';
import {
  creatingStatus,
  type PodFacts,
  runningStatus,
  unschedulableStatus,
  waitingStatus,
} from './_pod-status.ts';
import { createWorkList } from './_work-list.ts';
import { cacheKind } from './_workload-cache.ts';
import { isActive, keyOf, PODS, type Pod, readySince } from './_workloads.ts';
import type { Json } from './json.ts';
import type { Actor, Store } from './types.ts';

/** The one node of the embedded cluster. */
const NODE_NAME = 'fake-0';
const SCHEDULER = 'system:kube-scheduler';
const NODE = `system:node:${NODE_NAME}`;

/** A pull that failed is called a back-off after this time; a container that fails waits this long, doubled each time. */
const PULL_NEWS_MS = 2_000;
const BACK_OFF_FIRST_MS = 10_000;
const BACK_OFF_MAX_MS = 300_000;

export interface KubeletOptions {
  readonly now: () => number;
  readonly random: Random;
  /** From binding to Ready (default 2 s), plus up to `jitterMs` by chance. */
  readonly readyAfterMs?: number;
  readonly jitterMs?: number;
  /** From a graceful deletion to the object's end (default 500 ms; the grace of 30 s is not used up). */
  readonly stopAfterMs?: number;
  /** How many pods the node takes, those still stopping included; without it any number. */
  readonly maxPods?: number;
}

/**
 * What goes wrong with a pod. `image`: the image of `container` cannot be pulled. `crash`: `container` ends right after each
 * start. `unschedulable`: no node takes it. `neverReady`: it runs and never serves. `nodeLost`: its node is gone, so nothing
 * happens to it any more, and deleting it never ends. `container` is the last one unless it is named.
 */
type PodFailure =
  | { readonly kind: 'image' | 'crash'; readonly container?: string }
  | { readonly kind: 'unschedulable'; readonly message?: string }
  | { readonly kind: 'neverReady' | 'nodeLost' };

/** The scheduler and the only node's kubelet. Pods may steer it with the annotations `fakekubelet/…`. */
export interface Kubelet extends Actor {
  /**
   * From now on `failure` befalls every pod for which `when` holds, those that run included; the latest rule wins. The
   * returned function lifts it: what waits for a place goes on at once, what is in back-off after its back-off.
   */
  fail(when: (pod: KubeObject) => boolean, failure: PodFailure): () => void;
  /** Changes how long pods bound from now on take to become Ready. */
  setReadyAfter(ms: number): void;
  /** Changes how many pods the node takes; nobody who has a place loses it. */
  setMaxPods(maxPods: number | undefined): void;
}

interface PodState {
  readonly ip: string;
  step: 'unbound' | 'bound' | 'creating' | 'pullFailed' | 'pullWaits' | 'crashed' | 'up';
  /** When the step is over, epoch ms. */
  until: number;
  tries: number;
  stopAt: number | undefined;
  unreadyAt: number | undefined;
}

interface Rule {
  readonly when: (pod: KubeObject) => boolean;
  readonly failure: PodFailure;
}

/** A scheduler and kubelet that run nothing: pods become Ready after a delay and end after another, unless told to fail. */
export function createKubelet(store: Store, options: KubeletOptions): Kubelet {
  const { now, random } = options;
  const work = createWorkList();
  const states = new Map<string, PodState>();
  const rules = new Set<Rule>();
  let { readyAfterMs = 2_000, maxPods } = options;
  let addresses = 0;

  const lookAtAll = (unboundOnly: boolean): void => {
    for (const pod of pods.all()) {
      if (!unboundOnly || pod.spec.nodeName === undefined) work.add(keyOf(pod), now());
    }
  };
  const stateOf = (pod: Pod): PodState => {
    const uid = pod.metadata.uid ?? '';
    const known = states.get(uid);
    if (known !== undefined) return known;
    addresses += 1;
    const state = firstState(pod, `10.244.${(addresses >> 8) & 255}.${addresses & 255}`, now());
    states.set(uid, state);
    return state;
  };
  const pods = cacheKind<Pod>(store, PODS, (pod, commit) => {
    if (commit?.type === 'DELETED') {
      states.delete(pod.metadata.uid ?? '');
      work.drop(keyOf(pod));
      lookAtAll(true);
    } else work.add(keyOf(pod), now());
  });
  const bench: Bench = {
    store,
    now,
    readyDelayMs: (pod) => noteMs(pod, 'delay-ms') ?? readyAfterMs + random() * (options.jitterMs ?? 0),
    stopDelayMs: (pod) => noteMs(pod, 'stop-ms') ?? options.stopAfterMs ?? 500,
    failureOf: (pod) => [...rules].findLast(({ when }) => when(pod))?.failure ?? notedFailure(pod),
    isFull: () => maxPods !== undefined && countBound(pods.all()) >= maxPods,
  };

  return {
    name: 'kubelet',
    dueAt: () => work.dueAt(),
    run: () => {
      const key = work.take(now());
      const pod = key === undefined ? undefined : pods.get(key);
      if (key === undefined || pod === undefined) return;
      const again = tend(bench, pod, stateOf(pod));
      if (again !== undefined) work.add(key, again);
    },
    fail: (when, failure) => {
      const rule = { when, failure };
      rules.add(rule);
      lookAtAll(false);
      return () => {
        rules.delete(rule);
        lookAtAll(false);
      };
    },
    setReadyAfter: (ms) => {
      readyAfterMs = ms;
    },
    setMaxPods: (limit) => {
      maxPods = limit;
      lookAtAll(true);
    },
  };
}

interface Bench {
  readonly store: Store;
  readonly now: () => number;
  readonly readyDelayMs: (pod: Pod) => number;
  readonly stopDelayMs: (pod: Pod) => number;
  readonly failureOf: (pod: Pod) => PodFailure | undefined;
  readonly isFull: () => boolean;
}

/** A pod that was there before the kubelet goes on from where its status says it is. */
function firstState(pod: Pod, ip: string, now: number): PodState {
  const step = readySince(pod) !== undefined ? 'up' : pod.spec.nodeName === undefined ? 'unbound' : 'bound';
  const known = pod.status?.['podIP'];
  return {
    ip: typeof known === 'string' ? known : ip,
    step,
    until: now,
    tries: 0,
    stopAt: undefined,
    unreadyAt: undefined,
  };
}

const note = (pod: Pod, name: string): string | undefined =>
  pod.metadata.annotations?.[`fakekubelet/${name}`];

function noteMs(pod: Pod, name: string): number | undefined {
  const ms = Number(note(pod, name) ?? Number.NaN);
  return Number.isNaN(ms) ? undefined : ms;
}

const notedFailure = (pod: Pod): PodFailure | undefined =>
  note(pod, 'never-ready') === 'true' ? { kind: 'neverReady' } : undefined;

function countBound(pods: Iterable<Pod>): number {
  let bound = 0;
  for (const pod of pods) {
    if (pod.spec.nodeName !== undefined && (isActive(pod) || pod.metadata.deletionTimestamp !== undefined))
      bound += 1;
  }
  return bound;
}

/** One step of one pod's life (at most one write); returns when the next is due, if time alone brings it. */
function tend(bench: Bench, pod: Pod, state: PodState): number | undefined {
  const failure = bench.failureOf(pod);
  if (failure?.kind === 'nodeLost') return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return stop(bench, pod, state);
  if (!isActive(pod) || note(pod, 'pending') === 'true') return undefined;
  if (pod.spec.nodeName === undefined) return schedule(bench, pod, failure);
  if (pod.spec.nodeName !== NODE_NAME) return undefined;
  return run(bench, pod, state, failure);
}

function stop(bench: Bench, pod: Pod, state: PodState): number | undefined {
  state.stopAt ??= bench.now() + bench.stopDelayMs(pod);
  if (bench.now() < state.stopAt) return state.stopAt;
  const { namespace = '', name, uid = '' } = pod.metadata;
  const options = { gracePeriodSeconds: 0, preconditions: { uid } };
  bench.store.execute({ verb: 'delete', resource: PODS, namespace, name, options, user: NODE });
  return undefined;
}

function schedule(bench: Bench, pod: Pod, failure: PodFailure | undefined): undefined {
  const { namespace = '', name } = pod.metadata;
  if (failure?.kind === 'unschedulable' || bench.isFull()) {
    const message = failure?.kind === 'unschedulable' ? failure.message : undefined;
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (known?.reason === 'Unschedulable') return undefined;
    writeStatus(bench, pod, unschedulableStatus(pod, bench.now(), message ?? TOO_MANY_PODS), SCHEDULER);
    return undefined;
  }
  const target = { apiVersion: 'v1', kind: 'Node', name: NODE_NAME };
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid: pod.metadata.uid }, target };
  const place = { resource: PODS, namespace, name, subresource: 'binding' };
  bench.store.execute({ verb: 'create', ...place, body, user: SCHEDULER });
  return undefined;
}

const TOO_MANY_PODS =
  '0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';

function run(bench: Bench, pod: Pod, state: PodState, failure: PodFailure | undefined): number | undefined {
  const now = bench.now();
  if (state.step === 'unbound' || state.step === 'bound') {
    state.step = 'creating';
    state.until = now + bench.readyDelayMs(pod);
    writeStatus(bench, pod, creatingStatus(pod, factsOf(state, now)), NODE);
    return state.until;
  }
  if (now < state.until) return state.until;
  if (failure?.kind === 'image' && state.step !== 'up') return failPull(bench, pod, state, failure.container);
  if (failure?.kind === 'crash') return crash(bench, pod, state, failure.container);
  return serve(bench, pod, state, failure?.kind !== 'neverReady');
}

/** A failed pull shows as an error first and as a back-off until the next try. */
function failPull(bench: Bench, pod: Pod, state: PodState, container: string | undefined): number {
  const name = container ?? lastContainer(pod);
  const image = pod.spec.containers?.find((candidate) => candidate.name === name)?.image ?? '';
  const tried = state.step === 'pullFailed';
  state.step = tried ? 'pullWaits' : 'pullFailed';
  if (!tried) state.tries += 1;
  state.until = bench.now() + (tried ? backOffMs(state.tries) : PULL_NEWS_MS);
  const waiting = tried
    ? { container: name, reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` }
    : {
        container: name,
        reason: 'ErrImagePull',
        message: `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`,
      };
  writeStatus(bench, pod, waitingStatus(pod, { ...factsOf(state, bench.now()), restarts: 0 }, waiting), NODE);
  return state.until;
}

function crash(bench: Bench, pod: Pod, state: PodState, container: string | undefined): number {
  const name = container ?? lastContainer(pod);
  state.tries = state.step === 'crashed' ? state.tries + 1 : 1;
  state.step = 'crashed';
  const backOff = backOffMs(state.tries);
  state.until = bench.now() + backOff;
  const { namespace, name: podName, uid } = pod.metadata;
  const message = `back-off ${backOff / 1_000}s restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
  const waiting = { container: name, reason: 'CrashLoopBackOff', message };
  writeStatus(bench, pod, waitingStatus(pod, factsOf(state, bench.now()), waiting), NODE);
  return state.until;
}

function serve(bench: Bench, pod: Pod, state: PodState, willing: boolean): number | undefined {
  const now = bench.now();
  if (state.step !== 'up') {
    state.step = 'up';
    state.until = now;
    const limit = noteMs(pod, 'unready-after-ms');
    state.unreadyAt = limit === undefined ? undefined : now + limit;
  }
  const ready = willing && (state.unreadyAt ?? Number.POSITIVE_INFINITY) > now;
  const isReady = readySince(pod) !== undefined;
  if (pod.status?.phase !== 'Running' || ready !== isReady || state.tries > 0) {
    state.tries = 0;
    writeStatus(bench, pod, runningStatus(pod, factsOf(state, now), ready), NODE);
  }
  return state.unreadyAt !== undefined && state.unreadyAt > now ? state.unreadyAt : undefined;
}

const lastContainer = (pod: Pod): string => pod.spec.containers?.at(-1)?.name ?? '';
const backOffMs = (tries: number): number => Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (tries - 1));
const factsOf = (state: PodState, now: number): PodFacts => ({ now, ip: state.ip, restarts: state.tries });

function writeStatus(bench: Bench, pod: Pod, status: Json, user: string): void {
  const { namespace = '', name } = pod.metadata;
  const body = { ...pod, status };
  bench.store.execute({ verb: 'update', resource: PODS, namespace, name, subresource: 'status', body, user });
}
