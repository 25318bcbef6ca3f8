import { expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';

it('a pod is told by its surroundings where the API server is, and what to forward', () => {
  const config = readConfig({
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    EVERWARM_SERVICE_ACCOUNT: '/run/account',
    EVERWARM_CLUSTER: 'prod',
    EVERWARM_NAMESPACES: 'theia,ide',
    EVERWARM_WEBHOOK_KEY: '',
  });
  expect(config.service).toEqual({ host: '10.0.0.1', port: '443', directory: '/run/account' });
  expect(config.forward).toEqual({ cluster: 'prod', namespaces: 'theia,ide' });
});

it('outside of a pod there is neither', () => {
  expect(readConfig({})).toMatchObject({ service: { host: undefined, port: undefined }, forward: {} });
});
