import { describe, expect, it } from 'vitest';
import {
  asValidName,
  instanceNames,
  instancePath,
  plainName,
  podSelector,
  slotOf,
  suffixedName,
} from '../../../src/platform/theia-cloud/names.ts';
import { appDefinitionIn, recorded } from './_recorded.ts';

const SOME_APP = { app: 'some-app-definition', uid: '31f05ae8-7a43-4ee7-a3d2-381261d79c23' };
const SOME_SESSION = {
  prefix: 'session',
  user: 'some-username@example.org',
  app: 'test-app-definition',
  uid: '6f1a8966-4d5d-41dc-82ba-426930ea37d7',
};
const JAVA = {
  metadata: { uid: '00000000-0000-4000-8000-0a1b2c3d4e5f' },
  spec: { name: 'java-17-latest' },
};

describe('names of one slot', () => {
  it('are those that the operator gives', () => {
    expect(instanceNames(JAVA, 1)).toEqual({
      externalService: 'instance-1-java-17-latest-0a1b2c3d4e5f',
      internalService: 'instance-1-java-17-latest-0a1b2c3d4e5f-int',
      deployment: 'instance-1-java-17-latest-0a1b2c3d4e5f',
      proxyConfigMap: 'instance-1-proxy-java-17-lat-0a1b2c3d4e5f',
      emailConfigMap: 'instance-1-email-java-17-lat-0a1b2c3d4e5f',
    });
  });

  it.each([
    ['plain', plainName({ prefix: 'instance-1', ...SOME_APP }), 'instance-1-some-app-definiti-381261d79c23'],
    [
      'with an identifier',
      plainName({ prefix: 'instance-1', ...SOME_APP }, 'longidentifier'),
      'instance-1-longidentif-some-app-de-381261d79c23',
    ],
    [
      'with a suffix',
      suffixedName({ prefix: 'instance-1', ...SOME_APP }, 'internal'),
      'instance-1-some-app-defini-381261d79c23-internal',
    ],
    ['of a user', plainName(SOME_SESSION), 'session-some-username-test-app-definiti-426930ea37d7'],
    [
      'of a user, with an identifier',
      plainName(SOME_SESSION, 'longidentifier'),
      'session-longidentif-some-userna-test-app-de-426930ea37d7',
    ],
    [
      'of a user, with a suffix',
      suffixedName(SOME_SESSION, 'internal'),
      'session-some-username-test-app-definit-426930ea37d7-internal',
    ],
    [
      'of a user and an app so long that the suffix is cut',
      suffixedName(
        {
          prefix: 'session',
          user: 'averyveryverylongusername',
          app: 'javascript-latest-extended',
          uid: '00000000-0000-4000-8000-112233445566',
        },
        'int',
      ),
      'session-averyveryverylongus-javascript-latest-e-112233445566-i',
    ],
  ])('%s', (_, name, wanted) => {
    expect(name).toBe(wanted);
  });

  it.each([
    ['java_Under.score', 'java-under-score'],
    ['17-java', 'a17-java'],
    ['', 'a'],
    ['java-', 'javaz'],
    [`${'a'.repeat(61)}-bc`, `${'a'.repeat(61)}z`],
    ['a'.repeat(80), 'a'.repeat(62)],
  ])('%j becomes the valid name %j', (text, name) => {
    expect(asValidName(text)).toBe(name);
  });
});

describe('the slot of an object', () => {
  it.each([
    'a-pool-keycloak/objects.json',
    'b-pool-plain/objects.json',
    'd-pool-bridge-monitor-limits/objects.json',
    'p-pool-wondershaper-caches-host/objects.json',
  ])('is found from every recorded name that the AppDefinition owns in %s', (file) => {
    const objects = recorded(file);
    const appDefinition = appDefinitionIn(objects);
    const owned = objects.filter(
      ({ kind, metadata }) =>
        kind !== 'HTTPRoute' && metadata.ownerReferences?.[0]?.uid === appDefinition.metadata.uid,
    );
    const slots = owned.map(({ metadata }) => [metadata.name, slotOf(metadata.name, appDefinition)]);

    expect(owned.length).toBeGreaterThanOrEqual(5);
    expect(slots).toEqual(slots.map(([name]) => [name, Number(String(name).split('-')[1])]));
  });

  it('is unknown for the sidecar objects between them', () => {
    const objects = recorded('c-pool-sidecar-nomount/objects.json');
    const names = objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);

    expect(names.map((name) => slotOf(name, appDefinitionIn(objects)))).toEqual([1, undefined, 2, undefined]);
  });

  it.each([
    ['another AppDefinition with the same name', 'instance-1-java-17-latest-ffffffffffff'],
    ['another AppDefinition with the same uid', 'instance-1-java-21-latest-0a1b2c3d4e5f'],
    ['a number that the operator would not write', 'instance-01-java-17-latest-0a1b2c3d4e5f'],
    ['slot zero', 'instance-0-java-17-latest-0a1b2c3d4e5f'],
    ['no number at all', 'instance-nan-java-17-latest-0a1b2c3d4e5f'],
    ['a pod of the Deployment', 'instance-1-java-17-latest-0a1b2c3d4e5f-6bbddf5fbd-abcde'],
    ['a volume claim of a user', 'ws-ada-java-17-latest-0a1b2c3d4e5f'],
    ['a snapshot of a volume claim', 'instance-1-java-17-latest-0a1b2c3d4e5f-pvc-1'],
    ['a number beyond counting', `instance-${'9'.repeat(20)}-java-17-latest-0a1b2c3d4e5f`],
    ['a session of its own', 'session-ada-java-17-latest-0a1b2c3d4e5f'],
  ])('is unknown for %s', (_, name) => {
    expect(slotOf(name, JAVA)).toBeUndefined();
  });

  it('is known for the volume claim of its own', () => {
    expect(slotOf('instance-1-java-17-latest-0a1b2c3d4e5f-pvc', JAVA)).toBe(1);
  });

  it('is found with more than one digit', () => {
    expect(slotOf(instanceNames(JAVA, 120).internalService, JAVA)).toBe(120);
  });
});

describe('what joins a slot to the world', () => {
  it('is a selector made of spec.name and slot', () => {
    expect(podSelector(JAVA, 3)).toBe('java-17-latest-3');
  });

  it.each([
    [{ usePaths: true, instancesPath: 'instances' }, '/instances/java-17-latest-3'],
    [{ usePaths: true, instancesPath: ' ' }, '/java-17-latest-3'],
    [{ usePaths: false, instancesPath: 'instances' }, '/java-17-latest-3'],
  ])('is a path: with %j it is %s', (paths, path) => {
    expect(instancePath(JAVA, 3, paths)).toBe(path);
  });
});
