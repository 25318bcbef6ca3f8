import { expect, it } from 'vitest';
import { unsupported } from '../../../src/platform/theia-cloud/unsupported.ts';
import {
  appDefinitionIn,
  KEYCLOAK_ARGUMENTS,
  PLAIN_ARGUMENTS,
  recorded,
  recordedSettings,
} from './_recorded.ts';

const java = appDefinitionIn(recorded('a-pool-keycloak/objects.json'));
const settings = recordedSettings(KEYCLOAK_ARGUMENTS);
const withSpec = (fields: object) => ({ ...java, spec: { ...java.spec, ...fields } });

it.each([
  ['a-pool-keycloak/objects.json', KEYCLOAK_ARGUMENTS],
  ['b-pool-plain/objects.json', PLAIN_ARGUMENTS],
])('the recorded pool %s asks for nothing that is missing', (file, args) => {
  expect(unsupported(appDefinitionIn(recorded(file)), recordedSettings(args))).toBeUndefined();
});

it.each([
  ['c-pool-sidecar-nomount/objects.json', 'spec.sidecars is not supported yet'],
  ['d-pool-bridge-monitor-limits/objects.json', 'spec.options.dataBridgeEnabled is not supported yet'],
  ['p-pool-wondershaper-caches-host/objects.json', 'spec.monitor is not supported yet'],
])('the recorded pool %s is blocked: %s', (file, sentence) => {
  expect(unsupported(appDefinitionIn(recorded(file)), settings)).toBe(sentence);
});

it.each([
  [{ options: { dataBridgeEnabled: 1 } }, {}, 'spec.options.dataBridgeEnabled is not supported yet'],
  [{ options: { dataBridgeEnabled: 'TRUE' } }, {}, 'spec.options.dataBridgeEnabled is not supported yet'],
  [{ downlinkLimit: 30000 }, {}, 'spec.downlinkLimit is not supported yet'],
  [{ uplinkLimit: 30000 }, {}, 'spec.uplinkLimit is not supported yet'],
  [{}, { enableBuildCaching: true }, 'the operator option --enableBuildCaching is not supported yet'],
  [
    {},
    { enableDependencyCaching: true },
    'the operator option --enableDependencyCaching is not supported yet',
  ],
  [{}, { eagerStart: false }, 'an operator without --eagerStart is not supported yet'],
])('%j with %j: %s', (fields, options, sentence) => {
  expect(unsupported(withSpec(fields), { ...settings, ...options })).toBe(sentence);
});

it('takes an option that is off, or that the operator ignores, for nothing', () => {
  const off = withSpec({
    sidecars: [],
    options: { dataBridgeEnabled: 'false', dataBridgePort: 16281 },
    monitor: { port: 0 },
    downlinkLimit: 30000,
    uplinkLimit: 15000,
  });
  expect(unsupported(off, { ...settings, bandwidthLimiter: 'NONE' })).toBeUndefined();
  expect(unsupported(withSpec({ downlinkLimit: 0, uplinkLimit: -1 }), settings)).toBeUndefined();
});
