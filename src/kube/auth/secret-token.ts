import { TerminalError } from '../../errors.ts';
import { parseRecord } from '../json.ts';
import type { Cluster } from './cluster.ts';

/** Reads a secret's text; `refresh` after it was refused: do not answer from memory. */
export type ReadSecret = (id: string, refresh: boolean) => Promise<string>;

export interface SecretToken {
  readonly server: string;
  readonly ca?: string;
  /** Holds the token itself, or JSON with a field `token`. */
  readonly secret: string;
  readonly readSecret: ReadSecret;
}

/** A cluster reached with a ServiceAccount's token that lies in a secret. */
export function secretTokenCluster({ server, ca, secret, readSecret }: SecretToken): Cluster {
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    token: async (refresh) => tokenIn(await readSecret(secret, refresh), secret),
  };
}

function tokenIn(text: string, secret: string): string {
  const token = text.trim().startsWith('{') ? parseRecord(text)?.['token'] : text.trim();
  // The text itself stays out of the message, whatever it is.
  if (typeof token !== 'string' || !/^[\w.~+/=-]+$/.test(token))
    throw new TerminalError(`secret ${secret}: it holds no token`);
  return token;
}
