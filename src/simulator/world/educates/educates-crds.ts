import { GROUP } from '../../../platform/educates/resources.ts';

/** Educates' kinds as the server checks them. None has a status subresource: whoever writes a status writes a new generation. */

const TEXT = { type: 'string' };
const INT = { type: 'integer' };
const FLAG = { type: 'boolean' };
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const DURATION = { type: 'string', pattern: '^\\d+(s|m|h)$' };
const STRINGS = list(TEXT);
const NAMED = fields({ name: TEXT, value: TEXT }, ['name']);
const REGISTRY = fields({ host: TEXT, namespace: TEXT }, ['host']);
const TRACKED = fields({ trackingId: TEXT }, ['trackingId']);
const ANALYTICS = { amplitude: TRACKED, clarity: TRACKED, google: TRACKED };
const SECRETS = fields({ ingress: STRINGS, registry: STRINGS });
const LOGIN = fields({ username: TEXT, password: TEXT }, ['username', 'password']);

const TIMES = { expires: DURATION, orphaned: DURATION };
const COUNTS = { capacity: INT, reserved: INT, initial: INT };
const ENTRY = {
  ...COUNTS,
  ...TIMES,
  deadline: DURATION,
  overdue: DURATION,
  overtime: DURATION,
  refresh: DURATION,
  env: list(NAMED),
  labels: list(NAMED),
  registry: REGISTRY,
};

const PORTAL = fields({
  ...COUNTS,
  ...TIMES,
  catalog: fields({ visibility: { type: 'string', pattern: '^(public|private)$' } }),
  clients: fields({ robot: fields({ id: TEXT, secret: TEXT }) }),
  cookies: fields({ domain: TEXT }),
  credentials: fields({
    admin: fields({ username: TEXT, password: TEXT }),
    robot: fields({ username: TEXT, password: TEXT }),
  }),
  index: TEXT,
  ingress: fields({
    hostname: TEXT,
    tlsCertificateRef: fields({ name: TEXT, namespace: TEXT }, ['name']),
  }),
  labels: list(NAMED),
  logo: TEXT,
  password: TEXT,
  registration: fields({ enabled: FLAG, type: { type: 'string', pattern: '^(one-step|anonymous)$' } }),
  sessions: fields({ anonymous: INT, maximum: INT, registered: INT }),
  theme: fields({ name: TEXT, frame: fields({ ancestors: STRINGS }) }),
  title: TEXT,
  updates: fields({ workshop: { type: 'boolean', default: false } }),
  workshop: fields({ defaults: fields(ENTRY) }),
});

const PORTAL_STATUS = fields(
  {
    phase: TEXT,
    message: TEXT,
    namespace: TEXT,
    url: TEXT,
    secrets: SECRETS,
    clients: fields({ robot: fields({ id: TEXT, secret: TEXT }, ['id', 'secret']) }, ['robot']),
    credentials: fields({ admin: LOGIN, robot: LOGIN }, ['admin', 'robot']),
  },
  ['phase'],
);

const ENVIRONMENT = fields(
  {
    analytics: fields(ANALYTICS),
    cookies: fields({ domain: TEXT }),
    environment: fields({
      objects: list(OPEN),
      secrets: list(fields({ name: TEXT, namespace: TEXT }, ['namespace', 'name'])),
    }),
    registry: REGISTRY,
    request: fields({ enabled: FLAG, namespaces: STRINGS, token: TEXT }, ['enabled']),
    session: fields({
      env: list(NAMED),
      ingress: fields({ class: TEXT, domain: TEXT, protocol: TEXT, secret: TEXT }),
      username: TEXT,
      password: TEXT,
    }),
    theme: fields({ name: TEXT }),
    workshop: fields({ name: TEXT }, ['name']),
  },
  ['workshop'],
);

const PINNED = fields({ name: TEXT, uid: TEXT, generation: INT, spec: OPEN }, [
  'name',
  'uid',
  'generation',
  'spec',
]);

const SESSION = fields(
  {
    analytics: fields(ANALYTICS),
    environment: fields({ name: TEXT }, ['name']),
    portal: fields({ name: TEXT, url: TEXT }, ['name', 'url']),
    request: fields({ apiVersion: TEXT, kind: TEXT, name: TEXT, namespace: TEXT, uid: TEXT }),
    session: fields(
      {
        id: TEXT,
        config: fields({ password: TEXT }),
        env: list(NAMED),
        ingress: fields({ class: TEXT, domain: TEXT, secret: TEXT }),
        username: TEXT,
        password: TEXT,
      },
      ['id'],
    ),
    workshop: fields({ name: TEXT }, ['name']),
  },
  ['environment'],
);

const ALLOCATION = fields(
  {
    environment: fields({ name: TEXT }, ['name']),
    session: fields({ name: TEXT, user: TEXT }, ['name', 'user']),
  },
  ['environment', 'session'],
);

/** What the server knows of them; a Workshop's own fields are open beyond its two texts. */
export const EDUCATES_CRDS: readonly unknown[] = [
  kind('TrainingPortal', {
    spec: fields({
      analytics: fields({ ...ANALYTICS, webhook: fields({ url: TEXT }, ['url']) }),
      portal: PORTAL,
      workshops: list(fields({ name: { type: 'string', minLength: 1 }, alias: TEXT, ...ENTRY }, ['name'])),
    }),
    status: fields({ kopf: OPEN, educates: PORTAL_STATUS }),
  }),
  kind('Workshop', {
    spec: { ...OPEN, required: ['title', 'description'], properties: { title: TEXT, description: TEXT } },
    status: OPEN,
  }),
  kind('WorkshopEnvironment', {
    spec: ENVIRONMENT,
    status: status({
      ...COUNTS,
      phase: TEXT,
      message: TEXT,
      namespace: TEXT,
      secrets: SECRETS,
      workshop: PINNED,
    }),
  }),
  kind('WorkshopSession', {
    spec: SESSION,
    status: status({
      phase: TEXT,
      message: TEXT,
      url: TEXT,
      user: TEXT,
      sshd: fields({ enabled: FLAG, tunnel: fields({ enabled: FLAG }) }, ['enabled']),
    }),
  }),
  kind('WorkshopAllocation', { spec: ALLOCATION, status: status({ phase: TEXT, message: TEXT }) }),
];

function list(items: object) {
  return { type: 'array', items };
}

function fields(properties: object, required: readonly string[] = []) {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

/** Beside `educates` everything is kept, under it only what is named. */
function status(educates: object) {
  return { ...OPEN, properties: { educates: fields(educates) } };
}

function kind(name: string, properties: object) {
  const singular = name.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: { kind: name, plural: `${singular}s`, singular, categories: ['educates', 'educates-training'] },
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}
