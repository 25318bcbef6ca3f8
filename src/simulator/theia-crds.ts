/**
 * The kinds that Theia Cloud brings along, as far as the simulated cluster needs them: names, versions, fields, required ones.
 * HTTPRoute is open: nothing here looks into it.
 */

const TEXT = { type: 'string' };
const INT = { type: 'integer' };
const OPTIONS = { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } };
const TEXTS = { type: 'array', items: TEXT };
const NAME = { type: 'string', pattern: '^[a-z0-9A-Z-_]+$' };
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const APP_DEFINITION = {
  type: 'object',
  required: [
    'name',
    'image',
    'uid',
    'port',
    'ingressname',
    'minInstances',
    'maxInstances',
    'requestsCpu',
    'requestsMemory',
    'limitsMemory',
    'limitsCpu',
  ],
  'x-kubernetes-validations': [{ rule: 'self.minInstances <= self.maxInstances' }],
  properties: {
    name: NAME,
    image: TEXT,
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
    pullSecret: TEXT,
    uid: INT,
    port: { type: 'integer', minimum: 0, maximum: 65535 },
    ingressname: TEXT,
    ingressHostnamePrefixes: TEXTS,
    minInstances: INT,
    maxInstances: INT,
    timeout: INT,
    requestsMemory: TEXT,
    requestsCpu: TEXT,
    limitsMemory: TEXT,
    limitsCpu: TEXT,
    downlinkLimit: INT,
    uplinkLimit: INT,
    mountPath: TEXT,
    monitor: OPEN,
    options: OPTIONS,
  },
};
const SIDECARS = { type: 'array', items: OPEN };

const SESSION = {
  type: 'object',
  required: ['name', 'user', 'appDefinition'],
  properties: {
    name: NAME,
    workspace: TEXT,
    appDefinition: NAME,
    user: TEXT,
    sessionSecret: TEXT,
    options: OPTIONS,
    envVars: OPTIONS,
    envVarsFromConfigMaps: TEXTS,
    envVarsFromSecrets: TEXTS,
  },
};

const WORKSPACE = {
  type: 'object',
  required: ['name', 'user'],
  properties: { name: NAME, label: TEXT, appDefinition: NAME, user: TEXT, storage: TEXT, options: OPTIONS },
};

const withSidecars = { ...APP_DEFINITION, properties: { ...APP_DEFINITION.properties, sidecars: SIDECARS } };
const OPERATOR_STATUS = { operatorStatus: TEXT, operatorMessage: TEXT };
const SESSION_STATUS = { ...OPERATOR_STATUS, url: TEXT, error: TEXT, lastActivity: INT };

/** The definitions of Theia Cloud's kinds and of the route that it publishes users under. */
export const THEIA_CRDS: readonly unknown[] = [
  definition('theia.cloud', ['AppDefinition', 'appdefinition'], ['appdef', 'ad'], {
    v1beta11: schema(withSidecars, OPERATOR_STATUS),
    v1beta10: schema(APP_DEFINITION, OPERATOR_STATUS),
  }),
  definition('theia.cloud', ['Session', 'session'], [], { v1beta8: schema(SESSION, SESSION_STATUS) }),
  definition('theia.cloud', ['Workspace', 'workspace'], ['ws'], {
    v1beta5: schema(WORKSPACE, { ...OPERATOR_STATUS, volumeClaim: OPEN, volumeAttach: OPEN, error: TEXT }),
  }),
  definition('gateway.networking.k8s.io', ['HTTPRoute', 'httproute'], [], {
    v1: { type: 'object', properties: { spec: OPEN, status: OPEN } },
  }),
];

function schema(spec: object, status: object): object {
  return {
    type: 'object',
    required: ['spec'],
    properties: { spec, status: { type: 'object', properties: status } },
  };
}

/** The first version is the one that is stored. */
function definition(
  group: string,
  [kind, singular]: readonly [string, string],
  shortNames: readonly string[],
  versions: Readonly<Record<string, object>>,
): unknown {
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // That group is protected: its definitions must say where they were reviewed.
      ...(group.endsWith('.k8s.io')
        ? {
            annotations: {
              'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328',
            },
          }
        : {}),
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames },
      versions: Object.entries(versions).map(([name, openAPIV3Schema], at) => ({
        name,
        served: true,
        storage: at === 0,
        subresources: { status: {} },
        schema: { openAPIV3Schema },
      })),
    },
  };
}
