import { join } from 'node:path';
import type { Binaries } from './build.ts';

/** What the programs of one cluster are started with. */
export interface Layout {
  readonly directory: string;
  readonly pathOf: Extract<Binaries, { kind: 'built' }>['pathOf'];
  readonly ports: { readonly api: number; readonly etcd: number; readonly etcdPeer: number };
  readonly apiServerFlags: readonly string[];
  readonly etcdFlags: readonly string[];
  readonly controllers: readonly string[];
}

/** What Deployments, quotas, namespaces and owners need; no scheduler, no binder of volumes, no autoscaler. */
export const CONTROLLERS: readonly string[] = [
  'garbage-collector-controller',
  'namespace-controller',
  'deployment-controller',
  'replicaset-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'validatingadmissionpolicy-status-controller',
  'pod-garbage-collector-controller',
  'persistentvolumeclaim-protection-controller',
];

export function etcd({ directory, pathOf, ports, etcdFlags }: Layout) {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return {
    name: 'etcd',
    file: pathOf('etcd'),
    log: join(directory, 'etcd.log'),
    args: [
      ...['--name=default', `--data-dir=${join(directory, 'etcd')}`, '--log-level=warn'],
      // Nothing of this has to survive a power cut.
      '--unsafe-no-fsync',
      ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
      `--initial-cluster=default=${peer}`,
      ...etcdFlags,
    ],
  };
}

export function apiServer({ directory, pathOf, ports, apiServerFlags }: Layout) {
  const at = (file: string) => join(directory, file);
  return {
    name: 'kube-apiserver',
    file: pathOf('kube-apiserver'),
    log: at('kube-apiserver.log'),
    args: [
      ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${ports.api}`],
      ...[`--etcd-servers=http://127.0.0.1:${ports.etcd}`, '--endpoint-reconciler-type=none'],
      ...[`--tls-cert-file=${at('server.crt')}`, `--tls-private-key-file=${at('server.key')}`],
      '--service-account-issuer=https://kubernetes.default.svc',
      ...[`--service-account-signing-key-file=${at('sa.key')}`, `--service-account-key-file=${at('sa.pub')}`],
      ...['--service-cluster-ip-range=10.0.0.0/16', '--allow-privileged'],
      ...['--authorization-mode=RBAC', `--token-auth-file=${at('tokens.csv')}`],
      // Pods need no account here; everything else is as shipped.
      '--disable-admission-plugins=ServiceAccount',
      ...[`--audit-policy-file=${at('audit-policy.json')}`, `--audit-log-path=${at('audit.log')}`],
      ...apiServerFlags,
    ],
  };
}

export function controllerManager({ directory, pathOf, controllers }: Layout) {
  const at = (file: string) => join(directory, file);
  return {
    name: 'kube-controller-manager',
    file: pathOf('kube-controller-manager'),
    log: at('kube-controller-manager.log'),
    args: [
      ...[`--kubeconfig=${at('admin.kubeconfig')}`, '--secure-port=0', '--leader-elect=false'],
      ...[`--service-account-private-key-file=${at('sa.key')}`, `--root-ca-file=${at('ca.crt')}`],
      ...['--kube-api-qps=300', '--kube-api-burst=600'],
      `--controllers=${controllers.join(',')}`,
    ],
  };
}
