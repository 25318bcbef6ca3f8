import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICES,
} from '../../src/platform/theia-cloud/resources.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import {
  condition,
  end,
  expectRest,
  imagesOf,
  instancesOf,
  listenToWrites,
  message,
  NEW,
  OLD,
  open,
  watch,
} from './_story.ts';

const LSP = { name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000, languages: ['java'] };
const SHARED = { ...LSP, mountWorkspace: true };

/** A pool whose instances have a sidecar, made by an operator that leaves releases to Everwarm. */
async function openWith(sidecar: object, instances = 3): Promise<World> {
  const world = await createWorld({ operator: { rollsOut: false } });
  world.startEverwarm();
  await world.startOperator();
  world.createPool('java', { minInstances: instances, image: OLD, sidecars: [sidecar] });
  await world.settle();
  return world;
}

const isOf = (slot: number) => (object: KubeObject) => object.metadata.name.startsWith(`instance-${slot}-`);
const named = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.uid ?? '');

/** The volume and the sidecar of a slot, by uid. */
function volumeOf(world: World, slot: number): string | undefined {
  return named(world.cluster.admin.list(PERSISTENT_VOLUME_CLAIMS).filter(isOf(slot)))[0];
}
function sidecarOf(world: World, slot: number): KubeObject | undefined {
  return world.cluster.admin.list(DEPLOYMENTS).filter(isOf(slot)).find(isSidecar);
}
const isSidecar = ({ metadata }: KubeObject) => metadata.labels?.['theia-cloud.io/sidecar'] !== undefined;

function everythingOf(world: World, slot: number): readonly string[] {
  return [SERVICES, DEPLOYMENTS, CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS].flatMap((kind) =>
    world.cluster.admin
      .list(kind)
      .filter(isOf(slot))
      .map((object) => `${object.kind}/${object.metadata.name}`),
  );
}

function imageOf(deployment: KubeObject | undefined): string | undefined {
  const { spec } = (deployment ?? {}) as unknown as {
    spec?: { template: { spec: { containers: readonly { readonly image: string }[] } } };
  };
  return spec?.template.spec.containers[0]?.image;
}

describe('a pool whose instances share a volume with a sidecar', () => {
  it('is adopted without a write', async () => {
    const world = await openWith(SHARED);
    const writes = listenToWrites(world);
    await end(world);
    expect(writes).toEqual([]);
    expect([1, 2, 3].map((slot) => everythingOf(world, slot).length)).toEqual([8, 8, 8]);
  });

  it('goes through a release in its batches; the volumes stay, for nobody has used them', async () => {
    const world = await openWith(SHARED, 4);
    const volumes = [1, 2, 3, 4].map((slot) => volumeOf(world, slot));
    const sidecars = named([1, 2, 3, 4].map((slot) => sidecarOf(world, slot) as KubeObject));
    const lookout = watch(world);
    world.changePool('java', { image: NEW });
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW, NEW, NEW]);
    expect(lookout.fewest()).toBeGreaterThanOrEqual(3);
    expect([1, 2, 3, 4].map((slot) => volumeOf(world, slot))).toEqual(volumes);
    expect(named([1, 2, 3, 4].map((slot) => sidecarOf(world, slot) as KubeObject))).not.toEqual(sidecars);
  });

  it('gives the next user a new volume and a new sidecar, although the operator was down when the last one left', async () => {
    const world = await openWith(SHARED, 2);
    const user = world.claim('java');
    await world.run(5_000);
    const used = [volumeOf(world, 1), sidecarOf(world, 1)?.metadata.uid];
    expect(world.slot('java', 1).claimedBy).toBe(world.session(user)?.metadata.uid);
    await world.stopOperator();
    world.release(user);
    await end(world);
    expect(volumeOf(world, 1)).toBeDefined();
    expect(used).not.toContain(volumeOf(world, 1));
    expect(used).not.toContain(sidecarOf(world, 1)?.metadata.uid);
  });

  it('loses everything of the slots that are no longer wanted, their volumes too', async () => {
    const world = await openWith(SHARED);
    await world.stopOperator();
    await world.run(20_000);
    world.changePool('java', { minInstances: 1 });
    await end(world);
    expect([2, 3].map((slot) => everythingOf(world, slot))).toEqual([[], []]);
    expect(everythingOf(world, 1)).toHaveLength(8);
  });
});

describe('a volume that does not go', () => {
  it('keeps its slot waiting, and is told by its name and its cure; nothing is made beside it', async () => {
    const world = await openWith(SHARED, 2);
    const user = world.claim('java');
    await world.run(5_000);
    const volume = world.cluster.admin.list(PERSISTENT_VOLUME_CLAIMS).find(isOf(1))?.metadata.name ?? '';
    const finalizers = ['kubernetes.io/pvc-protection', 'example.org/backup'];
    world.cluster.admin.merge(PERSISTENT_VOLUME_CLAIMS, volume, { metadata: { finalizers } });
    await world.stopOperator();
    world.release(user);
    await world.runUntil(() => condition(world, 'Degraded') === 'True Blocked', 180_000);
    const said = `storage: slots 1 (PersistentVolumeClaim ${volume} is being deleted since `;
    expect(message(world, 'Degraded')).toContain(said);
    expect(message(world, 'Degraded')).toContain('look for the pod that uses it');
    expect(world.part('java', 1, 'deployment')).toBeUndefined();
    expect(world.slot('java', 1).claimable).toBe(false);

    world.cluster.admin.merge(PERSISTENT_VOLUME_CLAIMS, volume, { metadata: { finalizers: null } });
    await end(world);
    expect(volumeOf(world, 1)).toBeDefined();
  });
});

describe('a sidecar', () => {
  it('that the operator took away at a change of the definition is back soon, in instances that stay', async () => {
    const world = await openWith(LSP);
    for (const slot of [1, 2, 3])
      world.cluster.admin.remove(DEPLOYMENTS, sidecarOf(world, slot)?.metadata.name ?? '');
    const before = instancesOf(world);
    await end(world);
    expect([1, 2, 3].map((slot) => imageOf(sidecarOf(world, slot)))).toEqual([
      LSP.image,
      LSP.image,
      LSP.image,
    ]);
    expect(instancesOf(world)).toEqual(before);
  });

  it('of which the definition wants another image is made anew with its instance', async () => {
    const world = await openWith(LSP);
    world.changePool('java', { sidecars: [{ ...LSP, image: 'registry.example.org/ide/lsp:2' }] });
    await end(world);
    const image = 'registry.example.org/ide/lsp:2';
    expect([1, 2, 3].map((slot) => imageOf(sidecarOf(world, slot)))).toEqual([image, image, image]);
  });

  it('that is no longer wanted goes, with its Service and the volume that it shared', async () => {
    const world = await openWith(SHARED);
    world.changePool('java', { sidecars: [] });
    await end(world);
    expect([1, 2, 3].map((slot) => everythingOf(world, slot).length)).toEqual([5, 5, 5]);
  });

  it('that crashes is no instance that can be handed out, and the pool says so', async () => {
    const world = await openWith(LSP, 2);
    world.kubelet.fail((pod) => isSidecar(pod) && isOf(2)(pod), { kind: 'crash' });
    world.cluster.admin.remove(DEPLOYMENTS, sidecarOf(world, 2)?.metadata.name ?? '');
    await world.runUntil(() => condition(world, 'Degraded') === 'True Blocked', 120_000);
    expect(message(world, 'Degraded')).toContain('crash: slots 2');
  });
});

describe('a pool that is left as it is', () => {
  it('has a sidecar that the operator takes for the IDE: nothing is made or taken away, and the cure is told', async () => {
    const world = await openWith({ ...LSP, name: 'a-server' }, 2);
    const writes = listenToWrites(world);
    world.changePool('java', { image: NEW });
    await world.run(120_000);
    expect(condition(world, 'Degraded')).toBe('True SidecarSortsFirst');
    expect(message(world, 'Degraded')).toContain('give the sidecar a name that sorts after java');
    expect(writes.filter((write) => !write.includes('WarmPool/'))).toEqual([]);
    await expectRest(world);
  });
});

describe('a shared route', () => {
  it('that is gone is told with its cure while the pool goes on', async () => {
    const { world } = await open({ instances: 2 });
    world.cluster.admin.remove(HTTP_ROUTES, 'ide-instances-route');
    world.deletePart('java', 2, 'deployment');
    await world.run(60_000);
    expect(condition(world, 'Degraded')).toBe('True SharedRouteMissing');
    expect(message(world, 'Degraded')).toContain('there is no HTTPRoute ide-instances-route');
    expect(world.slots('java').every(({ ready, complete }) => ready && complete)).toBe(true);
    await expectRest(world);
  });
});
