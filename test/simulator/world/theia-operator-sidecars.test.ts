import { describe, expect, it } from 'vitest';
import { DEPLOYMENTS, HTTP_ROUTES, SERVICES } from '../../../src/platform/theia-cloud/resources.ts';
import { MENDED } from '../../../src/simulator/world/operator-faults.ts';
import { NAMESPACE, type Sent, type World, type WorldOptions } from './installation.ts';
import { expectSame, find, learner, namesOf, running } from './story.ts';

const JDTLS = {
  name: 'jdtls-server',
  image: 'registry.example.org/ide/jdtls:1.39.0',
  port: 5000,
  languages: ['java'],
};
const NEXT = { image: 'registry.example.org/ide/java-17:1.1.0' };

/** Two slots, each with a sidecar. */
async function course(
  name: string,
  sidecar: Readonly<Record<string, unknown>>,
  options: WorldOptions = {},
): Promise<World> {
  const world = await running(options);
  await world.createPool(2, { sidecars: [sidecar] }, name);
  return world;
}

async function come(world: World, number: number, name: string): Promise<void> {
  await world.users.come(learner(number), name);
  await world.clock.advance(3_000);
}

/** The real one asks for a collection of pods to be deleted and is refused; the stand-in does not ask. */
const isWriteOfOne = ({ verb }: Sent): boolean => ['create', 'patch', 'delete'].includes(verb);

describe('beside a sidecar the operator writes what the real one was recorded to write', () => {
  it('for a new pool: c-pool-sidecar-nomount', async () => {
    const world = await running();
    const sent = world.record();
    await world.createPool(2, { sidecars: [JDTLS] }, 'java-ls');
    expectSame(sent(), 'c-pool-sidecar-nomount');
  });

  it('for a new pool whose sidecars mount the workspace: c-pool-sidecar-mount', async () => {
    const world = await course('java-ls', JDTLS);
    const sent = world.record();
    await world.createPool(2, { sidecars: [{ ...JDTLS, mountWorkspace: true }] }, 'java-ls-ws');
    expectSame(sent(), 'c-pool-sidecar-mount');
  });

  it.each([
    { name: 'java-ls', mountWorkspace: false, file: 'c-modified-sidecar-nomount' },
    { name: 'java-ls-ws', mountWorkspace: true, file: 'c-modified-sidecar-mount' },
  ])('for an image change: $file', async ({ name, mountWorkspace, file }) => {
    const world = await course(name, { ...JDTLS, mountWorkspace });
    await come(world, 1, name);
    const sent = world.record();
    await world.changePool(NEXT, name);
    await world.clock.advance(5_000);
    expectSame(sent(), file);
    expect(await namesOf(world, DEPLOYMENTS)).toHaveLength(2);
  });

  it.each([
    { name: 'java-ls', mountWorkspace: false, file: 'c-release-sidecar-nomount' },
    { name: 'java-ls-ws', mountWorkspace: true, file: 'c-release-sidecar-mount' },
  ])('for a release after that change: $file', async ({ name, mountWorkspace, file }) => {
    const world = await course(name, { ...JDTLS, mountWorkspace }, { gcLagMs: 5 });
    await come(world, 1, name);
    await world.changePool(NEXT, name);
    await world.clock.advance(5_000);
    const sent = world.record();
    await world.users.go(learner(1), name);
    await world.clock.advance(10_000);
    expectSame(sent(), file, isWriteOfOne);
  });

  it('for a claim where its name comes first in the alphabet: c-claim-sidecar-sorts-first', async () => {
    const lsp = { name: 'lsp', image: 'registry.example.org/ide/pylsp:1.12.0', port: 5001 };
    const world = await course('python-course', lsp);
    const sent = world.record();
    await come(world, 1, 'python-course');
    expectSame(sent(), 'c-claim-sidecar-sorts-first');
    const route = JSON.stringify(await find(world, HTTP_ROUTES, (await sessionUid(world)) ?? ''));
    expect(route).toContain('"name":"instance-1-lsp-python-cour-');
  });
});

async function sessionUid(world: World): Promise<string | undefined> {
  const owners = (await find(world, SERVICES, 'instance-1-lsp')).metadata.ownerReferences ?? [];
  return owners.find(({ kind }) => kind === 'Session')?.uid;
}

it('a mended operator keeps sidecars through a change, and a release leaves an up-to-date slot as it is', async () => {
  const world = await course('java-ls', JDTLS, { faults: MENDED });
  await come(world, 1, 'java-ls');
  await world.changePool(NEXT, 'java-ls');
  await world.clock.advance(60_000);
  const before = (await world.all(DEPLOYMENTS)).map(({ metadata }) => metadata.uid);
  expect(before).toHaveLength(4);
  await world.users.go(learner(1), 'java-ls');
  await world.clock.advance(60_000);
  expect(await namesOf(world, DEPLOYMENTS)).toHaveLength(4);
  const images = (await world.all(DEPLOYMENTS)).map(
    (object) => /ide\/java-17:([0-9.]+)/.exec(JSON.stringify(object))?.[1],
  );
  expect(images.filter((image) => image !== undefined)).toEqual(['1.1.0', '1.1.0']);
  const place = {
    namespace: NAMESPACE,
    name: (await find(world, SERVICES, 'instance-1-jdtls')).metadata.name,
  };
  expect((await world.api.get(DEPLOYMENTS, place)).kind).toBe('ok');
});
