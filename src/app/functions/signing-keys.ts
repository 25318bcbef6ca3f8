import * as z from 'zod/mini';
import { TerminalError } from '../../errors.ts';
import type { ReadSecret } from '../../kube/auth/secret-token.ts';
import { parseSecret } from '../../transport/signature.ts';
import type { ClusterConfig } from './clusters-file.ts';

/** A secret of signing keys: the active ones by their id, which is part of the forwarder's URL. Two while they are rotated. */
const KeysSchema = z.strictObject({ keys: z.record(z.string().check(z.regex(/^[\w-]{1,64}$/)), z.string()) });

/**
 * Finds the secret of an active key of a cluster. A key that is not known is looked for once more in the newest version of
 * the secret. Rejects when the secret cannot be read or used.
 */
export function createSigningKeys(
  clusters: readonly Pick<ClusterConfig, 'id' | 'signingKeys'>[],
  readSecret: ReadSecret,
): (cluster: string, keyId: string) => Promise<Uint8Array | undefined> {
  const secrets = new Map(clusters.map(({ id, signingKeys }) => [id, signingKeys]));
  return async (cluster, keyId) => {
    const secret = secrets.get(cluster);
    if (secret === undefined) return undefined;
    const keys = parse(secret, await readSecret(secret, false));
    return keys.get(keyId) ?? parse(secret, await readSecret(secret, true)).get(keyId);
  };
}

function parse(secret: string, text: string): ReadonlyMap<string, Uint8Array> {
  const result = KeysSchema.safeParse(parseJson(text));
  if (!result.success) throw new TerminalError(`secret ${secret}: must be {"keys": {"<id>": "whsec_…"}}`);
  return new Map(Object.entries(result.data.keys).map(([id, key]) => [id, parseSecret(key)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
