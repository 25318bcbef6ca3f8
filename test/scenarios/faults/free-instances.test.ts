import { PERSISTENT_VOLUME_CLAIMS } from '../../../src/platform/theia-cloud/resources.ts';
import { NEW } from '../_story.ts';
import { comes, cures, flawsIn, POOL, sidecarsIn, sleepsThrough } from './_fault.ts';

cures({
  title: 'F1: after a release that the operator slept through, users get the old image for ever',
  faults: ['createsOnlyAtAdded'],
  beside: ['neverLooksAgain'],
  story: async (world) => {
    await sleepsThrough(world, () => world.changePool(POOL, { image: NEW }));
    await world.run(120_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F2: a Deployment that was deleted by hand never comes back',
  faults: ['neverLooksAgain'],
  story: async (world) => {
    world.deletePart(POOL, 2, 'deployment');
    await world.run(90_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F13: a slot that has its sidecar counts as whole, and its IDE never comes back',
  faults: ['replacesSidecars'],
  beside: ['neverLooksAgain'],
  pool: { sidecars: [{ name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000 }] },
  story: async (world) => {
    await sleepsThrough(world, () => {
      world.deletePart(POOL, 2, 'deployment');
    });
    await world.run(60_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F14: a slot that lost one of its two Services is never handed out again',
  faults: ['countsHalfPairs'],
  beside: ['neverLooksAgain'],
  story: async (world) => {
    await sleepsThrough(world, () => {
      world.deletePart(POOL, 1, 'externalService');
      world.deletePart(POOL, 3, 'internalService');
    });
    await world.run(60_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F15: two instances more, and the next upgrade of the chart replaces all of them at once',
  faults: ['judgesByGeneration'],
  beside: ['neverLooksAgain', 'createsOnlyAtAdded', 'replacesAllAtOnce'],
  story: async (world) => {
    const before = new Set(world.slots(POOL).map(({ instance }) => instance));
    await sleepsThrough(world, () => world.changePool(POOL, { minInstances: 5 }));
    await world.run(60_000);
    world.annotatePool(POOL, { 'helm.sh/revision': '2' });
    await world.run(20_000);
    return before;
  },
  harm: (world, before) => {
    const now = new Set(world.slots(POOL).map(({ instance }) => instance));
    return [...before].flatMap((instance) => (now.has(instance) ? [] : ['an instance was thrown away']));
  },
});

cures({
  title: 'F29: an instance whose volume did not go away in time is made without one, and files are lost',
  faults: ['dropsVolumes'],
  beside: ['recyclesForSidecars', 'neverLooksAgain', 'createsOnlyAtAdded', 'replacesAllAtOnce'],
  pool: {
    sidecars: [
      { name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000, mountWorkspace: true },
    ],
  },
  story: async (world) => {
    const user = await comes(world);
    const { admin } = world.cluster;
    const name = admin
      .list(PERSISTENT_VOLUME_CLAIMS)
      .find(({ metadata }) => metadata.name.startsWith('instance-1-'))?.metadata.name;
    // Something outside the pool mounts it for a while.
    admin.merge(PERSISTENT_VOLUME_CLAIMS, name ?? '', {
      metadata: { finalizers: ['kubernetes.io/pvc-protection', 'example.org/backup'] },
    });
    world.release(user);
    await world.run(45_000);
    admin.merge(PERSISTENT_VOLUME_CLAIMS, name ?? '', { metadata: { finalizers: null } });
    await world.run(90_000);
  },
  harm: (world) => {
    const deployment = JSON.stringify(world.part(POOL, 1, 'deployment') ?? {});
    return deployment.includes('persistentVolumeClaim') ? [] : ['slot 1 keeps no files'];
  },
});

cures({
  title: 'F31: a new image of a sidecar never reaches the instances that stand',
  faults: ['keepsOldSidecars', 'createsOnlyAtAdded'],
  beside: ['neverLooksAgain'],
  pool: { sidecars: [{ name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000 }] },
  story: async (world) => {
    const sidecars = [{ name: 'lsp-server', image: 'registry.example.org/ide/lsp:2', port: 5000 }];
    await sleepsThrough(world, () => world.changePool(POOL, { sidecars }));
    await world.run(180_000);
  },
  harm: (world) =>
    sidecarsIn(world)
      .filter((text) => text.includes('ide/lsp:1'))
      .map(() => 'an old sidecar'),
});

cures({
  title: 'N3: any change of the AppDefinition takes the language servers away',
  faults: ['replacesSidecars'],
  beside: ['replacesAllAtOnce', 'judgesByGeneration', 'neverLooksAgain'],
  pool: { sidecars: [{ name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000 }] },
  story: async (world) => {
    world.changePool(POOL, { timeout: 99 });
    await world.run(120_000);
  },
  harm: (world) => (sidecarsIn(world).length === 3 ? [] : [`${sidecarsIn(world).length} sidecars of 3`]),
});
