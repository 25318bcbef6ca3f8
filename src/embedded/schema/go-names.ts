/** The names that Go's types have in the messages of its decoder, as far as they do not follow from the field's name. */

const STRUCTS: Readonly<Record<string, string>> = {
  metadata: 'ObjectMeta',
  ownerReferences: 'OwnerReference',
  managedFields: 'ManagedFieldsEntry',
  selector: 'LabelSelector',
  template: 'PodTemplateSpec',
  initContainers: 'Container',
  env: 'EnvVar',
  envFrom: 'EnvFromSource',
  valueFrom: 'EnvVarSource',
  fieldRef: 'ObjectFieldSelector',
  configMapKeyRef: 'ConfigMapKeySelector',
  secretKeyRef: 'SecretKeySelector',
  resourceFieldRef: 'ResourceFieldSelector',
  resources: 'ResourceRequirements',
  readinessProbe: 'Probe',
  livenessProbe: 'Probe',
  startupProbe: 'Probe',
  httpGet: 'HTTPGetAction',
  tcpSocket: 'TCPSocketAction',
  exec: 'ExecAction',
  securityContext: 'SecurityContext',
  imagePullSecrets: 'LocalObjectReference',
  strategy: 'DeploymentStrategy',
  rollingUpdate: 'RollingUpdateDeployment',
  involvedObject: 'ObjectReference',
  source: 'EventSource',
  ports: 'ContainerPort',
};

const WIDE = [
  'generation',
  'observedGeneration',
  'terminationGracePeriodSeconds',
  'activeDeadlineSeconds',
  'deletionGracePeriodSeconds',
];

/** The Go type of the struct in the field `path` of a `kind`. */
export function structName(kind: string, path: string): string {
  const [last = '', before] = path.split('.').reverse();
  if (last === 'spec') return before === 'template' || kind === 'Pod' ? 'PodSpec' : `${kind}Spec`;
  if (last === 'status') return `${kind}Status`;
  if (last === 'conditions') return `${kind}Condition`;
  if (last === 'ports' && kind === 'Service') return 'ServicePort';
  const known = STRUCTS[last];
  if (known !== undefined) return known;
  const singular = last.replace(/s$/, '');
  return singular.slice(0, 1).toUpperCase() + singular.slice(1);
}

/** The Go type of a whole number in the field `path`. */
export function wholeName(path: string): string {
  return WIDE.some((name) => path === name || path.endsWith(`.${name}`)) ? 'int64' : 'int32';
}
