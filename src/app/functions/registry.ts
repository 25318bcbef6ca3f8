import type { Clock, Random } from '../../clock.ts';
import { TerminalError } from '../../errors.ts';
import type { Cluster } from '../../kube/auth/cluster.ts';
import { type AwsCredentials, eksCluster } from '../../kube/auth/eks.ts';
import { secretKubeconfigCluster } from '../../kube/auth/kubeconfig-text.ts';
import { type ReadSecret, secretTokenCluster } from '../../kube/auth/secret-token.ts';
import { createKubeApi, type KubeClient } from '../../kube/client.ts';
import { createPlatforms } from '../../platform/registry.ts';
import { settingsFromConfig } from '../../platform/theia-cloud/settings.ts';
import type { PoolKey } from '../../pool/key.ts';
import type { OpenCluster } from '../cluster.ts';
import { type ClusterConfig, pemOf } from './clusters-file.ts';

/** One platform of one cluster, as the functions serve it. */
export interface ServedPlatform extends Omit<OpenCluster, 'api'> {
  /** The cluster's API; opened at the first call. Rejects with TerminalError when its secret cannot be used. */
  readonly api: () => Promise<KubeClient>;
}

/** The clusters that the functions serve. One that cannot be reached is no other one's business. */
export interface ClusterRegistry {
  readonly served: readonly ServedPlatform[];
  /** What serves the pool; `undefined` when nothing here does. */
  of(key: PoolKey): ServedPlatform | undefined;
}

export interface RegistryOptions {
  /** Where `clusters` was read from, for messages. */
  readonly file: string;
  readonly clusters: readonly ClusterConfig[];
  readonly clock: Clock;
  readonly random: Random;
  readonly readSecret: ReadSecret;
  readonly credentials: () => Promise<AwsCredentials>;
}

/** A function has no time to wait for a cluster that does not answer. */
const DEADLINE_MS = 10_000;
/** After this long a kubeconfig is read again, whole: its certificates may have been renewed. */
const OPEN_MAX_MS = 10 * 60_000;

/** Opens nothing yet. Throws TerminalError, with file and field, for a platform or setting that nobody knows. */
export function createClusterRegistry(options: RegistryOptions): ClusterRegistry {
  const served = options.clusters.flatMap((cluster, at) => {
    const api = opener(options, cluster);
    return Object.entries(cluster.platforms).map(([name, platform]): ServedPlatform => {
      const where = `${options.file}: clusters.${at}.platforms.${name}`;
      const platforms = createPlatforms({ mode: platform.mode, ...settingsOf(where, platform.settings) });
      const known = platforms.filter((one) => one.name === name);
      if (known.length === 0)
        throw new TerminalError(`${where}: there is ${platforms.map((one) => one.name).join(', ')}`);
      const { namespaces, mode } = platform;
      return { id: cluster.id, server: cluster.server ?? '', api, namespaces, mode, platforms: known };
    });
  });
  return {
    served,
    of: ({ cluster, platform, namespace }) =>
      served.find(
        ({ id, platforms, namespaces }) =>
          id === cluster && platforms.some(({ name }) => name === platform) && namespaces.includes(namespace),
      ),
  };
}

function settingsOf(where: string, config: unknown) {
  if (config === undefined) return {};
  const read = settingsFromConfig(config);
  if (read.kind === 'parsed') return { theiaCloud: read.value };
  throw new TerminalError(`${where}.settings: ${read.field} ${read.reason}`);
}

/** Opens the cluster once, and again when it was open for long or could not be opened. */
function opener(
  { clock, random, ...options }: RegistryOptions,
  config: ClusterConfig,
): ServedPlatform['api'] {
  let opened: Promise<KubeClient> | undefined;
  let openedAt = 0;
  return () => {
    if (opened !== undefined && clock.now() - openedAt < OPEN_MAX_MS) return opened;
    const old = opened;
    const next = clusterOf({ clock, ...options }, config).then((cluster) =>
      createKubeApi({ cluster, clock, random, deadlineMs: DEADLINE_MS }),
    );
    opened = next;
    openedAt = clock.now();
    next.then(
      () => old?.then((client) => client.close()).catch(() => {}),
      () => {
        if (opened === next) opened = undefined;
      },
    );
    return next;
  };
}

async function clusterOf(
  { clock, readSecret, credentials }: Omit<RegistryOptions, 'random'>,
  { server = '', ca: text = '', auth }: ClusterConfig,
): Promise<Cluster> {
  const pem = pemOf(text);
  const ca = pem === undefined ? {} : { ca: pem };
  switch (auth.kind) {
    case 'eks':
      return eksCluster({ server, ...ca, name: auth.name, region: auth.region, credentials, clock });
    case 'serviceAccount':
      return secretTokenCluster({ server, ...ca, secret: auth.secret, readSecret });
    case 'kubeconfig': {
      const { secret, context } = auth;
      return await secretKubeconfigCluster({
        secret,
        readSecret,
        ...(context === undefined ? {} : { context }),
      });
    }
  }
}
