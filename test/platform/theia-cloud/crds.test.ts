import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAppDefinition, parseSession } from '../../../src/platform/theia-cloud/crds.ts';
import { recorded, unwrap } from './_recorded.ts';

const FIXTURES = new URL('../../fixtures/theia-cloud/', import.meta.url);
const everything = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json') && !/^(crds|sequences)/.test(file))
  .flatMap(recorded);
const [java] = recorded('a-pool-keycloak/objects.json');

function withSpec(fields: Readonly<Record<string, unknown>>): unknown {
  return { ...java, spec: { ...(java?.['spec'] as object), ...fields } };
}

describe('an AppDefinition', () => {
  it('is read wherever one was recorded', () => {
    const parsed = everything.filter(({ kind }) => kind === 'AppDefinition').map(parseAppDefinition);

    expect(parsed.length).toBeGreaterThan(10);
    expect(parsed.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });

  it('is read in the older version, and with fields of a later one', () => {
    const older = { ...(withSpec({ gpu: { count: 1 } }) as object), apiVersion: 'theia.cloud/v1beta10' };

    expect(unwrap(parseAppDefinition(older))).toMatchObject({
      apiVersion: 'theia.cloud/v1beta10',
      spec: { gpu: { count: 1 } },
      status: {},
    });
  });

  it.each([
    ['has min > max', { minInstances: 21 }, 'spec.minInstances', 'is greater than spec.maxInstances'],
    ['has a name that is no DNS label', { name: 'java_Under' }, 'spec.name', 'is not a DNS label'],
    ['has two names', { name: 'java-18-course' }, 'spec.name', 'is not equal to metadata.name'],
    ['has no image', { image: undefined }, 'spec.image', 'is missing'],
    ['has an empty image', { image: '' }, 'spec.image', 'is empty'],
    ['counts below zero', { minInstances: -1 }, 'spec.minInstances', 'is negative'],
    ['counts in words', { minInstances: 'three' }, 'spec.minInstances', 'is not a number'],
    ['counts in halves', { minInstances: 1.5 }, 'spec.minInstances', 'is not a whole number'],
    ['listens on no port', { port: 0 }, 'spec.port', 'is less than 1'],
    ['asks for memory in no unit', { limitsMemory: '3 gigs' }, 'spec.limitsMemory', 'is not a quantity'],
    [
      'pulls sometimes',
      { imagePullPolicy: 'Sometimes' },
      'spec.imagePullPolicy',
      expect.stringContaining('Always'),
    ],
    [
      'has a sidecar that is no DNS label',
      { sidecars: [{ name: 'Java_LS', image: 'ls:1', port: 5000 }] },
      'spec.sidecars.0.name',
      'is not a DNS label',
    ],
    [
      'has a sidecar without a port',
      { sidecars: [{ name: 'ls', image: 'ls:1' }] },
      'spec.sidecars.0.port',
      'is missing',
    ],
    [
      'has a sidecar without an image',
      { sidecars: [{ name: 'ls', image: '', port: 5000 }] },
      'spec.sidecars.0.image',
      'is empty',
    ],
    [
      'gives a sidecar memory in no unit',
      { sidecars: [{ name: 'ls', image: 'ls:1', port: 5000, memoryLimit: 'much' }] },
      'spec.sidecars.0.memoryLimit',
      'is not a quantity',
    ],
    [
      'has two sidecars of one name',
      { sidecars: ['a:1', 'b:1'].map((image) => ({ name: 'ls', image, port: 5000 })) },
      'spec.sidecars',
      'has two of one name',
    ],
    ['monitors no port', { monitor: { port: 70000 } }, 'spec.monitor.port', 'is greater than 65535'],
  ])('that %s is refused with the field and the reason', (_, fields, field, reason) => {
    expect(parseAppDefinition(withSpec(fields))).toEqual({ kind: 'invalid', field, reason });
  });

  it('of a version that nobody knows is refused', () => {
    expect(parseAppDefinition({ ...java, apiVersion: 'theia.cloud/v1' })).toMatchObject({
      field: 'apiVersion',
    });
  });

  it('that is nothing at all is refused', () => {
    expect(parseAppDefinition(undefined)).toMatchObject({ kind: 'invalid', reason: 'is missing' });
  });

  it('that may grow no further is read', () => {
    expect(parseAppDefinition(withSpec({ minInstances: 20 })).kind).toBe('parsed');
  });

  it('without a ceiling, or with empty amounts, is read', () => {
    const open = withSpec({ maxInstances: undefined, limitsCpu: '', requestsMemory: undefined });
    expect(parseAppDefinition(open).kind).toBe('parsed');
  });
});

describe('a Session', () => {
  const sessions = everything.filter(({ kind }) => kind === 'Session');

  it('is read wherever one was recorded', () => {
    const parsed = sessions.map(parseSession);

    expect(parsed.length).toBeGreaterThan(10);
    expect(parsed.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });

  it('never travels with its secret or its environment', () => {
    const texts = sessions.map((session) => JSON.stringify(unwrap(parseSession(session))));

    expect(JSON.stringify(sessions)).toMatch(/sessionSecret.*GIT_URI|GIT_URI.*sessionSecret/s);
    expect(texts.filter((text) => /sessionSecret|GIT_URI/.test(text))).toEqual([]);
  });

  it('without a status has an empty one', () => {
    const bare = { ...sessions[0], status: undefined };
    expect(unwrap(parseSession(bare)).status).toEqual({});
  });

  it('without a user is refused', () => {
    const session = sessions[0];
    const bare = { ...session, spec: { ...(session?.['spec'] as object), user: undefined } };
    expect(parseSession(bare)).toEqual({ kind: 'invalid', field: 'spec.user', reason: 'is missing' });
  });
});
