import { join } from 'node:path';

/** What the process is told by its surroundings. The only place that reads the environment. */
export interface Config {
  /** The kubeconfig to use when none is named: KUBECONFIG, or the one in the home directory, as kubectl does. */
  readonly kubeconfig: string;
  /** Where a pod finds the API server; empty outside of a cluster. */
  readonly service: { readonly host: string | undefined; readonly port: string | undefined };
  /** The platform operator's settings as JSON, for a cluster where no operator runs to read them from. */
  readonly settings: string | undefined;
  /** False when NO_COLOR says so. A terminal is asked for as well. */
  readonly color: boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the configuration from `variables`, the process's own unless said otherwise. */
export function readConfig(variables: Variables = process.env): Config {
  const [first] = (variables['KUBECONFIG'] ?? '').split(process.platform === 'win32' ? ';' : ':');
  return {
    kubeconfig: first || join(variables['HOME'] ?? '', '.kube', 'config'),
    service: { host: variables['KUBERNETES_SERVICE_HOST'], port: variables['KUBERNETES_SERVICE_PORT'] },
    settings: variables['EVERWARM_SETTINGS'] || undefined,
    // https://no-color.org: present and not empty, whatever it says.
    color: (variables['NO_COLOR'] ?? '') === '',
  };
}
