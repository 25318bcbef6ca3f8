import type { KubeObject } from '../../kube/api.ts';
import { age } from '../age.ts';
import { list, record, text } from '../json.ts';
import type { Column } from '../kind.ts';

/** The printer columns of the built-in kinds, as `kubectl get` shows them. */

type Cell = (object: KubeObject, now: number) => unknown;

function column(name: string, type: string, cell: Cell, priority = 0): Column {
  return { name, type, priority, cell };
}

const NAME: Column = { ...column('Name', 'string', (object) => object.metadata.name), format: 'name' };
const AGE = column('Age', 'string', (object, now) => age(object.metadata.creationTimestamp, now));

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [NAME, column('Status', 'string', (object) => record(object['status'])['phase']), AGE],
  Pod: [
    NAME,
    column('Ready', 'string', podReady),
    column('Status', 'string', podStatus),
    column('Restarts', 'string', podRestarts),
    AGE,
    column('IP', 'string', (pod) => text(record(pod['status'])['podIP']) ?? '<none>', 1),
    column('Node', 'string', (pod) => text(record(pod['spec'])['nodeName']) ?? '<none>', 1),
    column(
      'Nominated Node',
      'string',
      (pod) => text(record(pod['status'])['nominatedNodeName']) ?? '<none>',
      1,
    ),
    column('Readiness Gates', 'string', readinessGates, 1),
  ],
  Service: [
    NAME,
    column('Type', 'string', (service) => record(service['spec'])['type']),
    column('Cluster-IP', 'string', (service) => text(record(service['spec'])['clusterIP']) ?? '<none>'),
    column('External-IP', 'string', externalAddress),
    column('Port(s)', 'string', servicePorts),
    AGE,
    column('Selector', 'string', (service) => pairs(record(service['spec'])['selector']), 1),
  ],
  ConfigMap: [NAME, column('Data', 'string', dataCount), AGE],
  Secret: [
    NAME,
    column('Type', 'string', (secret) => secret['type']),
    column('Data', 'string', dataCount),
    AGE,
  ],
  ServiceAccount: [NAME, column('Secrets', 'string', (account) => list(account['secrets']).length), AGE],
  PersistentVolumeClaim: [
    NAME,
    column('Status', 'string', (claim) =>
      claim.metadata.deletionTimestamp === undefined ? record(claim['status'])['phase'] : 'Terminating',
    ),
    column('Volume', 'string', (claim) => text(record(claim['spec'])['volumeName']) ?? ''),
    column('Capacity', 'string', (claim) => record(record(claim['status'])['capacity'])['storage'] ?? ''),
    column('Access Modes', 'string', accessModes),
    column('StorageClass', 'string', (claim) => text(record(claim['spec'])['storageClassName']) ?? ''),
    column(
      'VolumeAttributesClass',
      'string',
      (claim) => record(claim['spec'])['volumeAttributesClassName'] ?? '<unset>',
    ),
    AGE,
    column('VolumeMode', 'string', (claim) => record(claim['spec'])['volumeMode'] ?? '<unset>', 1),
  ],
  ResourceQuota: [NAME, column('Request', 'string', quotaUse), column('Limit', 'string', () => ''), AGE],
  Event: [
    column('Last Seen', 'string', (event, now) =>
      age(text(event['lastTimestamp']) ?? text(event['eventTime']), now),
    ),
    column('Type', 'string', (event) => event['type']),
    column('Reason', 'string', (event) => event['reason']),
    column('Object', 'string', eventSubject),
    column('Subobject', 'string', (event) => text(record(event['involvedObject'])['fieldPath']) ?? '', 1),
    column('Source', 'string', eventSource, 1),
    column('Message', 'string', (event) => text(event['message'])?.trim()),
    column(
      'First Seen',
      'string',
      (event, now) => age(text(event['firstTimestamp']) ?? text(event['eventTime']), now),
      1,
    ),
    column('Count', 'string', (event) => count(event['count']), 1),
    { ...column('Name', 'string', (event) => event.metadata.name, 1), format: 'name' },
  ],
  Deployment: [
    NAME,
    column('Ready', 'string', (deployment) => {
      const wanted = count(record(deployment['spec'])['replicas']);
      return `${count(record(deployment['status'])['readyReplicas'])}/${wanted}`;
    }),
    column('Up-to-date', 'string', (object) => count(record(object['status'])['updatedReplicas'])),
    column('Available', 'string', (object) => count(record(object['status'])['availableReplicas'])),
    AGE,
    column('Containers', 'string', (object) => containerField(object, 'name'), 1),
    column('Images', 'string', (object) => containerField(object, 'image'), 1),
    column('Selector', 'string', selectorText, 1),
  ],
  ReplicaSet: [
    NAME,
    column('Desired', 'integer', (set) => count(record(set['spec'])['replicas'])),
    column('Current', 'integer', (set) => count(record(set['status'])['replicas'])),
    column('Ready', 'integer', (set) => count(record(set['status'])['readyReplicas'])),
    AGE,
    column('Containers', 'string', (object) => containerField(object, 'name'), 1),
    column('Images', 'string', (object) => containerField(object, 'image'), 1),
    column('Selector', 'string', selectorText, 1),
  ],
  Lease: [NAME, column('Holder', 'string', (lease) => record(lease['spec'])['holderIdentity'] ?? ''), AGE],
  CustomResourceDefinition: [
    NAME,
    column('Created At', 'date', (definition) => definition.metadata.creationTimestamp),
  ],
};

/** The columns of a built-in kind; name and age for one without its own. */
export function columnsOf(kind: string): readonly Column[] {
  return COLUMNS[kind] ?? [NAME, AGE];
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function pairs(value: unknown): string {
  const entries = Object.entries(record(value));
  return entries.length === 0 ? '<none>' : entries.map(([key, entry]) => `${key}=${entry}`).join(',');
}

function selectorText(object: KubeObject): string {
  return pairs(record(record(object['spec'])['selector'])['matchLabels']);
}

function containerField(object: KubeObject, field: string): string {
  const template = record(record(object['spec'])['template']);
  return list(record(template['spec'])['containers'])
    .map((container) => String(record(container)[field]))
    .join(',');
}

function dataCount(object: KubeObject): number {
  return Object.keys(record(object['data'])).length + Object.keys(record(object['binaryData'])).length;
}

function podReady(pod: KubeObject): string {
  const statuses = list(record(pod['status'])['containerStatuses']).map(record);
  const ready = statuses.filter((status) => status['ready'] === true).length;
  return `${ready}/${list(record(pod['spec'])['containers']).length}`;
}

function podStatus(pod: KubeObject): unknown {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const status = record(pod['status']);
  for (const container of list(status['containerStatuses']).map(record)) {
    const state = record(container['state']);
    const reason = record(state['waiting'])['reason'] ?? record(state['terminated'])['reason'];
    if (reason !== undefined) return reason;
  }
  return status['reason'] ?? status['phase'];
}

function podRestarts(pod: KubeObject): string {
  const statuses = list(record(pod['status'])['containerStatuses']).map(record);
  return String(statuses.reduce((sum, status) => sum + count(status['restartCount']), 0));
}

function externalAddress(service: KubeObject): string {
  const spec = record(service['spec']);
  if (spec['type'] === 'ExternalName') return String(spec['externalName']);
  return spec['type'] === 'LoadBalancer' ? '<pending>' : '<none>';
}

function servicePorts(service: KubeObject): string {
  const ports = list(record(service['spec'])['ports']).map(record);
  if (ports.length === 0) return '<none>';
  return ports
    .map(
      ({ port, nodePort, protocol }) => `${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol}`,
    )
    .join(',');
}

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(claim: KubeObject): string {
  const modes = list(record(claim['status'])['accessModes']);
  return modes.map((mode) => MODES[String(mode)] ?? String(mode)).join(',');
}

function quotaUse(quota: KubeObject): string {
  const { hard, used } = record(quota['status']);
  return Object.entries(record(hard))
    .map(([name, limit]) => `${name}: ${record(used)[name] ?? 0}/${limit}`)
    .join(', ');
}

function eventSubject(event: KubeObject): string {
  const subject = record(event['involvedObject']);
  return `${String(subject['kind']).toLowerCase()}/${subject['name']}`;
}

/** How many of a pod's own gates are open. */
function readinessGates(pod: KubeObject): string {
  const gates = list(record(pod['spec'])['readinessGates']).map((gate) => record(gate)['conditionType']);
  if (gates.length === 0) return '<none>';
  const conditions = list(record(pod['status'])['conditions']).map(record);
  const open = gates.filter((gate) =>
    conditions.some((condition) => condition['type'] === gate && condition['status'] === 'True'),
  );
  return `${open.length}/${gates.length}`;
}

function eventSource(event: KubeObject): string {
  const { component, host } = record(event['source']);
  return [component, host]
    .map(text)
    .filter((part) => part !== undefined)
    .join(', ');
}
