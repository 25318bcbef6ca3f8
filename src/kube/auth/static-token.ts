import type { Cluster } from './cluster.ts';

export interface StaticToken {
  readonly server: string;
  readonly ca?: string;
  readonly token: string;
  readonly defaultNamespace?: string;
}

/** A cluster reached with a token that never changes: the embedded cluster, or a ServiceAccount's own. */
export function staticTokenCluster(options: StaticToken): Cluster {
  const { token, ...rest } = options;
  return { ...rest, token: async () => token };
}
