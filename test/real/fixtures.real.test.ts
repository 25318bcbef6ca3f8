import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from '../../src/app/up.ts';
import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  DEPLOYMENTS,
  NAMESPACES,
  PROXY_TEMPLATE_NAME,
} from '../../src/platform/theia-cloud/resources.ts';
import {
  installOperatorDeployment,
  OPERATOR_DEPLOYMENT_NAME,
  RECORDED_SETTINGS,
} from '../../src/simulator/world/theia-install.ts';
import { recorded } from '../platform/theia-cloud/_recorded.ts';
import { readAudit, WRITE_VERBS } from '../real-cluster/audit.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { agreed, type Installation, startInstallation } from './_installation.ts';
import { replay } from './_replay.ts';

/** Pools as a real operator left them, each in a namespace of its own beside the settings it was recorded with. */
const POOLS = [
  { namespace: 'recorded-keycloak', file: 'a-pool-keycloak/objects.json', keycloak: true },
  { namespace: 'recorded-plain', file: 'b-pool-plain/objects.json', keycloak: false },
] as const;
const NEW = 'registry.example.org/ide/java-17:9.9.9';
const AT_REST_MS = 20_000;

describe('recorded pools of Theia Cloud on a real API server', () => {
  let installation: Installation;
  let running: Running;

  beforeAll(async () => {
    if (findBinaries().kind === 'missing') return;
    installation = await startInstallation();
    for (const { namespace, file, keycloak } of POOLS) await stand(namespace, recorded(file), keycloak);
    await allReady();
    running = await installation.up({ namespaces: POOLS.map(({ namespace }) => namespace) });
    await installation.settled(running);
    await systemClock.sleep(AT_REST_MS);
  });

  afterAll(async () => {
    await installation?.stop();
  });

  it('are adopted without a write on any of their objects', async () => {
    expect(written()).toEqual([]);
    await expect(sort(poolsSaid(running))).resolves.toEqual(
      POOLS.map(({ namespace }) => `${namespace}: 3 of 3 current`),
    );
  });

  it('and the next release rolls through them', async () => {
    for (const { namespace } of POOLS) {
      const place = { namespace, name: 'java-17-course' };
      const patch = { spec: { image: NEW } };
      await agreed(installation.admin.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'merge', patch }));
    }
    await installation.settled(running);
    for (const { namespace } of POOLS) {
      const deployments = instancesIn(namespace);
      expect(deployments).toHaveLength(3);
      for (const deployment of deployments) expect(JSON.stringify(deployment)).toContain(NEW);
    }
    expect(written().length).toBeGreaterThan(0);
  });

  async function stand(namespace: string, objects: readonly KubeObject[], keycloak: boolean): Promise<void> {
    const { admin } = installation;
    const off = { keycloak: false, keycloakUrl: '', keycloakRealm: '', keycloakClientId: '' };
    const settings = { ...RECORDED_SETTINGS, ...(keycloak ? {} : off) };
    await agreed(
      admin.create(NAMESPACES, undefined, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      }),
    );
    await installOperatorDeployment(admin, { namespace, settings });
    const place = { namespace, name: OPERATOR_DEPLOYMENT_NAME };
    await agreed(admin.patch(DEPLOYMENTS, place, { type: 'merge', patch: { spec: { replicas: 0 } } }));
    // What every installation has, where a recording does not show it.
    const shared = recorded('a-pool-keycloak/objects.json').filter(
      ({ kind, metadata }) =>
        (kind === 'HTTPRoute' || (keycloak && metadata.name === PROXY_TEMPLATE_NAME)) &&
        objects.every((object) => object.metadata.name !== metadata.name),
    );
    const free = shared.map((object) => ({
      ...object,
      metadata: { ...object.metadata, ownerReferences: [] },
    }));
    await replay(admin, namespace, [...objects, ...free]);
  }

  function instancesIn(namespace: string): readonly KubeObject[] {
    return installation.view
      .list(DEPLOYMENTS)
      .filter(({ metadata }) => metadata.namespace === namespace && metadata.name.startsWith('instance-'));
  }

  async function allReady(): Promise<void> {
    const isReady = (one: KubeObject) =>
      ((one['status'] ?? {}) as { availableReplicas?: number }).availableReplicas === 1;
    while (!POOLS.every(({ namespace }) => instancesIn(namespace).filter(isReady).length === 3)) {
      await systemClock.sleep(50);
    }
  }

  /** What Everwarm wrote, but for its own WarmPools and the Events about them. */
  function written(): readonly string[] {
    const { auditLog, users } = installation.cluster;
    return readAudit(auditLog)
      .filter(({ user, verb }) => user === users.controller.name && WRITE_VERBS.has(verb))
      .filter(({ resource }) => !/^(warmpools|events)/.test(resource))
      .map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
  }
});

async function poolsSaid(running: Running): Promise<readonly string[]> {
  const looks = await running.look();
  return looks.map(({ observation, plan }) => {
    const { desired, current } = plan.status.counts;
    return `${observation.key.namespace}: ${current} of ${desired} current`;
  });
}

async function sort(lines: Promise<readonly string[]>): Promise<readonly string[]> {
  return [...(await lines)].sort();
}
