import { readFile } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';

// As client-go does: the kubelet rewrites a projected token long before the old one ends.
const TOKEN_AGE_MAX_MS = 60_000;

/** Reads a token from `file`, again once a minute and after a refusal. Rejects with Node's error when it cannot. */
export function tokenFile(file: string, clock: Clock): (refresh: boolean) => Promise<string> {
  let token: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return async (refresh) => {
    if (token === undefined || refresh || clock.now() - readAt >= TOKEN_AGE_MAX_MS) {
      token = (await readFile(file, 'utf8')).trim();
      readAt = clock.now();
    }
    return token;
  };
}
