import { join } from 'node:path';
import { TerminalError } from './errors.ts';

/** What the process is told by its surroundings. The only place that reads the environment. */
export interface Config {
  /** The kubeconfig to use when none is named: KUBECONFIG, or the one in the home directory, as kubectl does. */
  readonly kubeconfig: string;
  /** Where a pod finds the API server, and its ServiceAccount if not where it usually is; empty outside of a cluster. */
  readonly service: {
    readonly host: string | undefined;
    readonly port: string | undefined;
    readonly directory?: string;
  };
  /** The platform operator's settings as JSON, for a cluster where no operator runs to read them from. */
  readonly settings: string | undefined;
  /** What `everwarm forward` is told beside its file; each stands for the field of that name. */
  readonly forward: ForwardVariables;
  /** False when NO_COLOR says so. A terminal is asked for as well. */
  readonly color: boolean;
}

/** Each as it was written; absent when it was not. */
export interface ForwardVariables {
  readonly cluster?: string;
  readonly namespaces?: string;
  readonly webhookUrl?: string;
  readonly webhookKey?: string;
  readonly webhookSecret?: string;
}

/** The variables of `everwarm forward`, by what they stand for. */
export const FORWARD_VARIABLES: Readonly<Record<keyof ForwardVariables, string>> = {
  cluster: 'EVERWARM_CLUSTER',
  namespaces: 'EVERWARM_NAMESPACES',
  webhookUrl: 'EVERWARM_WEBHOOK_URL',
  webhookKey: 'EVERWARM_WEBHOOK_KEY',
  webhookSecret: 'EVERWARM_WEBHOOK_SECRET',
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the configuration from `variables`, the process's own unless said otherwise. */
export function readConfig(variables: Variables = process.env): Config {
  const [first] = (variables['KUBECONFIG'] ?? '').split(process.platform === 'win32' ? ';' : ':');
  return {
    kubeconfig: first || join(variables['HOME'] ?? '', '.kube', 'config'),
    service: serviceIn(variables),
    settings: variables['EVERWARM_SETTINGS'] || undefined,
    forward: forwardVariables(variables),
    // https://no-color.org: present and not empty, whatever it says.
    color: (variables['NO_COLOR'] ?? '') === '',
  };
}

function serviceIn(variables: Variables): Config['service'] {
  const directory = variables['EVERWARM_SERVICE_ACCOUNT'];
  return {
    host: variables['KUBERNETES_SERVICE_HOST'],
    port: variables['KUBERNETES_SERVICE_PORT'],
    ...(directory ? { directory } : {}),
  };
}

function forwardVariables(variables: Variables): ForwardVariables {
  const entries = Object.entries(FORWARD_VARIABLES).map(([field, name]) => [field, variables[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value));
}

/** What a cloud function is told by its surroundings. Each part is there only in the functions that use it. */
export interface FunctionConfig {
  /** Tells the numbers of one installation from another's. */
  readonly stage: string;
  /** The file that configures the clusters. */
  readonly clustersFile: string;
  /** The queue of keys that wait for their pass. */
  readonly queueUrl: string;
  /** The queue of keys that wait for a time. */
  readonly laterUrl: string;
  /** The bus that is told of outcomes. */
  readonly busName: string;
}

const FUNCTION_VARIABLES: Readonly<Record<keyof FunctionConfig, string>> = {
  stage: 'EVERWARM_STAGE',
  clustersFile: 'EVERWARM_CLUSTERS_FILE',
  queueUrl: 'EVERWARM_QUEUE_URL',
  laterUrl: 'EVERWARM_LATER_URL',
  busName: 'EVERWARM_BUS',
};

/** Reads what a function needs from `variables`. Throws TerminalError that names the first one that is missing. */
export function readFunctionConfig<K extends keyof FunctionConfig>(
  needed: readonly K[],
  variables: Variables = process.env,
): Pick<FunctionConfig, K> {
  const entries = needed.map((field) => {
    const value = variables[FUNCTION_VARIABLES[field]];
    if (!value) throw new TerminalError(`${FUNCTION_VARIABLES[field]} is not set`);
    return [field, value];
  });
  return Object.fromEntries(entries) as Pick<FunctionConfig, K>; // one entry for each field that was asked for
}
