import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';

const FREE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A kind with everything a schema can hold here: defaults, bounds, rules, lists, unions. */
const WIDGET_SPEC = {
  type: 'object',
  'x-kubernetes-validations': [
    { rule: '!has(self.min) || self.min <= self.size', message: 'min must not exceed size' },
    {
      rule: '!has(self.max) || self.max >= self.size',
      reason: 'FieldValueForbidden',
      fieldPath: '.max',
      messageExpression: "'max ' + (self.max > 5 ? 'big' : 'small')",
    },
  ],
  properties: {
    size: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
    min: { type: 'integer' },
    max: { type: 'integer' },
    mode: { type: 'string', enum: ['Eager', 'Lazy'], default: 'Eager' },
    image: { type: 'string', pattern: '^[a-z]+$', maxLength: 8 },
    note: { type: 'string', nullable: true },
    ratio: { type: 'number' },
    flag: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    tags: { type: 'array', maxItems: 3, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    when: { type: 'string', format: 'date-time' },
    envs: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, value: { type: 'string', default: 'none' } },
      },
    },
    fixed: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed stays' }],
    },
    nested: {
      type: 'object',
      properties: { deep: { type: 'object', properties: { x: { type: 'integer', default: 3 } } } },
    },
    options: { type: 'object', additionalProperties: { type: 'integer' } },
    free: FREE,
  },
};

const WIDGET_STATUS = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    selector: { type: 'string' },
    phase: { type: 'string', enum: ['Up', 'Down'] },
  },
};

function definition(kind: string, plural: string, scope: string, version: object): Definition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.g.dev` },
    spec: {
      group: 'g.dev',
      names: { kind, plural, singular: plural.slice(0, -1), listKind: `${kind}List` },
      scope,
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  };
}

interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

const WIDGETS = definition('Widget', 'widgets', 'Namespaced', {
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: WIDGET_SPEC, status: WIDGET_STATUS } } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.size',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'How.', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

/** A kind without subresources, as those of Educates are. */
const PLAINS = definition('Plain', 'plains', 'Namespaced', {
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } }, status: FREE },
    },
  },
});

/** A kind outside of namespaces. */
const REALMS = definition('Realm', 'realms', 'Cluster', {
  schema: {
    openAPIV3Schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required: ['owner'],
          properties: { owner: { type: 'string', minLength: 2 } },
        },
      },
    },
  },
});

const PRODUCT = join(import.meta.dirname, '../../src/app/crds');

/** The kinds that both servers get before the programs begin. */
export const DEFINITIONS: readonly Definition[] = [
  WIDGETS,
  PLAINS,
  REALMS,
  WARM_POOL_CRD,
  ...readdirSync(PRODUCT)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(PRODUCT, file), 'utf8')) as Definition),
];
