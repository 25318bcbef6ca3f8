import {
  flag,
  intOrString,
  listOf,
  opaque,
  opaqueList,
  pointerToFlag,
  pointerToWhole,
  quantities,
  quantity,
  strings,
  struct,
  text,
  texts,
  time,
  whole,
} from '../schema/dsl.ts';
import { METADATA } from '../schema/metadata.ts';
import type { Schema } from '../schema/schema.ts';

const resources = struct(
  { limits: quantities(), requests: quantities(), claims: opaqueList() },
  { default: {} },
);

const keyReference = struct({ key: text(), name: text(), optional: pointerToFlag() });

const fieldReference = struct({ apiVersion: text({ default: 'v1' }), fieldPath: text() });

const resourceReference = struct({
  containerName: text(),
  resource: text(),
  divisor: quantity({ default: '0' }),
});

const variable = struct({
  name: text(),
  value: text(),
  valueFrom: struct({
    configMapKeyRef: keyReference,
    secretKeyRef: keyReference,
    fieldRef: fieldReference,
    resourceFieldRef: resourceReference,
  }),
});

const source = struct({ name: text(), optional: pointerToFlag() });

const port = struct({
  name: text(),
  containerPort: whole(),
  hostPort: whole(),
  hostIP: text(),
  protocol: text({ default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
});

const mount = struct({
  name: text(),
  mountPath: text(),
  subPath: text(),
  subPathExpr: text(),
  readOnly: flag(),
  mountPropagation: text(),
  recursiveReadOnly: text(),
});

const httpGet = struct({
  path: text({ default: '/' }),
  port: intOrString(),
  host: text(),
  scheme: text({ default: 'HTTP' }),
  httpHeaders: opaqueList(),
});

const probe = struct({
  httpGet,
  exec: struct({ command: texts() }),
  tcpSocket: struct({ port: intOrString(), host: text() }),
  grpc: struct({ port: whole(), service: { type: 'string', default: '' } }),
  initialDelaySeconds: whole(),
  timeoutSeconds: whole({ default: 1 }),
  periodSeconds: whole({ default: 10 }),
  successThreshold: whole({ default: 1 }),
  failureThreshold: whole({ default: 3 }),
  terminationGracePeriodSeconds: pointerToWhole(),
});

const container = struct({
  name: text(),
  image: text(),
  command: texts(),
  args: texts(),
  workingDir: text(),
  ports: listOf(port, 'containerPort'),
  env: listOf(variable, 'name'),
  envFrom: listOf(struct({ prefix: text(), configMapRef: source, secretRef: source })),
  resources,
  resizePolicy: opaqueList(),
  restartPolicy: text(),
  volumeMounts: listOf(mount, 'mountPath'),
  volumeDevices: opaqueList(),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: opaque(),
  terminationMessagePath: text({ default: '/dev/termination-log' }),
  terminationMessagePolicy: text({ default: 'File' }),
  imagePullPolicy: text({ enum: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: opaque(),
  stdin: flag(),
  stdinOnce: flag(),
  tty: flag(),
});

const file = struct({ key: text(), path: text(), mode: pointerToWhole() });
const files = listOf(file);
const mode = pointerToWhole({ default: 420 });

const volume = struct({
  name: text(),
  configMap: struct({ name: text(), items: files, defaultMode: mode, optional: pointerToFlag() }),
  secret: struct({ secretName: text(), items: files, defaultMode: mode, optional: pointerToFlag() }),
  emptyDir: struct({ medium: text(), sizeLimit: quantity() }),
  persistentVolumeClaim: struct({ claimName: text(), readOnly: flag() }),
  hostPath: struct({ path: text(), type: { type: 'string', default: '' } }),
  projected: struct({ sources: opaqueList(), defaultMode: mode }),
  downwardAPI: struct({ items: opaqueList(), defaultMode: mode }),
  nfs: opaque(),
  csi: opaque(),
  ephemeral: opaque(),
  image: opaque(),
});

const toleration = struct({
  key: text(),
  operator: text(),
  value: text(),
  effect: text(),
  tolerationSeconds: pointerToWhole(),
});

const SPEC_FIELDS: Readonly<Record<string, Schema>> = {
  volumes: listOf(volume, 'name'),
  initContainers: listOf(container, 'name'),
  containers: listOf(container, 'name'),
  ephemeralContainers: opaqueList(),
  restartPolicy: text({ default: 'Always', enum: ['Always', 'OnFailure', 'Never'] }),
  terminationGracePeriodSeconds: pointerToWhole({ default: 30 }),
  activeDeadlineSeconds: pointerToWhole(),
  dnsPolicy: text({ default: 'ClusterFirst' }),
  nodeSelector: strings(),
  serviceAccountName: text(),
  serviceAccount: text(),
  automountServiceAccountToken: pointerToFlag(),
  nodeName: text(),
  hostNetwork: flag(),
  hostPID: flag(),
  hostIPC: flag(),
  shareProcessNamespace: pointerToFlag(),
  securityContext: opaque({ default: {} }),
  imagePullSecrets: listOf(struct({ name: text() }), 'name'),
  hostname: text(),
  subdomain: text(),
  affinity: opaque(),
  schedulerName: text({ default: 'default-scheduler' }),
  tolerations: listOf(toleration),
  hostAliases: listOf(struct({ ip: text(), hostnames: texts() }), 'ip'),
  priorityClassName: text(),
  priority: pointerToWhole(),
  dnsConfig: opaque(),
  readinessGates: opaqueList(),
  runtimeClassName: text(),
  enableServiceLinks: pointerToFlag(),
  preemptionPolicy: text(),
  overhead: quantities(),
  topologySpreadConstraints: opaqueList(),
  setHostnameAsFQDN: pointerToFlag(),
  os: opaque(),
  hostUsers: pointerToFlag(),
  schedulingGates: opaqueList(),
  resourceClaims: opaqueList(),
  resources: struct({ limits: quantities(), requests: quantities() }),
};

const template = struct({
  metadata: { ...METADATA, default: {} },
  spec: struct(SPEC_FIELDS, { default: {} }),
});

/** The pod template of Deployments and ReplicaSets. */
export const POD_TEMPLATE: Schema = template;

const condition = struct(
  {
    type: text(),
    status: { type: 'string', default: '' },
    reason: text(),
    message: text(),
    lastProbeTime: { type: 'string', format: 'go-time', nullable: true, default: null },
    lastTransitionTime: { type: 'string', format: 'go-time', nullable: true, default: null },
    observedGeneration: whole(),
  },
  { required: ['type'] },
);

export const POD: Schema = struct({
  spec: struct(
    {
      ...SPEC_FIELDS,
      enableServiceLinks: pointerToFlag({ default: true }),
      priority: pointerToWhole({ default: 0 }),
      preemptionPolicy: text({ default: 'PreemptLowerPriority' }),
    },
    { default: {} },
  ),
  status: struct(
    {
      phase: text(),
      conditions: listOf(condition, 'type'),
      message: text(),
      reason: text(),
      observedGeneration: whole(),
      nominatedNodeName: text(),
      hostIP: text(),
      hostIPs: opaqueList(),
      podIP: text(),
      podIPs: listOf(struct({ ip: text() }), 'ip'),
      startTime: time(),
      containerStatuses: opaqueList(),
      initContainerStatuses: opaqueList(),
      ephemeralContainerStatuses: opaqueList(),
      qosClass: text(),
      resize: text(),
      resourceClaimStatuses: opaqueList(),
    },
    { default: {} },
  ),
});
