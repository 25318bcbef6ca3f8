import { expect, it } from 'vitest';
import type { StoreResponse } from '../../src/embedded/types.ts';
import {
  type Api,
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  EVENTS,
  LEASES,
  NAMESPACES,
  openApi,
  PLAINS,
  plain,
  refusal,
  SERVICES,
  WIDGETS,
  widget,
} from './_api.ts';

const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

interface Row {
  readonly title: string;
  readonly when: (api: Api) => StoreResponse;
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: unknown;
}

/** Each row is one line of the reference: who asks for this gets exactly that. */
const ROWS: readonly Row[] = [
  {
    title: 'a missing core object is named by its plural',
    when: (api) => api.get(CONFIG_MAPS, 'a'),
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "a" not found',
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    title: 'a missing custom object is named with its group',
    when: (api) => api.remove(WIDGETS, 'a'),
    code: 404,
    reason: 'NotFound',
    message: 'widgets.g.dev "a" not found',
    details: { name: 'a', group: 'g.dev', kind: 'widgets' },
  },
  {
    title: 'a kind that nobody serves is not found',
    when: (api) => api.get({ ...WIDGETS, plural: 'gadgets' }, 'a'),
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  },
  {
    title: 'a second object of one name already exists',
    when: (api) => twice(() => api.create(WIDGETS, widget('a'))),
    code: 409,
    reason: 'AlreadyExists',
    message: 'widgets.g.dev "a" already exists',
    details: { name: 'a', group: 'g.dev', kind: 'widgets' },
  },
  {
    title: 'a name is taken while its object is being deleted',
    when: (api) => {
      api.create(WIDGETS, widget('a', {}, { finalizers: ['g.dev/hold'] }));
      api.remove(WIDGETS, 'a');
      return api.create(WIDGETS, widget('a'));
    },
    code: 409,
    reason: 'AlreadyExists',
    message: 'object is being deleted: widgets.g.dev "a" already exists',
    details: { name: 'a', group: 'g.dev', kind: 'widgets' },
  },
  {
    title: 'a new object must not say its resourceVersion',
    when: (api) => api.create(CONFIG_MAPS, configMap('a', { resourceVersion: '1' })),
    code: 500,
    message: 'resourceVersion should not be set on objects to be created',
  },
  {
    title: 'a body in another namespace than the URL is refused',
    when: (api) => api.create(CONFIG_MAPS, configMap('a', { namespace: 'other' })),
    code: 400,
    reason: 'BadRequest',
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    title: 'a PUT under another name is refused',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a'));
      return api.update(CONFIG_MAPS, 'a', configMap('other'));
    },
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (other) does not match the name on the URL (a)',
  },
  {
    title: 'a custom object of another version is refused',
    when: (api) => api.create(WIDGETS, { ...widget('a'), apiVersion: 'g.dev/v2' }),
    code: 400,
    reason: 'BadRequest',
    message: 'the API version in the data (g.dev/v2) does not match the expected API version (g.dev/v1)',
  },
  {
    title: 'a value of the wrong Go type is refused',
    when: (api) => api.create(CONFIG_MAPS, { ...configMap('a'), data: { a: 1 } }),
    code: 400,
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  },
  {
    title: 'a custom kind insists on the resourceVersion of a PUT',
    when: (api) => {
      api.create(WIDGETS, widget('a'));
      return api.update(WIDGETS, 'a', widget('a'));
    },
    code: 422,
    reason: 'Invalid',
    message:
      'widgets.g.dev "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    details: {
      name: 'a',
      group: 'g.dev',
      kind: 'widgets',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: 0: must be specified for an update',
          field: 'metadata.resourceVersion',
        },
      ],
    },
  },
  {
    title: 'a stale PUT is a conflict',
    when: (api) => {
      const { resourceVersion } = api.create(WIDGETS, widget('a')).body.metadata;
      api.merge(WIDGETS, 'a', { spec: { size: 2 } });
      return api.update(WIDGETS, 'a', widget('a', {}, { resourceVersion }));
    },
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on widgets.g.dev "a": ${MODIFIED}`,
    details: { name: 'a', group: 'g.dev', kind: 'widgets' },
  },
  {
    title: 'a resourceVersion that is no number breaks the real server',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a'));
      return api.update(CONFIG_MAPS, 'a', configMap('a', { resourceVersion: 'abc' }));
    },
    code: 500,
    message: 'strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    title: 'a stale merge patch is a conflict even if it changes nothing',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a'));
      return api.merge(CONFIG_MAPS, 'a', { metadata: { resourceVersion: '1' } });
    },
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on configmaps "a": ${MODIFIED}`,
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    title: 'a merge patch for another uid names the field twice',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a'));
      return api.merge(CONFIG_MAPS, 'a', { metadata: { uid: 'X' } });
    },
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "X": field is immutable',
    details: {
      name: 'a',
      kind: 'ConfigMap',
      causes: Array(2).fill({
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "X": field is immutable',
        field: 'metadata.uid',
      }),
    },
  },
  {
    title: 'a JSON patch whose test fails is rejected without a word why',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a'));
      return api.json(CONFIG_MAPS, 'a', [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }]);
    },
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  },
  {
    title: 'a delete for another uid fails under the Kind',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a', {}));
      const { uid } = api.get(CONFIG_MAPS, 'a').body.metadata;
      const answer = api.remove(CONFIG_MAPS, 'a', { preconditions: { uid: 'X' } });
      expect(answer.body['message']).toContain(`does not match the UID in record (${uid})`);
      return {
        ...answer,
        body: { ...answer.body, message: String(answer.body['message']).split('record')[0] },
      };
    },
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (X) does not match the UID in ',
    details: { name: 'a', kind: 'ConfigMap' },
  },
  {
    title: 'a delete at another resourceVersion fails under the Kind',
    when: (api) => {
      const { resourceVersion } = api.create(WIDGETS, widget('a')).body.metadata;
      expect(resourceVersion).toBe('8');
      return api.remove(WIDGETS, 'a', { preconditions: { resourceVersion: '1' } });
    },
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on Widget.g.dev "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (8). The object might have been modified',
    details: { name: 'a', group: 'g.dev', kind: 'Widget' },
  },
  {
    title: 'a propagation policy that there is not is refused',
    when: (api) => api.remove(CONFIG_MAPS, 'a', { propagation: 'Later' as 'Orphan' }),
    code: 422,
    reason: 'Invalid',
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", "nil"',
  },
  {
    title: 'an object without a name is refused',
    when: (api) => api.create(WIDGETS, { ...widget(''), metadata: {} }),
    code: 422,
    reason: 'Invalid',
    message:
      'Widget.g.dev "" is invalid: [metadata.name: Required value: name or generateName is required, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  },
  {
    title: 'a name in capitals is refused',
    when: (api) => api.create(CONFIG_MAPS, configMap('Bad_Name')),
    code: 422,
    reason: 'Invalid',
    message:
      "ConfigMap \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    title: 'a label value with a space is refused',
    when: (api) => api.create(CONFIG_MAPS, configMap('a', { labels: { x: 'has space' } })),
    code: 422,
    reason: 'Invalid',
    message:
      "ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"has space\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  },
  {
    title: 'a finalizer without a domain is refused',
    when: (api) => api.create(CONFIG_MAPS, configMap('a', { finalizers: ['hold'] })),
    code: 422,
    reason: 'Invalid',
    message:
      'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified',
  },
  {
    title: 'a finalizer cannot be added to an object that is being deleted',
    when: (api) => {
      api.create(CONFIG_MAPS, configMap('a', { finalizers: ['g.dev/hold'] }));
      api.remove(CONFIG_MAPS, 'a');
      return api.merge(CONFIG_MAPS, 'a', { metadata: { finalizers: ['g.dev/hold', 'x/y'] } });
    },
    code: 422,
    reason: 'Invalid',
    message:
      'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/y"}',
    details: {
      name: 'a',
      kind: 'ConfigMap',
      causes: Array(2).fill({
        reason: 'FieldValueForbidden',
        message:
          'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/y"}',
        field: 'metadata.finalizers',
      }),
    },
  },
  {
    title: 'an object has one controller',
    when: (api) => {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', controller: true };
      const ownerReferences = ['a', 'b'].map((name) => ({ ...owner, name, uid: name }));
      return api.create(CONFIG_MAPS, configMap('c', { ownerReferences }));
    },
    code: 422,
    reason: 'Invalid',
    message:
      'ConfigMap "c" is invalid: metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap","controller":true,"name":"a","uid":"a"},{"apiVersion":"v1","kind":"ConfigMap","controller":true,"name":"b","uid":"b"}]: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/a and ConfigMap/b',
  },
  {
    title: 'nothing is created in a namespace that is not there',
    when: (api) => api.create(CONFIG_MAPS, configMap('a'), { namespace: 'nowhere' }),
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "nowhere" not found',
    details: { name: 'nowhere', kind: 'namespaces' },
  },
  {
    title: 'nothing is created in a namespace that is being deleted, and generateName shows its prefix',
    when: (api) => {
      api.remove(NAMESPACES, 'ns');
      return api.create(CONFIG_MAPS, { metadata: { generateName: 'new-' } });
    },
    code: 403,
    reason: 'Forbidden',
    message:
      'configmaps "new-" is forbidden: unable to create new content in namespace ns because it is being terminated',
    details: {
      name: 'new-',
      kind: 'configmaps',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace ns is being terminated',
          field: 'metadata.namespace',
        },
      ],
    },
  },
  {
    title: 'the namespaces of the system stay',
    when: (api) => api.remove(NAMESPACES, 'default'),
    code: 403,
    reason: 'Forbidden',
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
  },
  {
    title: 'a missing status subresource looks like a missing object',
    when: (api) => {
      api.create(PLAINS, plain('p'));
      return api.merge(PLAINS, 'p', { status: {} }, { subresource: 'status' });
    },
    code: 404,
    reason: 'NotFound',
    message: 'plains.g.dev "p" not found',
  },
  {
    title: 'the selector of a Deployment is immutable',
    when: (api) => {
      api.create(DEPLOYMENTS, deployment('d'));
      return api.json(DEPLOYMENTS, 'd', [
        { op: 'replace', path: '/spec/selector/matchLabels', value: { app: 'e' } },
        { op: 'replace', path: '/spec/template/metadata/labels', value: { app: 'e' } },
      ]);
    },
    code: 422,
    reason: 'Invalid',
    message:
      'Deployment.apps "d" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"e"}}: field is immutable',
  },
  {
    title: 'a Service keeps its address',
    when: (api) => {
      api.create(SERVICES, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
      return api.merge(SERVICES, 's', { spec: { clusterIP: '10.96.9.9' } });
    },
    code: 422,
    reason: 'Invalid',
    message:
      'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set',
  },
  {
    title: 'a Lease of no duration is refused',
    when: (api) => api.create(LEASES, { metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0 } }),
    code: 422,
    reason: 'Invalid',
    message:
      'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
  },
  {
    title: 'a MicroTime needs six decimals',
    when: (api) =>
      api.create(LEASES, { metadata: { name: 'l' }, spec: { renewTime: '2026-01-01T00:00:00.123Z' } }),
    code: 400,
    reason: 'BadRequest',
    message:
      'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  },
  {
    title: 'an Event is about something in its own namespace',
    when: (api) => api.create(EVENTS, { metadata: { name: 'e' }, involvedObject: { name: 'x' } }),
    code: 422,
    reason: 'Invalid',
    message:
      'Event "e" is invalid: involvedObject.namespace: Invalid value: "": does not match event.namespace',
  },
  {
    title: 'a PUT of a Lease that somebody deleted is told apart by its uid',
    when: (api) => api.update(LEASES, 'l', { metadata: { name: 'l', uid: 'X', resourceVersion: '5' } }),
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on leases.coordination.k8s.io "l": StorageError: invalid object, Code: 4, Key: /registry/leases/ns/l, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: X, UID in object meta: ',
  },
  {
    title: 'what this server lacks is refused by name',
    when: (api) => {
      api.create(WIDGETS, widget('a'));
      return api.strategic(WIDGETS, 'a', { spec: {} });
    },
    code: 501,
    reason: 'NotImplemented',
    message: 'this embedded API server does not support strategic merge patches on custom resources',
  },
];

function twice(send: () => StoreResponse): StoreResponse {
  send();
  return send();
}

it.each(ROWS)('$title', ({ when, code, reason, message, details }) => {
  const seen = refusal(when(openApi()));
  expect(seen).toMatchObject({ code, message });
  expect(seen.reason).toBe(reason);
  if (details !== undefined) expect(seen.details).toEqual(details);
});

it('answers a refusal with the fields of a Status and no others', () => {
  expect(openApi().get(CONFIG_MAPS, 'a').body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'configmaps "a" not found',
    reason: 'NotFound',
    details: { name: 'a', kind: 'configmaps' },
    code: 404,
  });
});
