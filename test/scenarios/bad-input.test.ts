import { describe, expect, it } from 'vitest';
import type { KubeApi } from '../../src/kube/api.ts';
import { instanceNames } from '../../src/platform/theia-cloud/names.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  PODS,
} from '../../src/platform/theia-cloud/resources.ts';
import { OPERATOR_DEPLOYMENT_NAME } from '../../src/simulator/world/theia-install.ts';
import type { World } from '../../src/simulator/world.ts';
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
  slotsWhere,
  statusOf,
} from './_story.ts';

/** Writes on instances, as opposed to a WarmPool and its status. */
const onInstances = (writes: readonly string[]) => writes.filter((write) => !write.includes('WarmPool/'));

function namesOf(world: World, slot: number) {
  const { uid = '' } = world.cluster.admin.find(APP_DEFINITIONS_V1BETA11, 'java')?.metadata ?? {};
  return instanceNames({ metadata: { uid }, spec: { name: 'java' } }, slot);
}

describe('a foreign object under one of our names', () => {
  it('is never touched; its slot rests, the others are served, and the pool says its name', async () => {
    const { world } = await open({ instances: 2, operatorStays: false });
    const name = namesOf(world, 3).proxyConfigMap;
    const foreign = world.cluster.admin.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { app: 'something-else' } },
      data: { 'oauth2-proxy.cfg': 'mine' },
    });
    world.changePool('java', { minInstances: 3, image: NEW });
    await world.settle();
    expect(world.cluster.admin.find(CONFIG_MAPS, name)).toEqual(foreign);
    expect(condition(world, 'Degraded')).toBe('True ForeignObject');
    expect(message(world, 'Degraded')).toContain(name);
    expect(imagesOf(world)).toEqual([NEW, NEW, undefined]);
    await expectRest(world);

    world.cluster.admin.remove(CONFIG_MAPS, name);
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW, NEW]);
    expect(condition(world, 'Degraded')).toBe('False AsExpected');
  });

  it('that took the place of a deleted part is left alone, and the instance with it', async () => {
    const { world } = await open({ instances: 3, operatorStays: false });
    const { deployment } = namesOf(world, 2);
    world.stopEverwarm();
    world.deletePart('java', 2, 'deployment');
    await world.run(5_000);
    const labels = { app: 'squatter' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    };
    world.cluster.admin.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: deployment },
      spec,
    });
    world.startEverwarm();
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(world.cluster.admin.find(DEPLOYMENTS, deployment)?.['spec']).toMatchObject(spec);
    expect(imagesOf(world)).toEqual([NEW, 'web:1', NEW]);
    expect(condition(world, 'Degraded')).toBe('True ForeignObject');
    await expectRest(world);
  });
});

describe('a definition that cannot be served', () => {
  it('two with one spec.name: both rest and say so, a third is served; when one goes the other goes on', async () => {
    const { world } = await open({ instances: 2 });
    const before = instancesOf(world);
    world.createPool('java-twin', { name: 'java', minInstances: 2 });
    world.createPool('python', { minInstances: 2 });
    await world.run(20_000);
    const writes = listenToWrites(world);
    world.changePool('java', { image: NEW });
    await world.run(60_000);
    for (const pool of ['java', 'java-twin'])
      expect(condition(world, 'Degraded', pool)).toBe('True InvalidDefinition');
    expect(message(world, 'Degraded')).toContain('java-twin');
    expect(onInstances(writes)).toEqual([]);
    expect(instancesOf(world)).toEqual(before);
    expect(statusOf(world, 'python').counts).toMatchObject({ ready: 2, current: 2 });

    world.deletePool('java-twin');
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW]);
  });

  it('min above max is refused by the server, and nothing changes', async () => {
    const { world } = await open({ instances: 2 });
    const before = instancesOf(world);
    expect(() => world.changePool('java', { minInstances: 30, maxInstances: 20 })).toThrow(
      /422.*minInstances/s,
    );
    await end(world);
    expect(instancesOf(world)).toEqual(before);
  });

  it('an image that is empty: the pool rests with the field in its status, the one beside it is served', async () => {
    const { world } = await open({ instances: 2 });
    const before = instancesOf(world);
    world.changePool('java', { image: '' });
    world.createPool('python', { minInstances: 2 });
    await world.run(60_000);
    expect(condition(world, 'Degraded')).toBe('True InvalidDefinition');
    expect(message(world, 'Degraded')).toBe('spec.image is empty');
    expect(condition(world, 'Current')).toBe('False RevisionUnknown');
    expect(instancesOf(world)).toEqual(before);
    expect(statusOf(world, 'python').counts).toMatchObject({ ready: 2, current: 2 });
    world.changePool('java', { image: NEW });
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW]);
  });

  it('a WarmPool that does not parse: the pool rests and names the field', async () => {
    const { world } = await open({ instances: 2 });
    world.setPolicy('java', { maxUnavailable: 'most of them' });
    world.changePool('java', { image: NEW });
    await world.run(60_000);
    expect(condition(world, 'Degraded')).toBe('True InvalidWarmPool');
    expect(message(world, 'Degraded')).toContain('spec.rollout.maxUnavailable');
    expect(imagesOf(world)).toEqual([OLD, OLD]);
    await expectRest(world);
    world.setPolicy('java', { maxUnavailable: 1 });
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW]);
  });
});

describe('what the operator is told', () => {
  it.each([
    {
      title: 'in arguments that do not parse',
      told: (args: readonly string[]) => [...args, 'two', 'words'],
      reason: 'SettingsUnknown',
    },
    {
      title: 'to hand out nothing warm',
      told: (args: readonly string[]) => args.filter((arg) => !arg.startsWith('--eagerStart')),
      reason: 'Unsupported',
    },
  ])('$title stops all writes on instances until it is put right', async ({ told, reason }) => {
    const { world } = await open({ instances: 2 });
    const before = instancesOf(world);
    const operator = world.cluster.admin.find(DEPLOYMENTS, OPERATOR_DEPLOYMENT_NAME);
    const template = (operator as unknown as { spec: { template: Template } }).spec.template;
    const withArgs = (args: readonly string[]) =>
      world.cluster.admin.merge(DEPLOYMENTS, OPERATOR_DEPLOYMENT_NAME, {
        spec: { template: { spec: { containers: template.spec.containers.map((c) => ({ ...c, args })) } } },
      });
    const writes = listenToWrites(world);
    const args = template.spec.containers[0]?.args ?? [];
    withArgs(told(args));
    world.changePool('java', { image: NEW });
    world.deletePart('java', 1, 'deployment');
    await world.run(120_000);
    expect(condition(world, 'Degraded')).toBe(`True ${reason}`);
    expect(onInstances(writes)).toEqual([]);
    expect(instancesOf(world)[1]).toBe(before[1]);
    await expectRest(world);

    withArgs(args);
    await end(world);
    expect(imagesOf(world)).toEqual([NEW, NEW]);
  });

  interface Template {
    readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
  }
});

describe('rights that are missing', () => {
  it('to read pods: the pool says Forbidden, its counts stay, nothing is written; with the right back it goes on', async () => {
    let allowed = true;
    const between = (api: KubeApi): KubeApi => ({
      ...api,
      list: async (resource, options) =>
        resource === PODS && !allowed
          ? { kind: 'forbidden', message: 'pods is forbidden: User "everwarm" cannot list resource "pods"' }
          : api.list(resource, options),
    });
    const { world } = await open({ instances: 3, claimed: 1, between });
    const { counts } = statusOf(world);
    allowed = false;
    const writes = listenToWrites(world);
    world.deletePart('java', 3, 'deployment');
    world.changePool('java', { image: NEW });
    await world.run(120_000);
    expect(condition(world, 'Degraded')).toBe('True Forbidden');
    expect(message(world, 'Degraded')).toContain('pods');
    expect(statusOf(world).counts).toEqual(counts);
    expect(onInstances(writes)).toEqual([]);
    await expectRest(world);

    allowed = true;
    await end(world);
    expect(slotsWhere(world, ({ image }) => image === NEW)).toHaveLength(2);
  });

  it('to write: every refused create is told, nothing is tried hot, and the right is used once it is given', async () => {
    let allowed = true;
    const between = (api: KubeApi): KubeApi => ({
      ...api,
      create: async (resource, namespace, body) =>
        resource === DEPLOYMENTS && !allowed
          ? {
              kind: 'forbidden',
              message: 'deployments.apps is forbidden: User "everwarm" cannot create resource',
            }
          : api.create(resource, namespace, body),
    });
    const { world } = await open({ instances: 3, between });
    allowed = false;
    world.deletePart('java', 3, 'deployment');
    await world.run(60_000);
    const refused = world.events.filter(({ type }) => type === 'ActionFailed').length;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThanOrEqual(4);
    expect(condition(world, 'Degraded')).toBe('True Refused');
    allowed = true;
    await end(world);
  });
});
