import { UnreadableError } from '../platform/reading.ts';
import type { PoolLook } from './look.ts';

/** What is served and whether anything will be done about it, in one line for people. */
export async function servedPools(look: () => Promise<readonly PoolLook[]>): Promise<string> {
  try {
    return modesOf(await look());
  } catch (error) {
    if (error instanceof UnreadableError) return `cannot be read yet: ${error.message}`;
    throw error;
  }
}

function modesOf(looks: readonly PoolLook[]): string {
  const observed = looks.filter(({ observation }) => observation.policy.mode === 'observe').length;
  const guarded = looks.length - observed;
  const modes = [
    observed > 0 ? `${observed} in mode observe: nothing is changed (--mode guard)` : '',
    guarded > 0 ? `${guarded} in mode guard: kept converged` : '',
  ];
  return modes.filter((mode) => mode !== '').join('; ') || 'none here yet';
}
