import type { Clock, Random } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Cluster } from '../kube/auth/cluster.ts';
import { type InCluster, inCluster } from '../kube/auth/in-cluster.ts';
import { kubeconfigCluster } from '../kube/auth/kubeconfig.ts';
import { createKubeApi, type KubeClient } from '../kube/client.ts';
import type { Platform } from '../platform/platform.ts';
import { createPlatforms } from '../platform/registry.ts';
import { type Settings, settingsFromConfig } from '../platform/theia-cloud/settings.ts';
import type { UnnamedMode } from '../platform/warm-pool.ts';
import { readExtension } from './kubeconfig.ts';

export type Mode = 'observe' | 'guard';

/** Which cluster is meant, as the command line and the environment say it. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: Omit<InCluster, 'clock'>;
  /** None: the one that the kubeconfig or the pod names. */
  readonly namespaces: readonly string[];
  /** The mode of pools whose WarmPool names none; `observe` unless said here or in the kubeconfig, which `asFound` gives way to. */
  readonly mode?: Mode | 'asFound';
  /** The platform operator's settings as JSON. */
  readonly settings?: string;
}

/** A cluster that Everwarm can talk to. */
export interface OpenCluster {
  readonly id: string;
  readonly server: string;
  readonly api: KubeClient;
  readonly namespaces: readonly string[];
  readonly mode: UnnamedMode;
  readonly platforms: readonly Platform[];
}

/** Where the clock and chance of a connection come from, and how long it waits for one answer. */
export interface Connection {
  readonly clock: Clock;
  readonly random: Random;
  readonly deadlineMs?: number;
}

/** Opens the chosen cluster; nothing is sent yet. Rejects with TerminalError when what is configured cannot be used. */
export async function openCluster(choice: ClusterChoice, connection: Connection): Promise<OpenCluster> {
  const { cluster, id, mode, settings } = await locate(choice, connection.clock);
  const given = choice.namespaces.length > 0 ? choice.namespaces : [cluster.defaultNamespace ?? 'default'];
  return {
    id,
    server: cluster.server,
    api: createKubeApi({ cluster, ...connection }),
    namespaces: [...new Set(given)],
    mode,
    platforms: createPlatforms({ mode, ...(settings === undefined ? {} : { theiaCloud: settings }) }),
  };
}

interface Located {
  readonly cluster: Cluster;
  readonly id: string;
  readonly mode: UnnamedMode;
  readonly settings: Settings | undefined;
}

async function locate(choice: ClusterChoice, clock: Clock): Promise<Located> {
  const configured = choice.settings === undefined ? undefined : parseJson(choice.settings);
  if (choice.inCluster !== undefined) {
    const cluster = await inCluster({ ...choice.inCluster, clock });
    const settings = readSettings('EVERWARM_SETTINGS', configured);
    return { cluster, id: 'in-cluster', mode: modeOf(choice, undefined), settings };
  }
  const file = choice.kubeconfig ?? '';
  const cluster = await kubeconfigCluster({
    file,
    ...(choice.context === undefined ? {} : { context: choice.context }),
  });
  const { context, extension } = await readExtension(file, choice.context);
  const settings =
    configured === undefined
      ? readSettings(`${file}: settings`, extension.settings)
      : readSettings('EVERWARM_SETTINGS', configured);
  return { cluster, id: asClusterId(context), mode: modeOf(choice, extension.mode), settings };
}

function modeOf({ mode }: ClusterChoice, written: Mode | undefined): UnnamedMode {
  return mode === 'asFound' ? (written ?? mode) : (mode ?? written ?? 'observe');
}

function readSettings(where: string, config: unknown): Settings | undefined {
  if (config === undefined) return undefined;
  const read = settingsFromConfig(config);
  if (read.kind === 'parsed') return read.value;
  throw new TerminalError(`${where}: ${read.field} ${read.reason}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TerminalError('EVERWARM_SETTINGS is not JSON');
  }
}

/** A context's name bent into what a key can hold: `arn:aws:eks:…:cluster/ide` becomes `arn-aws-eks-…-cluster-ide`. */
function asClusterId(context: string): string {
  const id = context
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return id === '' ? 'cluster' : id;
}
