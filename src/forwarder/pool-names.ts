import type { Change } from '../kube/reflector.ts';

/** What a platform answers for an object that concerns every pool of its namespace. */
export const EVERY_POOL = '*';

/** Which pools there are, as far as the watched objects name them: what `*` stands for. */
export interface PoolNames {
  /** Learns the names that an object of `scope` (a platform's namespace) names now, and forgets those it named before. */
  follow(scope: string, change: Change<{ readonly names: readonly string[] }>): void;
  /** `names` with `*` replaced by every pool known in `scope`. */
  expand(scope: string, names: readonly string[]): readonly string[];
}

/** No pool is known yet. */
export function createPoolNames(): PoolNames {
  // How many objects name each pool: one that nothing names any more is gone.
  const scopes = new Map<string, Map<string, number>>();
  const count = (scope: string, names: readonly string[], by: 1 | -1): void => {
    const counts = scopes.get(scope) ?? new Map<string, number>();
    scopes.set(scope, counts);
    for (const name of names) {
      if (name === EVERY_POOL) continue;
      const left = (counts.get(name) ?? 0) + by;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    }
  };
  return {
    follow(scope, { type, kept, before }) {
      if (type !== 'deleted') count(scope, kept.names, 1);
      if (before !== undefined) count(scope, before.names, -1);
    },
    expand(scope, names) {
      const known = names.includes(EVERY_POOL) ? [...(scopes.get(scope)?.keys() ?? [])] : [];
      return [...new Set([...names.filter((name) => name !== EVERY_POOL), ...known])];
    },
  };
}
