import { describe, expect, it } from 'vitest';
import {
  type Cluster,
  cluster,
  condition,
  DEPLOYMENTS,
  deployment,
  PODS,
  QUOTAS,
  REPLICA_SETS,
  type Seen,
  template,
} from './cluster.ts';

const progressing = (world: Cluster, name: string) => condition(world.find(DEPLOYMENTS, name), 'Progressing');
const available = (world: Cluster, name: string) => condition(world.find(DEPLOYMENTS, name), 'Available');
const imagesOf = (world: Cluster): readonly string[] =>
  world
    .all(PODS)
    .map((pod) => (pod.spec as unknown as { containers: { image: string }[] }).containers[0]?.image ?? '');

/** Every state of one Deployment's conditions and counts, in the order it went through them. */
function history(world: Cluster, name: string): readonly string[] {
  const steps = world.commits
    .filter(({ resource, object }) => resource.kind === 'Deployment' && object.metadata.name === name)
    .map(({ object }) => {
      const { status } = object as Seen;
      const conditions = (status?.conditions ?? []).map(
        ({ type, status: is, reason }) => `${type}=${is}:${reason}`,
      );
      return [`observed ${status?.observedGeneration ?? 0}`, ...conditions].join(' ');
    });
  return steps.filter((step, index) => step !== steps[index - 1]);
}

describe('a new Deployment', () => {
  it('gets a ReplicaSet and a pod that are controlled by what made them', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(30);

    const [set] = world.all(REPLICA_SETS);
    const [pod] = world.all(PODS);
    expect(set?.metadata.name).toMatch(/^web-[bcdf456789]+$/);
    expect(pod?.metadata.name).toMatch(new RegExp(`^${set?.metadata.name}-[a-z0-9]{5}$`));
    const owner = { apiVersion: 'apps/v1', controller: true, blockOwnerDeletion: true };
    expect(set?.metadata.ownerReferences).toEqual([
      { ...owner, kind: 'Deployment', name: 'web', uid: world.find(DEPLOYMENTS, 'web')?.metadata.uid },
    ]);
    expect(pod?.metadata.ownerReferences).toEqual([
      { ...owner, kind: 'ReplicaSet', name: set?.metadata.name, uid: set?.metadata.uid },
    ]);
    expect(pod?.metadata.labels).toEqual({
      app: 'web',
      'pod-template-hash': set?.metadata.labels?.['pod-template-hash'],
    });
  });

  it('tells of its progress as the real controller does, and its generation stays 1', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);

    expect(history(world, 'web')).toEqual([
      'observed 0',
      'observed 0 Progressing=True:NewReplicaSetCreated',
      'observed 1 Progressing=True:NewReplicaSetCreated Available=False:MinimumReplicasUnavailable',
      'observed 1 Available=False:MinimumReplicasUnavailable Progressing=True:ReplicaSetUpdated',
      'observed 1 Available=True:MinimumReplicasAvailable Progressing=True:NewReplicaSetAvailable',
    ]);
    const web = world.find(DEPLOYMENTS, 'web');
    expect(web?.status).toMatchObject({
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    });
    expect(web?.status).not.toHaveProperty('unavailableReplicas');
    expect(web?.metadata).toMatchObject({
      generation: 1,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
    });
  });

  it('then rests: an hour later nothing has been written', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);
    const before = world.store.revision();
    world.runFor(3_600_000);
    expect(world.store.revision()).toBe(before);
  });

  it('takes another name when a foreign ReplicaSet has taken its own', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(30);
    const [first] = world.all(REPLICA_SETS);
    const other = cluster();
    const { name, labels } = first?.metadata ?? { name: '', labels: {} };
    other.create(REPLICA_SETS, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: template('web', 'foreign:1') },
    });
    const foreign = other.create(REPLICA_SETS, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { ...template('web', 'foreign:1'), metadata: { labels } },
      },
    });
    expect(foreign.code).toBe(201);
    other.create(DEPLOYMENTS, deployment('web'));
    other.runFor(5_000);
    expect(available(other, 'web')?.status).toBe('True');
    expect(other.all(REPLICA_SETS)).toHaveLength(2);
  });
});

describe('scaling', () => {
  it('is not available while the second pod starts, although the first serves', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);
    world.merge(DEPLOYMENTS, 'web', { spec: { replicas: 2 } });
    // Until the controller looks, the old truth still shows: only observedGeneration tells.
    expect(available(world, 'web')?.status).toBe('True');
    expect(world.find(DEPLOYMENTS, 'web')?.status?.observedGeneration).toBe(1);

    world.runFor(100);
    expect(available(world, 'web')?.status).toBe('False');
    expect(world.find(DEPLOYMENTS, 'web')?.status).toMatchObject({
      readyReplicas: 1,
      unavailableReplicas: 1,
    });
    world.runFor(5_000);
    expect(available(world, 'web')?.status).toBe('True');
    expect(world.find(DEPLOYMENTS, 'web')?.status?.readyReplicas).toBe(2);
    // A roll-out that was complete stays so: scaling is none.
    expect(history(world, 'web').filter((step) => step.includes('ReplicaSetUpdated'))).toHaveLength(1);
  });

  it('down lets go of the pod that serves nobody', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web', { replicas: 3 }));
    world.runFor(5_000);
    const broken = world.all(PODS)[1]?.metadata.name ?? '';
    world.kubelet.fail(({ metadata }) => metadata.name === broken, { kind: 'neverReady' });
    world.runFor(100);
    world.merge(DEPLOYMENTS, 'web', { spec: { replicas: 2 } });
    world.runFor(5_000);
    expect(world.find(PODS, broken)).toBeUndefined();
    expect(world.find(DEPLOYMENTS, 'web')?.status?.readyReplicas).toBe(2);
  });

  it('to zero leaves no counts and stays available', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);
    world.merge(DEPLOYMENTS, 'web', { spec: { replicas: 0 } });
    world.runFor(5_000);
    expect(world.all(PODS)).toEqual([]);
    const { status } = world.find(DEPLOYMENTS, 'web') ?? {};
    expect(Object.keys(status ?? {}).sort()).toEqual(['conditions', 'observedGeneration']);
    expect(available(world, 'web')?.status).toBe('True');
  });
});

describe('a new image', () => {
  it.each([1, 2, 4])('rolls through %i replicas and the pool serves all the time', (replicas) => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web', { replicas }));
    world.runFor(5_000);
    const from = world.commits.length;
    world.merge(DEPLOYMENTS, 'web', { spec: { template: template('web', 'ide:2') } });
    let mostPods = 0;
    let fewestReady = replicas;
    for (let step = 0; step < 400; step += 1) {
      world.runFor(50);
      const pods = world.all(PODS).filter((pod) => pod.metadata.deletionTimestamp === undefined);
      mostPods = Math.max(mostPods, pods.length);
      fewestReady = Math.min(
        fewestReady,
        pods.filter((pod) => condition(pod, 'Ready')?.status === 'True').length,
      );
    }
    expect(imagesOf(world)).toEqual(Array.from({ length: replicas }, () => 'ide:2'));
    expect(mostPods).toBe(replicas + 1);
    expect(fewestReady).toBeGreaterThanOrEqual(replicas - Math.floor(replicas / 4));
    expect(
      world.commits
        .slice(from)
        .some(({ object }) => condition(object as Seen, 'Available')?.status === 'False'),
    ).toBe(false);
    expect(world.find(DEPLOYMENTS, 'web')?.metadata.annotations).toEqual({
      'deployment.kubernetes.io/revision': '2',
    });
  });

  it('with the strategy Recreate starts only when the last old pod has gone', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web', { strategy: { type: 'Recreate' } }));
    world.runFor(5_000);
    world.merge(DEPLOYMENTS, 'web', { spec: { template: template('web', 'ide:2') } });
    world.runFor(300);
    expect(imagesOf(world)).toEqual(['ide:1']);
    world.runFor(5_000);
    expect(imagesOf(world)).toEqual(['ide:2']);
    expect(progressing(world, 'web')?.reason).toBe('NewReplicaSetAvailable');
  });

  it('that is taken back uses the old ReplicaSet again', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);
    for (const image of ['ide:2', 'ide:1']) {
      world.merge(DEPLOYMENTS, 'web', { spec: { template: template('web', image) } });
      world.runFor(10_000);
    }
    expect(imagesOf(world)).toEqual(['ide:1']);
    expect(world.all(REPLICA_SETS)).toHaveLength(2);
    expect(world.find(DEPLOYMENTS, 'web')?.metadata.annotations).toEqual({
      'deployment.kubernetes.io/revision': '3',
    });
    expect(history(world, 'web').join(' ')).not.toContain('FoundNewReplicaSet');
  });

  it('keeps no more old ReplicaSets than the history asks for', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web', { revisionHistoryLimit: 1 }));
    for (let version = 2; version < 6; version += 1) {
      world.runFor(5_000);
      world.merge(DEPLOYMENTS, 'web', { spec: { template: template('web', `ide:${version}`) } });
    }
    world.runFor(20_000);
    expect(world.all(REPLICA_SETS)).toHaveLength(2);
  });
});

describe('what goes wrong', () => {
  it('is called stuck after its progress deadline, by name', () => {
    const world = cluster();
    world.kubelet.fail(() => true, { kind: 'neverReady' });
    world.create(DEPLOYMENTS, deployment('web', { progressDeadlineSeconds: 60 }));
    world.runFor(59_000);
    expect(progressing(world, 'web')?.status).toBe('True');
    world.runFor(4_000);
    expect(progressing(world, 'web')).toEqual({
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: `ReplicaSet "${world.all(REPLICA_SETS)[0]?.metadata.name}" has timed out progressing.`,
    });
  });

  it('has a new pod in place of one that was deleted, before the old one has stopped', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(5_000);
    const [old] = world.all(PODS);
    world.remove(PODS, old?.metadata.name ?? '');
    world.runFor(100);
    expect(world.all(PODS)).toHaveLength(2);
    expect(available(world, 'web')?.status).toBe('False');
    world.runFor(5_000);
    expect(world.all(PODS).map(({ metadata }) => metadata.uid)).not.toContain(old?.metadata.uid);
    expect(available(world, 'web')?.status).toBe('True');
  });

  it('says that a quota refuses its pods, tries again after 1, 2, 4 … seconds, and forgets it once it may', () => {
    const world = cluster();
    world.create(QUOTAS, { metadata: { name: 'pods' }, spec: { hard: { pods: '0' } } });
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(500);
    const failure = condition(world.find(DEPLOYMENTS, 'web'), 'ReplicaFailure');
    expect(failure).toMatchObject({ status: 'True', reason: 'FailedCreate' });
    expect(failure?.message).toMatch(
      /^pods "web-.+" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=0/,
    );

    // Each try names another pod, and yet nothing is written again.
    const written = world.store.revision();
    world.runFor(5_000);
    expect(world.store.revision()).toBe(written);

    // Tries are due after 1, 3, 7 and 15 s: lifting the quota brings none of them forward.
    world.runFor(2_500);
    world.merge(QUOTAS, 'pods', { spec: { hard: { pods: '5' } } });
    world.runFor(6_000);
    expect(world.all(PODS)).toEqual([]);
    world.runFor(4_000);
    expect(world.all(PODS)).toHaveLength(1);
    expect(condition(world.find(DEPLOYMENTS, 'web'), 'ReplicaFailure')).toBeUndefined();
  });

  it('a new annotation on a Deployment makes its refused pods be tried at once', () => {
    const world = cluster();
    world.create(QUOTAS, { metadata: { name: 'pods' }, spec: { hard: { pods: '0' } } });
    world.create(DEPLOYMENTS, deployment('web'));
    world.runFor(20_000);
    world.merge(QUOTAS, 'pods', { spec: { hard: { pods: '5' } } });
    world.runFor(500);
    expect(world.all(PODS)).toEqual([]);

    world.merge(DEPLOYMENTS, 'web', { metadata: { annotations: { 'example.org/nudge': '1' } } });
    world.runFor(500);
    expect(world.all(PODS)).toHaveLength(1);
  });

  it('stays as it is while paused', () => {
    const world = cluster();
    world.create(DEPLOYMENTS, deployment('web', { paused: true }));
    world.runFor(5_000);
    expect(world.all(REPLICA_SETS)).toEqual([]);
    world.merge(DEPLOYMENTS, 'web', { spec: { paused: null } });
    world.runFor(5_000);
    expect(available(world, 'web')?.status).toBe('True');
  });
});
