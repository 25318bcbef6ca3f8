import {
  byteStrings,
  flag,
  intOrString,
  labelSelectorSchema,
  listOf,
  microTime,
  opaque,
  opaqueList,
  pointerToFlag,
  pointerToWhole,
  quantities,
  strings,
  struct,
  text,
  texts,
  time,
  whole,
} from '../schema/dsl.ts';
import type { Schema } from '../schema/schema.ts';
import { POD_TEMPLATE } from './pod-schema.ts';

const servicePort = struct({
  name: text(),
  protocol: text({ default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  appProtocol: text(),
  port: whole(),
  targetPort: intOrString(),
  nodePort: whole(),
});

const condition = struct(
  {
    type: text(),
    status: text(),
    observedGeneration: whole(),
    lastUpdateTime: time(),
    lastTransitionTime: time(),
    reason: text(),
    message: text(),
  },
  { required: ['type'] },
);

const conditions = listOf(condition, 'type');

export const NAMESPACE: Schema = struct({
  spec: struct({ finalizers: texts() }, { default: {} }),
  status: struct({ phase: text(), conditions }, { default: { phase: 'Active' } }),
});

export const SERVICE: Schema = struct({
  spec: struct(
    {
      ports: listOf(servicePort, 'port'),
      selector: strings(),
      clusterIP: text(),
      clusterIPs: texts(),
      type: text({
        default: 'ClusterIP',
        enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
      }),
      externalIPs: texts(),
      sessionAffinity: text({ default: 'None', enum: ['ClientIP', 'None'] }),
      sessionAffinityConfig: opaque(),
      loadBalancerIP: text(),
      loadBalancerSourceRanges: texts(),
      loadBalancerClass: text(),
      externalName: text(),
      externalTrafficPolicy: text(),
      internalTrafficPolicy: text({ default: 'Cluster' }),
      healthCheckNodePort: whole(),
      publishNotReadyAddresses: flag(),
      ipFamilies: texts(),
      ipFamilyPolicy: text(),
      allocateLoadBalancerNodePorts: pointerToFlag(),
      trafficDistribution: text(),
    },
    { default: {} },
  ),
  status: struct({ loadBalancer: opaque({ default: {} }), conditions }, { default: {} }),
});

export const CONFIG_MAP: Schema = struct({
  data: strings(),
  binaryData: byteStrings(),
  immutable: pointerToFlag(),
});

export const SECRET: Schema = struct({
  data: byteStrings(),
  stringData: strings(),
  type: text({ default: 'Opaque' }),
  immutable: pointerToFlag(),
});

export const SERVICE_ACCOUNT: Schema = struct({
  secrets: listOf(struct({ name: text() }), 'name'),
  imagePullSecrets: listOf(struct({ name: text() }), 'name'),
  automountServiceAccountToken: pointerToFlag(),
});

export const PERSISTENT_VOLUME_CLAIM: Schema = struct({
  spec: struct(
    {
      accessModes: texts(),
      selector: labelSelectorSchema(),
      resources: struct({ limits: quantities(), requests: quantities() }, { default: {} }),
      volumeName: text(),
      storageClassName: { type: 'string' },
      volumeMode: text({ default: 'Filesystem' }),
      dataSource: opaque(),
      dataSourceRef: opaque(),
      volumeAttributesClassName: { type: 'string' },
    },
    { default: {} },
  ),
  status: struct(
    {
      phase: text(),
      accessModes: texts(),
      capacity: quantities(),
      conditions,
      allocatedResources: quantities(),
      allocatedResourceStatuses: strings(),
    },
    { default: { phase: 'Pending' } },
  ),
});

export const RESOURCE_QUOTA: Schema = struct({
  spec: struct({ hard: quantities(), scopes: texts(), scopeSelector: opaque() }, { default: {} }),
  status: struct({ hard: quantities(), used: quantities() }, { default: {} }),
});

export const EVENT: Schema = struct({
  involvedObject: struct({
    kind: text(),
    namespace: text(),
    name: text(),
    uid: text(),
    apiVersion: text(),
    resourceVersion: text(),
    fieldPath: text(),
  }),
  reason: text(),
  message: text(),
  source: struct({ component: text(), host: text() }, { default: {} }),
  firstTimestamp: { ...time(), nullable: true, default: null },
  lastTimestamp: { ...time(), nullable: true, default: null },
  count: whole(),
  type: text(),
  eventTime: { ...microTime(), nullable: true, default: null },
  series: opaque(),
  action: text(),
  related: opaque(),
  reportingComponent: { type: 'string', default: '' },
  reportingInstance: { type: 'string', default: '' },
});

export const LEASE: Schema = struct({
  spec: struct(
    {
      holderIdentity: { type: 'string' },
      leaseDurationSeconds: pointerToWhole(),
      acquireTime: microTime(),
      renewTime: microTime(),
      leaseTransitions: pointerToWhole(),
      strategy: text(),
      preferredHolder: text(),
    },
    { default: {} },
  ),
});

const rollingUpdate = struct({
  maxUnavailable: intOrString({ default: '25%' }),
  maxSurge: intOrString({ default: '25%' }),
});

export const DEPLOYMENT: Schema = struct({
  spec: struct(
    {
      replicas: pointerToWhole({ default: 1 }),
      selector: labelSelectorSchema(),
      template: { ...POD_TEMPLATE, default: {} },
      strategy: struct({ type: text({ default: 'RollingUpdate' }), rollingUpdate }, { default: {} }),
      minReadySeconds: whole(),
      revisionHistoryLimit: pointerToWhole({ default: 10 }),
      paused: flag(),
      progressDeadlineSeconds: pointerToWhole({ default: 600 }),
    },
    { default: {} },
  ),
  status: struct(
    {
      observedGeneration: whole(),
      replicas: whole(),
      updatedReplicas: whole(),
      readyReplicas: whole(),
      availableReplicas: whole(),
      unavailableReplicas: whole(),
      terminatingReplicas: pointerToWhole(),
      conditions,
      collisionCount: pointerToWhole(),
    },
    { default: {} },
  ),
});

export const REPLICA_SET: Schema = struct({
  spec: struct(
    {
      replicas: pointerToWhole({ default: 1 }),
      minReadySeconds: whole(),
      selector: labelSelectorSchema(),
      template: { ...POD_TEMPLATE, default: {} },
    },
    { default: {} },
  ),
  status: struct(
    {
      replicas: { type: 'integer', default: 0 },
      fullyLabeledReplicas: whole(),
      readyReplicas: whole(),
      availableReplicas: whole(),
      terminatingReplicas: pointerToWhole(),
      observedGeneration: whole(),
      conditions,
    },
    { default: {} },
  ),
});

/** Only what the server itself reads; the schemas inside are stored as they come. */
export const CUSTOM_RESOURCE_DEFINITION: Schema = struct(
  {
    spec: struct(
      {
        group: text(),
        names: struct(
          {
            plural: text(),
            singular: text(),
            shortNames: texts(),
            kind: text(),
            listKind: text(),
            categories: texts(),
          },
          { required: ['plural', 'kind'] },
        ),
        scope: text({ enum: ['Cluster', 'Namespaced'] }),
        versions: listOf(
          struct(
            {
              name: text(),
              served: { type: 'boolean' },
              storage: { type: 'boolean' },
              deprecated: flag(),
              deprecationWarning: { type: 'string' },
              schema: opaque(),
              subresources: opaque(),
              additionalPrinterColumns: opaqueList(),
              selectableFields: opaqueList(),
            },
            { required: ['name'] },
          ),
        ),
        conversion: struct({ strategy: text(), webhook: opaque() }, { default: { strategy: 'None' } }),
        preserveUnknownFields: flag(),
      },
      { required: ['group', 'names', 'scope', 'versions'] },
    ),
    status: struct(
      {
        conditions,
        acceptedNames: opaque(),
        storedVersions: { type: 'array', items: { type: 'string' } },
      },
      { default: {} },
    ),
  },
  { required: ['spec'] },
);
