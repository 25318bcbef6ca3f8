import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../../clock.ts';
import { TerminalError } from '../../errors.ts';
import type { ReadSecret } from '../../kube/auth/secret-token.ts';

export interface SecretsOptions {
  readonly client: Pick<SecretsManagerClient, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface Kept {
  readonly text: Promise<string>;
  readonly readAt: number;
}

const AGE_MAX_MS = 5 * 60_000;
/** Whoever was refused beside others finds what one of them has just read. */
const REFRESH_AGE_MAX_MS = 5_000;

/**
 * Reads secrets, each again after five minutes and when somebody was refused with it. Rejects with an error that names the
 * secret and AWS's own word for what went wrong.
 */
export function createSecrets({ client, clock }: SecretsOptions): ReadSecret {
  const kept = new Map<string, Kept>();
  return (id, refresh) => {
    const known = kept.get(id);
    const now = clock.now();
    if (known !== undefined && now - known.readAt < (refresh ? REFRESH_AGE_MAX_MS : AGE_MAX_MS))
      return known.text;
    const entry = { text: read(client, id), readAt: now };
    kept.set(id, entry);
    entry.text.catch(() => {
      // A failure is not remembered, and does not outlive what was read before it.
      if (kept.get(id) === entry) kept.delete(id);
    });
    return entry.text;
  };
}

async function read(client: SecretsOptions['client'], id: string): Promise<string> {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    if (SecretString !== undefined) return SecretString;
  } catch (error) {
    throw new Error(`secret ${id}: ${error instanceof Error ? error.name : 'unknown'}`);
  }
  throw new TerminalError(`secret ${id}: it holds bytes, not text`);
}
