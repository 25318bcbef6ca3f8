import { expect, it } from 'vitest';
import { unsupported } from '../../../src/platform/theia-cloud/unsupported.ts';
import {
  FULL_ARGUMENTS,
  HOST_ARGUMENTS,
  KEYCLOAK_ARGUMENTS,
  PLAIN_ARGUMENTS,
  recordedSettings,
} from './_recorded.ts';

it.each([
  ['with Keycloak', KEYCLOAK_ARGUMENTS],
  ['without Keycloak', PLAIN_ARGUMENTS],
  ['with activity tracker', FULL_ARGUMENTS],
  ['in host mode, with limits and caches', HOST_ARGUMENTS],
])('the pools of an operator %s can be kept warm', (_title, args) => {
  expect(unsupported(recordedSettings(args))).toBeUndefined();
});

it('the pools of an operator that hands out no warm instances cannot', () => {
  const settings = { ...recordedSettings(KEYCLOAK_ARGUMENTS), eagerStart: false };
  expect(unsupported(settings)).toBe('an operator without --eagerStart hands out no warm instances');
});
