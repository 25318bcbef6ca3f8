import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  DEPLOYMENTS,
  PERSISTENT_VOLUME_CLAIMS,
  SESSIONS,
} from '../../../src/platform/theia-cloud/resources.ts';
import { RECORDED_SETTINGS } from '../../../src/simulator/world/theia-install.ts';
import { isWrite, NAMESPACE, POOL, type World } from './installation.ts';
import { claim, expectSame, find, learner, pool, running } from './story.ts';

const WORKSPACES: Resource = {
  group: 'theia.cloud',
  version: 'v1beta5',
  kind: 'Workspace',
  plural: 'workspaces',
  namespaced: true,
};
/** As the platform's service names it. */
const WORKSPACE = 'ws-1796055600000java-17-course-learner-1-example-org';
const LAZY = { settings: { ...RECORDED_SETTINGS, eagerStart: false } };
const JDTLS = { name: 'jdtls-server', image: 'registry.example.org/ide/jdtls:1.39.0', port: 5000 };

async function createWorkspace(world: World): Promise<void> {
  await world.api.create(WORKSPACES, NAMESPACE, {
    apiVersion: 'theia.cloud/v1beta5',
    kind: 'Workspace',
    metadata: { name: WORKSPACE },
    spec: { name: WORKSPACE, user: learner(1), appDefinition: POOL, label: 'Exercise 1' },
  });
  await world.clock.advance(3_000);
}

async function openWorkspace(world: World): Promise<void> {
  const name = `${WORKSPACE}-session`;
  await world.api.create(SESSIONS, NAMESPACE, {
    apiVersion: 'theia.cloud/v1beta8',
    kind: 'Session',
    metadata: { name },
    spec: { name, appDefinition: POOL, user: learner(1), workspace: WORKSPACE },
  });
  await world.clock.advance(5_000);
}

describe('a Workspace', () => {
  it('gets its claim, and each step is written down: eight writes', async () => {
    const world = await running();
    const sent = world.record();
    await createWorkspace(world);
    const writes = sent().filter(isWrite);
    expect(writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'patch workspaces/status',
      'patch workspaces/status',
      'patch workspaces/status',
      'create persistentvolumeclaims',
      'patch workspaces/status',
      'patch workspaces',
      'patch workspaces/status',
      'patch workspaces/status',
    ]);
    const { status, spec } = await find(world, WORKSPACES, WORKSPACE);
    expect(status).toEqual({
      operatorStatus: 'HANDLED',
      volumeClaim: { status: 'finished', message: '' },
      volumeAttach: { status: 'finished', message: '' },
    });
    const { storage } = spec as { readonly storage: string };
    expect((await find(world, PERSISTENT_VOLUME_CLAIMS, 'ws-')).metadata.name).toBe(storage);
  });

  it('that goes takes its Session and its claim along', async () => {
    const world = await pool(1);
    await createWorkspace(world);
    await openWorkspace(world);
    await world.api.delete(WORKSPACES, { namespace: NAMESPACE, name: WORKSPACE }, {});
    await world.clock.advance(10_000);
    expect(await world.all(SESSIONS)).toEqual([]);
    expect(await world.all(PERSISTENT_VOLUME_CLAIMS)).toEqual([]);
  });

  it.each([
    {
      title: 'is not mounted where a warm slot is free',
      faults: {},
      prefix: 'instance-1-',
      isMounted: false,
    },
    {
      title: 'is mounted by a mended operator, which gives its Session no warm slot',
      faults: { ignoresWorkspaces: false },
      prefix: 'session-learner-1-',
      isMounted: true,
    },
  ])('$title', async ({ faults, prefix, isMounted }) => {
    const world = await pool(1, [], { faults });
    await createWorkspace(world);
    await openWorkspace(world);
    const session = await find(world, SESSIONS, WORKSPACE);
    expect(session['status']).toMatchObject({ operatorStatus: 'HANDLED' });
    const text = JSON.stringify(await find(world, DEPLOYMENTS, prefix));
    expect(text.includes('persistentVolumeClaim')).toBe(isMounted);
  });
});

describe('an operator that keeps nothing warm', () => {
  it('writes for a Session with a Workspace and a sidecar what the real one wrote', async () => {
    const world = await running(LAZY);
    await world.createPool(0, { sidecars: [{ ...JDTLS, mountWorkspace: true }] });
    await createWorkspace(world);
    const sent = world.record();
    await openWorkspace(world);
    expectSame(sent(), 'o-claim-lazy-mode-with-workspace-and-sidecar');
  });

  it('says of an AppDefinition that it was handled, and makes nothing for it', async () => {
    const world = await running(LAZY);
    const sent = world.record();
    await world.createPool(3);
    expect(
      sent()
        .filter(isWrite)
        .map(({ resource }) => resource),
    ).toEqual(['appdefinitions/status', 'httproutes', 'appdefinitions/status']);
    expect((await find(world, APP_DEFINITIONS_V1BETA11, POOL))['status']).toEqual({
      operatorStatus: 'HANDLED',
    });
    await claim(world, 1);
    expect(await world.all(DEPLOYMENTS)).toHaveLength(1);
  });
});
