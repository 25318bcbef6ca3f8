import type { KubeObject } from '../../kube/api.ts';
import { type Json, list, record, text, withField } from '../json.ts';
import type { CompleteContext } from '../kind.ts';

/** Fills in the fields that depend on other fields of the same object. */

export function completeTemplate(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = record(object['spec']);
  const before = record(old?.['spec']);
  const template = record(spec['template']);
  if (template['spec'] === undefined || template === before['template']) return completeStrategy(object);
  const podSpec = completePodSpec(record(template['spec']));
  const next = withField(spec, 'template', withField(template, 'spec', podSpec));
  return completeStrategy(withSpec(object, next));
}

/** A rolling update has its two limits; another strategy has none. */
function completeStrategy(object: KubeObject): KubeObject {
  if (object.kind !== 'Deployment') return object;
  const spec = record(object['spec']);
  const strategy = record(spec['strategy']);
  if (strategy['type'] !== 'RollingUpdate' || strategy['rollingUpdate'] !== undefined) return object;
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' };
  return withSpec(object, { ...spec, strategy: { ...strategy, rollingUpdate } });
}

function withSpec(object: KubeObject, spec: Json): KubeObject {
  return object['spec'] === spec ? object : { ...object, spec };
}

function completePodSpec(spec: Json): Json {
  let next = spec;
  for (const field of ['containers', 'initContainers']) {
    if (spec[field] === undefined) continue;
    next = withField(
      next,
      field,
      list(spec[field]).map((container) => withPullPolicy(record(container))),
    );
  }
  const account = text(spec['serviceAccountName']) ?? text(spec['serviceAccount']);
  if (account === undefined) return next;
  return withField(withField(next, 'serviceAccountName', account), 'serviceAccount', account);
}

function withPullPolicy(container: Json): Json {
  if (container['imagePullPolicy'] !== undefined) return container;
  const image = text(container['image']) ?? '';
  if (image.includes('@')) return { ...container, imagePullPolicy: 'IfNotPresent' };
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  const moves = tag === undefined || tag === 'latest';
  return { ...container, imagePullPolicy: moves ? 'Always' : 'IfNotPresent' };
}

const DEFAULT_TOLERATIONS = ['not-ready', 'unreachable'].map((state) => ({
  effect: 'NoExecute',
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  tolerationSeconds: 300,
}));

export function completePod(object: KubeObject, old: KubeObject | undefined): KubeObject {
  if (object['spec'] === old?.['spec'] && old !== undefined) return completeAddresses(object);
  const spec = completePodSpec(record(object['spec']));
  const containers = list(spec['containers']).map((container) => withRequests(record(container)));
  const keys = new Set(list(spec['tolerations']).map((toleration) => record(toleration)['key']));
  const missing = DEFAULT_TOLERATIONS.filter(({ key }) => !keys.has(key));
  const tolerations = [...list(spec['tolerations']), ...missing];
  const next = withSpec(object, {
    ...spec,
    containers,
    ...(tolerations.length === 0 ? {} : { tolerations }),
  });
  if (old !== undefined) return next;
  return { ...next, status: { phase: 'Pending', qosClass: qosClass(containers) } };
}

/** A pod's address is the first of its addresses. */
function completeAddresses(pod: KubeObject): KubeObject {
  const status = record(pod['status']);
  const ip = text(status['podIP']);
  if (ip === undefined || status['podIPs'] !== undefined) return pod;
  return { ...pod, status: { ...status, podIPs: [{ ip }] } };
}

function withRequests(container: Json): Json {
  const resources = record(container['resources']);
  const limits = record(resources['limits']);
  const requests = { ...limits, ...record(resources['requests']) };
  if (Object.keys(limits).length === 0) return container;
  return { ...container, resources: { ...resources, requests } };
}

function qosClass(containers: readonly Json[]): string {
  const all = containers.map((container) => record(container['resources']));
  const isEmpty = (resources: Json) =>
    Object.keys(record(resources['limits'])).length + Object.keys(record(resources['requests'])).length === 0;
  if (all.every(isEmpty)) return 'BestEffort';
  const guaranteed = all.every(({ limits, requests }) =>
    ['cpu', 'memory'].every(
      (name) => record(limits)[name] !== undefined && record(limits)[name] === record(requests)[name],
    ),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

export function completeService(
  object: KubeObject,
  old: KubeObject | undefined,
  context: CompleteContext,
): KubeObject {
  if (old !== undefined && object['spec'] === old['spec']) return object;
  const spec = record(object['spec']);
  const ports = list(spec['ports'])
    .map(record)
    .map((port) => (port['targetPort'] === undefined ? { ...port, targetPort: port['port'] ?? 0 } : port));
  const named = { ...spec, ...(ports.length === 0 ? {} : { ports }) };
  if (spec['type'] === 'ExternalName') return withSpec(object, named);
  const before = record(old?.['spec']);
  const clusterIP =
    text(spec['clusterIP']) ??
    text(before['clusterIP']) ??
    (context.dryRun ? '10.0.0.0' : context.nextClusterIp());
  return withSpec(object, {
    ...named,
    clusterIP,
    clusterIPs: spec['clusterIPs'] ?? [clusterIP],
    ipFamilies: spec['ipFamilies'] ?? ['IPv4'],
    ipFamilyPolicy: spec['ipFamilyPolicy'] ?? 'SingleStack',
  });
}

/** `stringData` is a way to write `data`; it is never stored. */
export function completeSecret(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object;
  if (stringData === undefined) return object;
  const encoded = Object.entries(record(stringData)).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...rest, data: { ...record(object['data']), ...Object.fromEntries(encoded) } } as KubeObject;
}

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

export function completeNamespace(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const labels = { ...object.metadata.labels, [NAMESPACE_LABEL]: object.metadata.name };
  const labelled =
    object.metadata.labels?.[NAMESPACE_LABEL] === object.metadata.name
      ? object
      : { ...object, metadata: { ...object.metadata, labels } };
  if (old !== undefined) return labelled;
  const given = list(record(object['spec'])['finalizers']);
  return { ...labelled, spec: { finalizers: [...new Set([...given, 'kubernetes'])] } };
}

export function completeClaim(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const finalizers = object.metadata.finalizers ?? [];
  if (old !== undefined || finalizers.includes(CLAIM_FINALIZER)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, CLAIM_FINALIZER] } };
}

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
