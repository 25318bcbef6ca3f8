import { load } from 'js-yaml';
import * as z from 'zod/mini';
import { TerminalError } from '../../errors.ts';
import type { Cluster } from './cluster.ts';
import type { ReadSecret } from './secret-token.ts';

const UserSchema = z.strictObject({
  token: z.optional(z.string().check(z.regex(/^[\w.~+/=-]+$/))),
  'client-certificate-data': z.optional(z.base64()),
  'client-key-data': z.optional(z.base64()),
});
const ClusterSchema = z.strictObject({
  server: z.url({ protocol: /^https$/ }),
  'certificate-authority-data': z.optional(z.base64()),
  'tls-server-name': z.optional(z.string()),
});
const ContextSchema = z.looseObject({
  cluster: z.string(),
  user: z.string(),
  namespace: z.optional(z.string()),
});
const named = <T extends string>(field: T) =>
  z.array(z.looseObject({ name: z.string(), [field]: z.looseObject({}) }));
const KubeconfigSchema = z.looseObject({
  'current-context': z.optional(z.string()),
  contexts: named('context'),
  clusters: named('cluster'),
  users: named('user'),
});

export interface KubeconfigSecret {
  readonly secret: string;
  /** The kubeconfig's current context unless said otherwise. */
  readonly context?: string;
  readonly readSecret: ReadSecret;
}

/**
 * The cluster of a kubeconfig that lies in a secret. All of it must stand in its text: nothing is run, no other file is read,
 * no certificate goes unchecked. Rejects with TerminalError otherwise; the message names fields, never values.
 */
export async function secretKubeconfigCluster(options: KubeconfigSecret): Promise<Cluster> {
  const { secret, readSecret } = options;
  const { cluster, user, namespace } = parse(options, await readSecret(secret, false));
  const ca = decode(cluster['certificate-authority-data']);
  const cert = decode(user['client-certificate-data']);
  const key = decode(user['client-key-data']);
  const serverName = cluster['tls-server-name'];
  return {
    server: cluster.server,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(namespace === undefined ? {} : { defaultNamespace: namespace }),
    token: async (refresh) => parse(options, await readSecret(secret, refresh)).user.token,
  };
}

function parse({ secret, context }: KubeconfigSecret, text: string) {
  const config = check(secret, '', KubeconfigSchema, parseYaml(secret, text));
  const name = context ?? config['current-context'] ?? '';
  const find = (list: readonly Readonly<Record<string, unknown>>[], field: string, wanted: string): unknown =>
    list.find((one) => one['name'] === wanted)?.[field];
  const chosen = check(secret, 'context.', ContextSchema, find(config.contexts, 'context', name));
  return {
    cluster: check(secret, 'cluster.', ClusterSchema, find(config.clusters, 'cluster', chosen.cluster)),
    user: check(secret, 'user.', UserSchema, find(config.users, 'user', chosen.user)),
    namespace: chosen.namespace,
  };
}

function check<T extends z.ZodMiniType>(
  secret: string,
  where: string,
  schema: T,
  value: unknown,
): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.join('.');
  const problem = issue?.code === 'unrecognized_keys' ? 'is not supported' : 'is missing or wrong';
  throw new TerminalError(`secret ${secret}: ${where}${field || 'it'} ${problem}`);
}

function parseYaml(secret: string, text: string): unknown {
  try {
    return load(text);
  } catch {
    // The parser's message quotes the line it failed at, which may hold a token.
    throw new TerminalError(`secret ${secret}: not a readable kubeconfig`);
  }
}

function decode(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8');
}
