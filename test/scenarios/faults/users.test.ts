import { PODS, SERVICES } from '../../../src/platform/theia-cloud/resources.ts';
import type { World } from '../../../src/simulator/world.ts';
import { instanceObjects, NEW } from '../_story.ts';
import {
  comes,
  complaintsOf,
  cures,
  flawsIn,
  POOL,
  podsOf,
  sessionOf,
  sleepsThrough,
  slotOf,
} from './_fault.ts';

cures({
  title: 'F3: whoever leaves while the operator is down leaves files and pod to the next user',
  faults: ['forgetsReleases'],
  beside: ['neverLooksAgain', 'claimsUnseen'],
  story: async (world) => {
    const first = await comes(world);
    const used = podsOf(world, slotOf(world, first) ?? 0);
    await sleepsThrough(world, () => world.release(first));
    await world.run(20_000);
    const second = await comes(world);
    return { used, second };
  },
  harm: (world, { used, second }) =>
    podsOf(world, slotOf(world, second) ?? 0).some((pod) => used.includes(pod)) ? ['a used pod'] : [],
});

cures({
  title: 'F4: whoever comes is given a slot that has no instance',
  faults: ['claimsUnseen'],
  beside: ['neverLooksAgain'],
  story: async (world) => {
    world.deletePart(POOL, 1, 'deployment');
    await world.run(25_000);
    return comes(world);
  },
  harm: complaintsOf,
});

cures({
  title:
    'F6, N2: whoever comes during a roll-out of the operator is locked out, or loses parts of the instance',
  faults: ['deletesUnguarded', 'replacesClaimedConfigMaps', 'replacesAllAtOnce'],
  beside: ['claimsWithoutSwap', 'claimsUnseen', 'judgesByGeneration', 'neverLooksAgain'],
  pool: { minInstances: 10 },
  story: async (world) => {
    world.changePool(POOL, { image: NEW });
    const users: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      users.push(world.claim(POOL));
      await world.run(150);
    }
    await world.run(60_000);
    // Who got ERROR got it from the operator in the first second, and comes again.
    return users.filter((user) => sessionOf(world, user)?.status?.operatorStatus === 'HANDLED');
  },
  harm: (world, users) => [
    ...(users.length === 0 ? ['nobody was served'] : []),
    ...users.flatMap((user) => complaintsOf(world, user)),
  ],
});

/** Again and again: somebody leaves, and `afterMs` later somebody else comes; answers with the complaints of the latter. */
async function handOvers(world: World, before: () => void): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (let afterMs = 10; afterMs <= 250; afterMs += 40) {
    const first = await comes(world);
    before();
    await world.run(4_000);
    const used = podsOf(world, slotOf(world, first) ?? 0);
    world.release(first);
    await world.run(afterMs);
    const second = world.claim(POOL);
    await world.run(300);
    const slot = slotOf(world, second);
    const isUsed = slot !== undefined && podsOf(world, slot).some((pod) => used.includes(pod));
    if (isUsed) complaints.push(`${second} is on a used pod`);
    await world.run(20_000);
    complaints.push(...complaintsOf(world, second));
    world.release(second);
    await world.run(40_000);
  }
  return complaints;
}

cures({
  title: 'F7: whoever comes while the operator makes a released slot anew loses it again',
  faults: ['recyclesClaimed', 'freesBeforeClearing', 'claimsUnseen'],
  beside: ['replacesAllAtOnce', 'judgesByGeneration', 'neverLooksAgain'],
  pool: { minInstances: 1 },
  story: async (world) => {
    let release = 1;
    return handOvers(world, () => {
      release += 1;
      world.changePool(POOL, { image: `registry.example.org/ide/java-17:${release}.0.0` });
    });
  },
  harm: (_world, complaints) => complaints,
});

cures({
  title: 'F8: whoever comes right after somebody else left is given the used pod, and loses it',
  faults: ['freesBeforeClearing', 'claimsUnseen'],
  beside: ['neverLooksAgain'],
  pool: { minInstances: 1 },
  story: (world) => handOvers(world, () => undefined),
  harm: (_world, complaints) => complaints,
});

cures({
  title: 'F9, F48: a slot on which a claim failed is never whole again',
  faults: ['keepsFailedClaims', 'neverLooksAgain'],
  story: async (world) => {
    world.deletePart(POOL, 1, 'deployment');
    const user = world.claim(POOL);
    // The platform's service gives up after three minutes and deletes the Session.
    await world.run(180_000);
    world.release(user);
    await world.run(60_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F11: any change of the AppDefinition locks out everybody who is working',
  faults: ['replacesClaimedConfigMaps'],
  beside: ['replacesAllAtOnce', 'judgesByGeneration', 'neverLooksAgain'],
  story: async (world) => {
    const user = await comes(world);
    await world.run(10_000);
    world.changePool(POOL, { timeout: 99 });
    await world.run(30_000);
    return user;
  },
  harm: complaintsOf,
});

cures({
  title: 'F11: a pool that shrinks locks out who works above its new size',
  faults: ['replacesClaimedConfigMaps', 'disownsRetired'],
  beside: ['replacesAllAtOnce', 'judgesByGeneration', 'neverLooksAgain'],
  story: async (world) => {
    await comes(world);
    await comes(world);
    const third = await comes(world);
    await world.run(10_000);
    world.changePool(POOL, { minInstances: 2 });
    await world.run(30_000);
    return third;
  },
  harm: complaintsOf,
});

cures({
  title:
    'F12: what a user above the new size leaves behind stays for ever, and stops the pool at the next start',
  faults: ['disownsRetired'],
  beside: [
    'replacesAllAtOnce',
    'judgesByGeneration',
    'freesBeforeClearing',
    'deletesUnguarded',
    'neverLooksAgain',
  ],
  options: { gcLagMs: 1_000 },
  story: async (world) => {
    await comes(world);
    await comes(world);
    const third = await comes(world);
    world.changePool(POOL, { minInstances: 2 });
    await world.run(20_000);
    world.release(third);
    await world.run(60_000);
  },
  harm: (world) =>
    instanceObjects(world)
      .filter(({ metadata }) => metadata.name.startsWith('instance-3-'))
      .map(({ kind, metadata }) => `${kind} ${metadata.name} is left`),
});

cures({
  title: 'F27: a Session that was gone at once leaves its name and its user on a slot',
  faults: ['claimsForTheGone'],
  beside: ['neverLooksAgain', 'claimsUnseen'],
  story: async (world) => {
    const user = world.claim(POOL);
    await world.run(5);
    world.release(user);
    await world.run(60_000);
  },
  harm: flawsIn,
});

cures({
  title: 'F30: a release deletes the wrong pod, and the used one is handed out again',
  faults: ['deletesOnePod'],
  beside: ['freesBeforeClearing', 'neverLooksAgain'],
  story: async (world) => {
    const first = await comes(world);
    const used = podsOf(world, 1);
    const name = `${world.part(POOL, 1, 'deployment')?.metadata.name}-00000`;
    const spec = { containers: [{ name: 'debug', image: 'registry.example.org/debug:1' }] };
    world.cluster.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    await world.run(5_000);
    world.release(first);
    await world.run(60_000);
    return { used, second: await comes(world) };
  },
  harm: (world, { used, second }) =>
    podsOf(world, slotOf(world, second) ?? 0).some((pod) => used.includes(pod)) ? ['a used pod'] : [],
});

cures({
  title: 'F26, N6: one name that is taken keeps all other instances from being made',
  faults: ['stopsAtTakenName'],
  beside: ['neverLooksAgain', 'createsOnlyAtAdded'],
  rests: false,
  story: async (world) => {
    const standing = world.part(POOL, 3, 'externalService')?.metadata.name ?? '';
    const name = standing.replace('instance-3-', 'instance-4-');
    await sleepsThrough(world, () => {
      const spec = { ports: [{ port: 1 }] };
      world.cluster.admin.create(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
      world.changePool(POOL, { minInstances: 6 });
    });
    await world.run(60_000);
  },
  harm: (world) => flawsIn(world).filter((flaw) => !flaw.startsWith('slot 4 ')),
});
