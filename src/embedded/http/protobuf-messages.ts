/** The protobuf messages that kubectl's `create` and `auth can-i` fill: the fields by their numbers. */

/** How the value of a field is written. */
type Form = 'text' | 'number' | 'flag' | 'bytes' | 'raw' | 'time' | 'strings' | 'byteStrings';
export type Field = readonly [name: string, form: Form | Message, repeated?: 'list'];
/** The fields of a message by their numbers. */
export interface Message {
  readonly [number: number]: Field;
}

/** What every body is wrapped in. */
export const ENVELOPE: Message = {
  1: ['typeMeta', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }],
  2: ['raw', 'raw'],
  3: ['contentEncoding', 'text'],
  4: ['contentType', 'text'],
};
const METADATA: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  4: ['selfLink', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  7: ['generation', 'number'],
  8: ['creationTimestamp', 'time'],
  11: ['labels', 'strings'],
  12: ['annotations', 'strings'],
  14: ['finalizers', 'text', 'list'],
};
const METADATA_FIELD: Field = ['metadata', METADATA];
const PORT: Message = {
  1: ['name', 'text'],
  2: ['hostPort', 'number'],
  3: ['containerPort', 'number'],
  4: ['protocol', 'text'],
  5: ['hostIP', 'text'],
};
const CONTAINER: Message = {
  1: ['name', 'text'],
  2: ['image', 'text'],
  3: ['command', 'text', 'list'],
  4: ['args', 'text', 'list'],
  5: ['workingDir', 'text'],
  6: ['ports', PORT, 'list'],
  8: ['resources', {}],
  13: ['terminationMessagePath', 'text'],
  14: ['imagePullPolicy', 'text'],
  16: ['stdin', 'flag'],
  17: ['stdinOnce', 'flag'],
  18: ['tty', 'flag'],
  20: ['terminationMessagePolicy', 'text'],
};
const POD_SPEC: Message = {
  2: ['containers', CONTAINER, 'list'],
  3: ['restartPolicy', 'text'],
  6: ['dnsPolicy', 'text'],
  8: ['serviceAccountName', 'text'],
  9: ['serviceAccount', 'text'],
  10: ['nodeName', 'text'],
  11: ['hostNetwork', 'flag'],
  12: ['hostPID', 'flag'],
  13: ['hostIPC', 'flag'],
  16: ['hostname', 'text'],
  17: ['subdomain', 'text'],
  19: ['schedulerName', 'text'],
  24: ['priorityClassName', 'text'],
};
/** Of a new Deployment: all zero. */
const DEPLOYMENT_STATUS: Message = {
  1: ['observedGeneration', 'number'],
  2: ['replicas', 'number'],
  3: ['updatedReplicas', 'number'],
  4: ['availableReplicas', 'number'],
  5: ['unavailableReplicas', 'number'],
  7: ['readyReplicas', 'number'],
};
const DEPLOYMENT: Message = {
  1: METADATA_FIELD,
  2: [
    'spec',
    {
      1: ['replicas', 'number'],
      2: ['selector', { 1: ['matchLabels', 'strings'] }],
      3: ['template', { 1: METADATA_FIELD, 2: ['spec', POD_SPEC] }],
      4: ['strategy', { 1: ['type', 'text'] }],
      5: ['minReadySeconds', 'number'],
      6: ['revisionHistoryLimit', 'number'],
      7: ['paused', 'flag'],
      9: ['progressDeadlineSeconds', 'number'],
    },
  ],
  3: ['status', DEPLOYMENT_STATUS],
};
/** The messages of the kinds that kubectl sends so. */
export const KINDS: Readonly<Record<string, Message>> = {
  Namespace: {
    1: METADATA_FIELD,
    2: ['spec', { 1: ['finalizers', 'text', 'list'] }],
    3: ['status', { 1: ['phase', 'text'] }],
  },
  ConfigMap: {
    1: METADATA_FIELD,
    2: ['data', 'strings'],
    3: ['binaryData', 'byteStrings'],
    4: ['immutable', 'flag'],
  },
  Secret: {
    1: METADATA_FIELD,
    2: ['data', 'byteStrings'],
    3: ['type', 'text'],
    4: ['stringData', 'strings'],
    5: ['immutable', 'flag'],
  },
  ServiceAccount: { 1: METADATA_FIELD },
  Deployment: DEPLOYMENT,
  SelfSubjectAccessReview: {
    1: METADATA_FIELD,
    2: [
      'spec',
      {
        1: [
          'resourceAttributes',
          {
            1: ['namespace', 'text'],
            2: ['verb', 'text'],
            3: ['group', 'text'],
            4: ['version', 'text'],
            5: ['resource', 'text'],
            6: ['subresource', 'text'],
            7: ['name', 'text'],
          },
        ],
        2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
      },
    ],
    3: [
      'status',
      {
        1: ['allowed', 'flag'],
        2: ['reason', 'text'],
        3: ['evaluationError', 'text'],
        4: ['denied', 'flag'],
      },
    ],
  },
};
