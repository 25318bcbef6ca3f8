import { describe, expect, it } from 'vitest';
import { type Cluster, cluster, condition, DEPLOYMENTS, deployment, PODS, type Seen } from './cluster.ts';

const onlyPod = (world: Cluster): Seen | undefined => world.all(PODS)[0];
const waitingOf = (pod: Seen | undefined) => pod?.status?.containerStatuses?.at(-1)?.state.waiting;
const isReady = (pod: Seen | undefined): boolean => condition(pod, 'Ready')?.status === 'True';
const readyPods = (world: Cluster): number => world.all(PODS).filter(isReady).length;

/** A world with one Deployment of one pod, begun a moment ago. */
function oneDeployment(annotations: Record<string, string> = {}, options = {}): Cluster {
  const world = cluster(options);
  world.create(DEPLOYMENTS, deployment('web', {}, annotations));
  return world;
}

describe('a pod', () => {
  it('is bound at once, is Ready after the delay, and looks like a real one', () => {
    const world = oneDeployment({}, { readyAfterMs: 3_000 });
    world.runFor(100);
    expect(onlyPod(world)?.spec.nodeName).toBe('fake-0');
    expect(waitingOf(onlyPod(world))).toEqual({ reason: 'ContainerCreating' });
    world.runFor(2_800);
    expect(isReady(onlyPod(world))).toBe(false);
    world.runFor(200);

    const pod = onlyPod(world);
    expect(pod?.status).toMatchObject({
      phase: 'Running',
      podIP: '10.244.0.1',
      hostIP: '10.0.0.2',
      qosClass: 'BestEffort',
    });
    expect(pod?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
      'PodScheduled=True',
    ]);
    expect(pod?.status?.containerStatuses).toMatchObject([
      { name: 'ide', image: 'ide:1', imageID: 'fake://ide:1', ready: true, started: true, restartCount: 0 },
    ]);
  });

  it('that is deleted stands terminating and still Ready until it has stopped', () => {
    const world = oneDeployment({}, { stopAfterMs: 4_000 });
    world.runFor(5_000);
    const { name = '' } = onlyPod(world)?.metadata ?? {};
    world.remove(PODS, name);
    world.runFor(3_900);
    const stopping = world.find(PODS, name);
    expect(stopping?.metadata.deletionTimestamp).toBeDefined();
    expect(isReady(stopping)).toBe(true);
    world.runFor(200);
    expect(world.find(PODS, name)).toBeUndefined();
  });

  it.each([
    { title: 'its own start delay', note: { 'delay-ms': '8000' }, readyAt: { 7000: false, 9000: true } },
    { title: 'never to be Ready', note: { 'never-ready': 'true' }, readyAt: { 60000: false } },
    {
      title: 'to lose readiness',
      note: { 'unready-after-ms': '5000' },
      readyAt: { 3000: true, 8000: false },
    },
    { title: 'to stay unbound', note: { pending: 'true' }, readyAt: { 60000: false } },
  ])('can ask for $title', ({ note, readyAt }) => {
    const annotations = Object.fromEntries(
      Object.entries(note).map(([key, value]) => [`fakekubelet/${key}`, value]),
    );
    const world = oneDeployment(annotations);
    const start = world.now();
    for (const [at, expected] of Object.entries(readyAt)) {
      world.runFor(start + Number(at) - world.now());
      expect(isReady(onlyPod(world))).toBe(expected);
    }
    expect(onlyPod(world)?.spec.nodeName).toBe('pending' in note ? undefined : 'fake-0');
  });

  it('can ask for its own time to stop', () => {
    const world = oneDeployment({ 'fakekubelet/stop-ms': '9000' });
    world.runFor(5_000);
    const { name = '' } = onlyPod(world)?.metadata ?? {};
    world.remove(PODS, name);
    world.runFor(8_000);
    expect(world.find(PODS, name)).toBeDefined();
    world.runFor(1_500);
    expect(world.find(PODS, name)).toBeUndefined();
  });
});

describe('failures', () => {
  it('an image that cannot be pulled alternates between error and back-off, and starts once it is there', () => {
    const world = cluster();
    const lift = world.kubelet.fail(() => true, { kind: 'image' });
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(2_500);
    expect(waitingOf(onlyPod(world))).toMatchObject({ reason: 'ErrImagePull' });
    expect(onlyPod(world)?.status?.phase).toBe('Pending');
    world.runFor(2_000);
    expect(waitingOf(onlyPod(world))).toEqual({
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "ide:1"',
    });
    world.runFor(10_000);
    expect(waitingOf(onlyPod(world))?.reason).toBe('ErrImagePull');
    lift();
    world.runFor(22_000);
    expect(isReady(onlyPod(world))).toBe(true);
    expect(onlyPod(world)?.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it('an image that goes away does nothing to a pod that has it', () => {
    const world = oneDeployment();
    world.runFor(5_000);
    world.kubelet.fail(() => true, { kind: 'image' });
    world.runFor(60_000);
    expect(isReady(onlyPod(world))).toBe(true);
  });

  it('a crash loop takes a pod that served out of service and counts its restarts', () => {
    const world = oneDeployment();
    world.runFor(5_000);
    const lift = world.kubelet.fail(() => true, { kind: 'crash' });
    world.runFor(10);
    expect(isReady(onlyPod(world))).toBe(false);
    expect(waitingOf(onlyPod(world))?.message).toMatch(
      /^back-off 10s restarting failed container=ide pod=web-/,
    );
    world.runFor(35_000);
    expect(waitingOf(onlyPod(world))).toMatchObject({ reason: 'CrashLoopBackOff' });
    expect(onlyPod(world)?.status?.containerStatuses?.[0]?.restartCount).toBe(3);
    expect(condition(world.find(DEPLOYMENTS, 'web'), 'Available')?.status).toBe('False');
    lift();
    world.runFor(41_000);
    expect(isReady(onlyPod(world))).toBe(true);
    expect(onlyPod(world)?.status?.containerStatuses?.[0]?.restartCount).toBe(3);
  });

  it('the latest rule wins, and only the pods that it names are concerned', () => {
    const world = cluster();
    world.kubelet.fail(() => true, { kind: 'neverReady' });
    const isWeb = ({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith('web-');
    const lift = world.kubelet.fail(isWeb, { kind: 'crash' });
    world.create(DEPLOYMENTS, deployment('web'));
    world.create(DEPLOYMENTS, deployment('api'));
    world.runFor(3_000);
    expect(world.all(PODS).map((pod) => waitingOf(pod)?.reason)).toEqual([undefined, 'CrashLoopBackOff']);
    lift();
    world.runFor(20_000);
    expect(world.all(PODS).map((pod) => pod.status?.phase)).toEqual(['Running', 'Running']);
    expect(world.all(PODS).map((pod) => waitingOf(pod))).toEqual([undefined, undefined]);
    expect(readyPods(world)).toBe(0);
  });

  it('an unschedulable pod waits, says why, and goes on at once when it may', () => {
    const world = cluster();
    const lift = world.kubelet.fail(() => true, {
      kind: 'unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    });
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(60_000);
    expect(onlyPod(world)?.status?.phase).toBe('Pending');
    expect(condition(onlyPod(world), 'PodScheduled')).toEqual({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    });
    lift();
    world.runFor(2_100);
    expect(isReady(onlyPod(world))).toBe(true);
  });

  it('a full cluster takes the next pod when another has gone, not before it has stopped', () => {
    const world = cluster({ maxPods: 2, stopAfterMs: 1_000 });
    for (const name of ['a', 'b', 'c']) world.create(DEPLOYMENTS, deployment(name));
    world.runFor(10_000);
    expect(readyPods(world)).toBe(2);
    const waiting = world.all(PODS).find((pod) => !isReady(pod));
    expect(condition(waiting, 'PodScheduled')?.message).toMatch(
      /^0\/1 nodes are available: 1 Too many pods\./,
    );

    world.merge(DEPLOYMENTS, 'a', { spec: { replicas: 0 } });
    world.runFor(900);
    expect(world.find(PODS, waiting?.metadata.name ?? '')?.spec.nodeName).toBeUndefined();
    world.runFor(2_500);
    expect(isReady(world.find(PODS, waiting?.metadata.name ?? ''))).toBe(true);
  });

  it('a larger cluster takes who waited', () => {
    const world = cluster({ maxPods: 0 });
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(10_000);
    expect(readyPods(world)).toBe(0);
    world.kubelet.setMaxPods(undefined);
    world.runFor(2_500);
    expect(readyPods(world)).toBe(1);
  });

  it('a pod of a lost node stays terminating for ever, and another takes its place', () => {
    const world = oneDeployment();
    world.runFor(5_000);
    const { name = '' } = onlyPod(world)?.metadata ?? {};
    world.kubelet.fail(({ metadata }) => metadata.name === name, { kind: 'nodeLost' });
    world.remove(PODS, name);
    world.runFor(600_000);
    expect(world.find(PODS, name)?.metadata.deletionTimestamp).toBeDefined();
    expect(readyPods(world)).toBe(2);
    expect(world.find(DEPLOYMENTS, 'web')?.status?.readyReplicas).toBe(1);
  });

  it('readiness that was lost comes back when the cause is gone', () => {
    const world = oneDeployment();
    world.runFor(5_000);
    const lift = world.kubelet.fail(() => true, { kind: 'neverReady' });
    world.runFor(10);
    expect(condition(onlyPod(world), 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [ide]',
    });
    lift();
    world.runFor(10);
    expect(isReady(onlyPod(world))).toBe(true);
  });
});
