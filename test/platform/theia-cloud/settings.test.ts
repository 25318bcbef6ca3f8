import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  settingsFromArguments,
  settingsFromConfig,
  settingsFromOperator,
} from '../../../src/platform/theia-cloud/settings.ts';
import { KEYCLOAK_ARGUMENTS, unwrap } from './_recorded.ts';

const HOST = ['--instancesHost', 'ide.example.org'];

function operator(...containers: readonly object[]) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'operator-deployment' },
    spec: { template: { spec: { containers } } },
  };
}

describe('settings from the operator', () => {
  it('are those of its arguments', () => {
    expect(unwrap(settingsFromOperator(operator({ args: KEYCLOAK_ARGUMENTS })))).toEqual({
      keycloak: true,
      keycloakUrl: 'https://keycloak.example.org/auth/',
      keycloakRealm: 'TheiaCloud',
      keycloakClientId: 'theia-cloud',
      eagerStart: true,
      instancesHost: 'ide.example.org',
      usePaths: true,
      instancesPath: 'instances',
      enableMonitor: true,
      enableActivityTracker: false,
      serviceUrl: 'https://ide.example.org/service',
      serviceAuthToken: 'example-service-token',
      oAuth2ProxyImage: 'quay.io/oauth2-proxy/oauth2-proxy',
      oAuth2ProxyVersion: 'v7.12.0',
      storageClassName: 'default',
      requestedStorage: '250Mi',
      bandwidthLimiter: 'K8SANNOTATION',
      wondershaperImage: 'theiacloud/theia-cloud-wondershaper',
      enableBuildCaching: false,
      buildCacheUrl: '',
      enableBuildCachePush: false,
      enableDependencyCaching: false,
      dependencyCacheUrl: '',
    });
  });

  it('are the same however the arguments are written and ordered', () => {
    const attached = [
      '--serviceAuthToken=example-service-token',
      '--keycloak=true',
      '--keycloakURL=https://keycloak.example.org/auth/',
      '--keycloakRealm=TheiaCloud',
      '--keycloakClientId=theia-cloud',
      ...KEYCLOAK_ARGUMENTS.slice(7, -2),
    ];
    expect(settingsFromArguments(attached)).toEqual(settingsFromArguments(KEYCLOAK_ARGUMENTS));
  });

  it('keep an equals sign inside a value', () => {
    const settings = unwrap(settingsFromArguments([...HOST, '--serviceUrl=https://a.example.org/?a=b']));
    expect(settings.serviceUrl).toBe('https://a.example.org/?a=b');
  });

  it('are found beside a sidecar, behind a java command line', () => {
    const java = { command: ['java', '-Xmx1g', '-jar', 'operator.jar'], args: [...HOST, '--eagerStart'] };
    const settings = unwrap(settingsFromOperator(operator({ args: ['--v', '2'] }, java)));
    expect(settings).toMatchObject({ instancesHost: 'ide.example.org', eagerStart: true });
  });

  it('say that nothing is handed out warm when the operator was not told to', () => {
    expect(unwrap(settingsFromArguments(HOST)).eagerStart).toBe(false);
    expect(unwrap(settingsFromArguments([...HOST, '--eagerStart=false'])).eagerStart).toBe(false);
  });

  it('take the token from its deprecated option, unless the new one is there too', () => {
    const token = (...args: string[]) => unwrap(settingsFromArguments([...HOST, ...args])).serviceAuthToken;
    expect(token('--appId', 'old')).toBe('old');
    expect(token('--appId', 'old', '--serviceAuthToken', 'new')).toBe('new');
    expect(token('--serviceAuthToken', 'new', '--appId', 'old')).toBe('new');
  });

  it('read a variable from the container, and leave an unknown or escaped one alone', () => {
    const env = [{ name: 'HOST', value: 'ide.example.org' }];
    const args = ['--instancesHost', '$(HOST)', '--keycloakRealm', '$(NOBODY)', '--serviceUrl', '$$(HOST)'];
    expect(unwrap(settingsFromOperator(operator({ args, env })))).toMatchObject({
      instancesHost: 'ide.example.org',
      keycloakRealm: '$(NOBODY)',
      serviceUrl: '$(HOST)',
    });
  });

  it('go on with an option of a later operator, with and without a value', () => {
    const later = ['--bazelBuildCacheUrl', 'https://bazel.example.org', '--shiny', ...HOST];
    expect(settingsFromArguments(later)).toEqual(settingsFromArguments(HOST));
  });

  it('may name another registry for the proxy, which no argument tells', () => {
    const beside = { oAuth2ProxyImage: 'mirror.example.org/oauth2-proxy' };
    expect(unwrap(settingsFromOperator(operator({ args: HOST }), beside))).toMatchObject(beside);
  });
});

describe('arguments that do not parse', () => {
  const secret = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'operator', key: 'token' } } };

  it.each([
    ['without a host', ['--eagerStart'], '--instancesHost', 'is missing'],
    ['with an empty host', ['--instancesHost', ''], '--instancesHost', 'is empty'],
    ['with a value left out', ['--instancesHost', '--eagerStart'], '--instancesHost', 'has no value'],
    ['with a value left out at the end', [...HOST, '--keycloakURL'], '--keycloakURL', 'has no value'],
    ['with a flag that is no flag', [...HOST, '--keycloak=maybe'], '--keycloak', 'is neither true nor false'],
    [
      'with an unknown limiter',
      [...HOST, '--bandwidthLimiter', 'TRAFFIC'],
      '--bandwidthLimiter',
      /is not one of .*K8SANNOTATION/,
    ],
    ['with an option given twice', [...HOST, ...HOST], '--instancesHost', 'is given twice'],
    ['with a word too many', [...HOST, 'spare'], 'argument 3', 'stands without an option'],
    [
      'with a second value',
      ['--instancesHost=ide.example.org', 'spare'],
      'argument 2',
      'stands without an option',
    ],
    [
      'with a word behind a flag',
      ['--eagerStart', 'false', ...HOST],
      'argument 2',
      'stands without an option',
    ],
    [
      'with a token from a Secret',
      [...HOST, '--serviceAuthToken=$(TOKEN)'],
      '--serviceAuthToken',
      /cannot be read/,
    ],
  ])('%s are refused by name', (_, args, field, reason) => {
    expect(settingsFromArguments(args, [secret])).toEqual({
      kind: 'invalid',
      field,
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
  });

  it('are never shown, for a token is among them', () => {
    const wrong = settingsFromArguments([
      ...HOST,
      '--serviceAuthToken',
      'hunter2',
      '--bandwidthLimiter',
      'hunter2',
      'hunter2',
    ]);
    const enumerated = settingsFromArguments([...HOST, '--bandwidthLimiter', 'hunter2']);
    expect(wrong.kind).toBe('invalid');
    expect(JSON.stringify([wrong, enumerated])).not.toContain('hunter2');
  });

  it.each([
    ['a Deployment without containers', operator()],
    [
      'a Deployment without a spec',
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'operator' } },
    ],
    ['a container of something else', operator({ args: ['--v', '2'] })],
  ])('are missing from %s', (_, deployment) => {
    expect(settingsFromOperator(deployment)).toEqual({
      kind: 'invalid',
      field: '--instancesHost',
      reason: 'is missing',
    });
  });
});

describe('settings from configuration', () => {
  it('need a host alone, and hand out warm instances', () => {
    expect(unwrap(settingsFromConfig({ instancesHost: 'ide.example.org' }))).toMatchObject({
      keycloak: false,
      eagerStart: true,
      oAuth2ProxyVersion: 'latest',
    });
  });

  it.each([
    [{}, 'instancesHost', 'is missing'],
    [{ instancesHost: 7 }, 'instancesHost', /is not text/],
    [{ instancesHost: 'ide.example.org', instanceHost: 'typo' }, 'settings', /instanceHost/],
    [undefined, 'settings', /is not an object/],
  ])('%j are refused by name', (config, field, reason) => {
    expect(settingsFromConfig(config)).toEqual({
      kind: 'invalid',
      field,
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
  });
});

describe('the fingerprint', () => {
  it('moves with every setting, and with nothing else', () => {
    const settings = unwrap(settingsFromArguments(KEYCLOAK_ARGUMENTS));
    const shuffled = Object.fromEntries(Object.entries(settings).reverse()) as typeof settings;
    const moved = Object.entries(settings).map(([key, value]) =>
      fingerprintOf({ ...settings, [key]: typeof value === 'boolean' ? !value : `${value}x` }),
    );

    expect(fingerprintOf(shuffled)).toBe(fingerprintOf(settings));
    expect(new Set([fingerprintOf(settings), ...moved]).size).toBe(1 + moved.length);
  });
});
