import type { Settings } from './settings.ts';

/** One sentence on why no pool of this operator can be kept warm; `undefined` when it can. */
export function unsupported(settings: Settings): string | undefined {
  // It hands out no warm instances: whatever is kept warm would wait for nobody.
  return settings.eagerStart ? undefined : 'an operator without --eagerStart hands out no warm instances';
}
