/** Text that tools read and people see with `kubectl explain`. */
const INT = (description: string) => ({ type: 'integer', description });
const TEXT = (description: string) => ({ type: 'string', description });
const TIME = (description: string) => ({ type: 'string', format: 'date-time', description });

const SPEC = {
  type: 'object',
  description: 'What Everwarm may do with the pool, and how.',
  properties: {
    mode: {
      type: 'string',
      enum: ['observe', 'guard'],
      description:
        'observe: look and tell only. guard: repair beside the platform operator. Default: as configured.',
    },
    paused: { type: 'boolean', description: 'Nothing new is withdrawn; what is begun is finished.' },
    staleness: {
      type: 'string',
      enum: ['fields', 'generation'],
      description:
        'fields: an instance is stale when a field differs from what would be rendered now. generation: when its label does.',
    },
    claims: {
      type: 'object',
      properties: {
        hold: {
          type: 'boolean',
          description:
            'Keep the instance of a user out of the next hands until it is fresh after the release. Default: true.',
        },
      },
    },
    rollout: {
      type: 'object',
      properties: {
        maxUnavailable: {
          'x-kubernetes-int-or-string': true,
          description:
            'How many unclaimed instances may be away at once: a number or a percentage, rounded down, at least 1.',
          anyOf: [{ type: 'integer' }, { type: 'string' }],
        },
      },
    },
  },
};

const LEDGER = {
  type: 'array',
  description: 'The voluntary disruptions in flight.',
  items: {
    type: 'object',
    required: ['slot', 'revision', 'pass', 'since'],
    properties: {
      slot: TEXT('The slot being replaced.'),
      anchor: TEXT('uid of its anchor.'),
      workload: TEXT('uid of its Deployment.'),
      revision: TEXT('What is being built.'),
      pass: TEXT('The pass that may act on it.'),
      since: TIME('When that pass wrote it.'),
      short: INT('How many were away already when this one, which could be handed out, was taken.'),
    },
  },
};

const WAITING = {
  type: 'array',
  description: 'What waits, for what, and since when.',
  items: {
    type: 'object',
    required: ['slot', 'cause', 'revision', 'since', 'tries'],
    properties: {
      slot: TEXT('The slot, or * for the whole pool.'),
      cause: TEXT('What is waited for.'),
      revision: TEXT('What it was tried with; another one starts afresh.'),
      since: TIME('When it began.'),
      tries: INT('How often it was tried.'),
    },
  },
};

const CONDITIONS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: TEXT('Ready, Current, Progressing, Degraded or Leaving.'),
      status: TEXT('True or False.'),
      reason: TEXT('One word.'),
      message: TEXT('One sentence.'),
      lastTransitionTime: TIME('When the status last changed.'),
    },
  },
};

const COUNTS = {
  type: 'object',
  properties: {
    desired: INT('Slots wanted, claimed ones included.'),
    ready: INT('Unclaimed instances that can be handed out.'),
    current: INT('Unclaimed instances that are as they would be rendered now.'),
    stale: INT('Unclaimed instances that are not.'),
    claimed: INT('Instances that a user holds.'),
    claimedStale: INT('Claimed instances that will be replaced when they are released.'),
    claimedSurplus: INT('Claimed instances beyond the wanted number.'),
    failed: INT('Instances that crash, cannot pull their image or never become ready.'),
    blocked: INT('Instances that wait for something outside: quota, room, an image.'),
  },
};

const STATUS = {
  type: 'object',
  properties: {
    observedGeneration: INT("metadata.generation of the pool's source that was last looked at."),
    revision: TEXT('Versioned hash of what is rendered for an instance.'),
    adopted: {
      type: 'boolean',
      description:
        "What the platform's operator makes is what Everwarm makes, or a person accepted the difference.",
    },
    counts: COUNTS,
    ledger: LEDGER,
    waiting: WAITING,
    nextCheckAt: TIME('When Everwarm looks again although nothing is said.'),
    conditions: CONDITIONS,
  },
};

const condition = (type: string, field: 'status' | 'reason') =>
  `.status.conditions[?(@.type=="${type}")].${field}`;

/** The WarmPool kind, as it is installed. `kubectl get warmpools` answers "is it current?" in one line. */
export const WARM_POOL_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'warmpools.everwarm.dev' },
  spec: {
    group: 'everwarm.dev',
    scope: 'Namespaced',
    names: {
      kind: 'WarmPool',
      listKind: 'WarmPoolList',
      plural: 'warmpools',
      singular: 'warmpool',
      shortNames: ['wp'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: STATUS } },
        },
        additionalPrinterColumns: [
          { name: 'Desired', type: 'integer', jsonPath: '.status.counts.desired' },
          { name: 'Ready', type: 'integer', jsonPath: '.status.counts.ready' },
          { name: 'Current', type: 'string', jsonPath: condition('Current', 'status') },
          { name: 'Stale', type: 'integer', jsonPath: '.status.counts.stale' },
          { name: 'Claimed', type: 'integer', jsonPath: '.status.counts.claimed' },
          { name: 'State', type: 'string', jsonPath: condition('Progressing', 'reason') },
          { name: 'Health', type: 'string', jsonPath: condition('Degraded', 'reason') },
          { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
          { name: 'Revision', type: 'string', jsonPath: '.status.revision', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
} as const;
