import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
} from '../../../src/platform/theia-cloud/resources.ts';
import { SettingsSchema, settingsFromOperator } from '../../../src/platform/theia-cloud/settings.ts';
import {
  installBaseObjects,
  installOperatorDeployment,
  RECORDED_SETTINGS,
} from '../../../src/simulator/world/theia-install.ts';
import { NAMESPACE, POOL, theiaCloud } from './installation.ts';

const beside = { oAuth2ProxyImage: RECORDED_SETTINGS.oAuth2ProxyImage };

it.each([
  { title: 'the recorded settings', settings: RECORDED_SETTINGS },
  {
    title: 'bare ones',
    settings: SettingsSchema.parse({ instancesHost: 'ide.example.org', eagerStart: false, ...beside }),
  },
])("an operator's Deployment says exactly how the operator is set: $title", async ({ settings }) => {
  const world = await theiaCloud();
  await installOperatorDeployment(world.api, { namespace: NAMESPACE, settings });
  const [deployment] = await world.all(DEPLOYMENTS);
  if (deployment === undefined) throw new Error('no operator Deployment');
  expect(settingsFromOperator(deployment, beside)).toEqual({ kind: 'parsed', value: settings });
});

it('a fresh installation has the recorded route, ConfigMaps and AppDefinition', async () => {
  const world = await theiaCloud();
  await world.createPool(3);
  const fixture = new URL('../../fixtures/theia-cloud/a-pool-keycloak/objects.json', import.meta.url);
  const recorded: readonly KubeObject[] = JSON.parse(readFileSync(fixture, 'utf8')).items;
  for (const resource of [APP_DEFINITIONS_V1BETA11, HTTP_ROUTES, CONFIG_MAPS]) {
    for (const object of await world.all(resource)) {
      const twin = recorded.find(
        ({ kind, metadata }) => kind === resource.kind && metadata.name === object.metadata.name,
      );
      expect({ spec: object['spec'], data: object['data'], labels: object.metadata.labels }).toEqual({
        spec: twin?.['spec'],
        data: twin?.['data'],
        labels: twin?.metadata.labels,
      });
    }
  }
  expect(await world.all(APP_DEFINITIONS_V1BETA11)).toMatchObject([{ metadata: { name: POOL } }]);
});

it('installing twice changes nothing', async () => {
  const world = await theiaCloud();
  await installOperatorDeployment(world.api, { namespace: NAMESPACE });
  const before = world.store.revision();
  await installBaseObjects(world.api, { namespace: NAMESPACE });
  await installOperatorDeployment(world.api, { namespace: NAMESPACE });
  expect(world.store.revision()).toBe(before);
});
