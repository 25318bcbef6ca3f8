import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { TerminalError } from '../../errors.ts';
import type { Cluster } from './cluster.ts';
import { tokenFile } from './token-file.ts';

export interface InCluster {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, as the configuration read them. */
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly clock: Clock;
  /** Where the ServiceAccount is mounted. */
  readonly directory?: string;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The cluster this pod runs in, as its ServiceAccount; the token is read again as the kubelet renews it. */
export async function inCluster(options: InCluster): Promise<Cluster> {
  const { host, port, clock, directory = SERVICE_ACCOUNT_DIRECTORY } = options;
  if (host === undefined || host === '') throw new TerminalError('not inside a cluster: no service host');
  const ca = await readFile(join(directory, 'ca.crt'), 'utf8').catch((cause: unknown) => {
    throw new TerminalError('not inside a cluster: no service account is mounted', { cause });
  });
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').catch(() => '');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port ?? '443'}`,
    ca,
    token: tokenFile(join(directory, 'token'), clock),
    ...(namespace.trim() === '' ? {} : { defaultNamespace: namespace.trim() }),
  };
}
