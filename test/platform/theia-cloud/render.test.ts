import { describe, expect, it } from 'vitest';
import { objectsOf } from '../../../src/platform/theia-cloud/parts.ts';
import {
  compared,
  poolRevision,
  proxyProblem,
  renderSlot,
} from '../../../src/platform/theia-cloud/render.ts';
import { differences } from '../../../src/pool/compare.ts';
import {
  appDefinitionIn,
  find,
  KEYCLOAK_ARGUMENTS,
  PLAIN_ARGUMENTS,
  recorded,
  recordedSettings,
  recordedTemplate,
} from './_recorded.ts';

const template = recordedTemplate();
const keycloak = recordedSettings(KEYCLOAK_ARGUMENTS);
const java = appDefinitionIn(recorded('a-pool-keycloak/objects.json'));
const withSpec = (fields: object) => ({ ...java, spec: { ...java.spec, ...fields } });

/** Everything of a slot that a server made up: the closed mask, and what defaulting adds, by path and value. */
const SERVER_MADE: readonly RegExp[] = [
  /^metadata\.(uid|resourceVersion|creationTimestamp|generation)$/,
  /^metadata\.annotations$/,
  /^status$/,
  /^spec\.(clusterIP|clusterIPs\[0\]|internalTrafficPolicy|ipFamilies\[0\]|ipFamilyPolicy|sessionAffinity)$/,
  /^spec\.(progressDeadlineSeconds|revisionHistoryLimit|strategy)$/,
  /^spec\.template\.spec\.(dnsPolicy|restartPolicy|schedulerName|terminationGracePeriodSeconds)$/,
  /^spec\.template\.spec\.containers\[[a-z0-9-]+\]\.(terminationMessagePath|terminationMessagePolicy)$/,
  /^spec\.template\.spec\.volumes\[[a-z0-9-]+\]\.configMap\.defaultMode$/,
];

describe.each([
  ['a-pool-keycloak/objects.json', KEYCLOAK_ARGUMENTS, template, 5],
  ['b-pool-plain/objects.json', PLAIN_ARGUMENTS, undefined, 3],
])('the recorded pool %s', (file, args, proxyTemplate, objectsPerSlot) => {
  const live = recorded(file);
  const appDefinition = appDefinitionIn(live);
  const slots = [1, 2, 3].map((slot) =>
    objectsOf(renderSlot(appDefinition, recordedSettings(args), slot, proxyTemplate)),
  );
  const pairs = slots.flat().map((one) => [one, find(live, one.kind, one.metadata.name)] as const);

  it('has the same objects as are rendered, and no more', () => {
    const owned = live.filter(
      ({ kind, metadata }) =>
        kind !== 'HTTPRoute' &&
        metadata.ownerReferences?.some(({ uid }) => uid === appDefinition.metadata.uid),
    );
    expect(slots.map((one) => one.length)).toEqual([objectsPerSlot, objectsPerSlot, objectsPerSlot]);
    expect(pairs.map(([, found]) => found.metadata.uid).sort()).toEqual(
      owned.map(({ metadata }) => metadata.uid).sort(),
    );
  });

  it('has every rendered field, and nothing beside the rendered entries', () => {
    expect(pairs.flatMap(([one, found]) => differences(one, found, { vouched: false }))).toEqual([]);
  });

  it('has no field that is neither rendered nor made by the server', () => {
    const left = pairs
      .flatMap(([one, found]) => differences(found, one, { vouched: false }))
      .filter((path) => !SERVER_MADE.some((made) => made.test(path)));
    expect(left).toEqual([]);
  });

  it('is current without a word from its labels', () => {
    expect(pairs.flatMap(([one, found]) => differences(compared(one), found, { vouched: false }))).toEqual(
      [],
    );
  });
});

describe('after a release that the operator slept through', () => {
  const live = recorded('k-image-change-while-down/after.json');
  const appDefinition = appDefinitionIn(live);

  it.each([1, 2, 3])('slot %i differs in the image, and in nothing else', (slot) => {
    const rendered = objectsOf(renderSlot(appDefinition, keycloak, slot, template));
    const paths = rendered.flatMap((one) =>
      differences(compared(one), find(live, one.kind, one.metadata.name), { vouched: true }),
    );
    expect(paths).toEqual(['spec.template.spec.containers[java-17-course].image']);
  });
});

describe('a pool that was scaled', () => {
  it('stays current, for nothing that shapes an instance changed', () => {
    const live = recorded('i-scale/0-min3.json');
    const scaled = {
      ...appDefinitionIn(live),
      metadata: { ...appDefinitionIn(live).metadata, generation: 99 },
    };
    const free = objectsOf(renderSlot(scaled, keycloak, 2, template));

    expect(
      free.flatMap((one) =>
        differences(compared(one), find(live, one.kind, one.metadata.name), { vouched: false }),
      ),
    ).toEqual([]);
  });
});

describe('a claimed slot', () => {
  it('is current: its owners, its labels and its allow-list are the user’s', () => {
    const live = recorded('f-claim-eager/after.json');
    const { proxyConfigMap: _, ...rendered } = renderSlot(java, keycloak, 1, template);
    const paths = objectsOf(rendered).flatMap((one) =>
      differences(compared(one), find(live, one.kind, one.metadata.name), { vouched: false }),
    );
    expect(paths).toEqual([]);
  });
});

describe('what is rendered', () => {
  it('is owned in the version that the AppDefinition was read in', () => {
    const older = { ...java, apiVersion: 'theia.cloud/v1beta10' as const };
    const owners = objectsOf(renderSlot(older, keycloak, 1, template)).map(
      ({ metadata }) => metadata.ownerReferences,
    );
    expect(owners).toEqual(Array(5).fill([expect.objectContaining({ apiVersion: 'theia.cloud/v1beta10' })]));
  });

  it('follows the operator in the corners of an AppDefinition', () => {
    const corners = withSpec({
      uid: -5,
      imagePullPolicy: undefined,
      pullSecret: '',
      limitsCpu: '',
      requestsMemory: '',
    });
    const { deployment } = renderSlot(corners, recordedSettings(PLAIN_ARGUMENTS), 1);
    expect(deployment['spec']).toMatchObject({
      template: {
        spec: {
          securityContext: { fsGroup: 1000 },
          containers: [
            {
              imagePullPolicy: 'Always',
              resources: { limits: { memory: '3000M' }, requests: { cpu: '500m' } },
              securityContext: { runAsUser: 1000, runAsGroup: 1000 },
            },
          ],
        },
      },
    });
    expect(JSON.stringify(deployment)).not.toMatch(/imagePullSecrets|"(cpu|memory)":""/);
  });

  it('knows nothing of Keycloak where it is off, whatever else is set', () => {
    const off = { ...keycloak, keycloak: false };
    expect(renderSlot(java, off, 1, template)).toEqual(
      renderSlot(java, recordedSettings(PLAIN_ARGUMENTS), 1),
    );
  });

  it('keeps root as root', () => {
    const { deployment } = renderSlot(withSpec({ uid: 0 }), keycloak, 1, template);
    expect(deployment['spec']).toMatchObject({ template: { spec: { securityContext: { fsGroup: 0 } } } });
  });

  it('leaves both placeholders where the monitor is off', () => {
    const { deployment } = renderSlot(java, { ...keycloak, enableMonitor: false }, 1, template);
    const text = JSON.stringify(deployment);
    expect(text).toContain('"value":"placeholder-monitor-env-port"');
    expect(text).toContain('"value":"placeholder-enable-activity-tracker"');
  });

  it('says that activity is tracked where the operator does', () => {
    const { deployment } = renderSlot(java, { ...keycloak, enableActivityTracker: true }, 1, template);
    expect(JSON.stringify(deployment)).toContain(
      '"THEIACLOUD_MONITOR_ENABLE_ACTIVITY_TRACKER","value":"true"',
    );
  });

  it('fills host and port into the proxy’s configuration wherever they stand, and copies its other keys', () => {
    const data = {
      'oauth2-proxy.cfg':
        'a=https://placeholder b=https://placeholder/x c=placeholder-port d=placeholder-port',
      other: 'https://placeholder',
    };
    const { proxyConfigMap } = renderSlot(java, { ...keycloak, instancesHost: '$&.example.org' }, 2, data);
    const url = 'https://$&.example.org/instances/java-17-course-2';
    expect(proxyConfigMap?.['data']).toEqual({
      'oauth2-proxy.cfg': `a=${url} b=${url}/x c=3000 d=3000`,
      other: 'https://placeholder',
    });
  });

  it.each([
    ['is missing', undefined, 'ConfigMap oauth2-proxy-config is missing'],
    ['has lost its key', { other: '' }, 'ConfigMap oauth2-proxy-config has no key oauth2-proxy.cfg'],
  ])('is nothing where the shared proxy configuration %s', (_, data, problem) => {
    expect(proxyProblem(keycloak, data)).toBe(problem);
    expect(() => renderSlot(java, keycloak, 1, data)).toThrow(problem);
    expect(proxyProblem(recordedSettings(PLAIN_ARGUMENTS), data)).toBeUndefined();
  });
});

describe('the revision of a pool', () => {
  const revision = poolRevision(java, keycloak, template);

  it.each([
    ['a new image', withSpec({ image: 'registry.example.org/ide/java-17:2.0.0' }), keycloak, template],
    ['another port', withSpec({ port: 3001 }), keycloak, template],
    ['another limit', withSpec({ limitsMemory: '3001M' }), keycloak, template],
    ['no pull secret any more', withSpec({ pullSecret: undefined }), keycloak, template],
    ['another user id', withSpec({ uid: 102 }), keycloak, template],
    ['another pull policy', withSpec({ imagePullPolicy: 'Always' }), keycloak, template],
    ['another proxy', java, { ...keycloak, oAuth2ProxyVersion: 'v7.13.0' }, template],
    ['another token', java, { ...keycloak, serviceAuthToken: 'other' }, template],
    ['another realm', java, { ...keycloak, keycloakRealm: 'Other' }, template],
    ['another host', java, { ...keycloak, instancesHost: 'other.example.org' }, template],
    ['another shared configuration', java, keycloak, { ...template, extra: 'x' }],
  ])('moves with %s', (_, appDefinition, settings, data) => {
    expect(poolRevision(appDefinition, settings, data)).not.toBe(revision);
  });

  it.each([
    [
      'scaling',
      { ...withSpec({ minInstances: 12 }), metadata: { ...java.metadata, generation: 7 } },
      keycloak,
    ],
    ['a time-out', withSpec({ timeout: 15 }), keycloak],
    ['another spelling of an amount', withSpec({ limitsMemory: '3G', limitsCpu: '2000m' }), keycloak],
    ['a new version of the resource', { ...java, apiVersion: 'theia.cloud/v1beta10' as const }, keycloak],
    ['storage, which no instance has', java, { ...keycloak, requestedStorage: '1Gi' }],
  ])('stays through %s', (_, appDefinition, settings) => {
    expect(poolRevision(appDefinition, settings, template)).toBe(revision);
  });
});
