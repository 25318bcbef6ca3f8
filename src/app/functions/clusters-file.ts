import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { TerminalError } from '../../errors.ts';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SECRET = /^[\w/+=.@:-]{1,512}$/;
const PEM = /^-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\s*$/;

const PlatformSchema = z.strictObject({
  namespaces: z.array(z.string().check(z.regex(LABEL))).check(z.minLength(1)),
  /** The mode of pools whose WarmPool names none. */
  mode: z._default(z.enum(['observe', 'guard']), 'observe'),
  /** The platform operator's settings, where no operator runs to read them from. */
  settings: z.optional(z.record(z.string(), z.unknown())),
});

const AuthSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('eks'),
    name: z.string().check(z.regex(/^[\w-]{1,100}$/)),
    region: z.string().check(z.regex(/^[a-z0-9-]{1,30}$/)),
  }),
  z.strictObject({ kind: z.literal('serviceAccount'), secret: z.string().check(z.regex(SECRET)) }),
  z.strictObject({
    kind: z.literal('kubeconfig'),
    secret: z.string().check(z.regex(SECRET)),
    context: z.optional(z.string()),
  }),
]);

const ClusterSchema = z.strictObject({
  id: z.string().check(z.regex(NAME)),
  /** Not with a kubeconfig, which has its own. */
  server: z.optional(z.url({ protocol: /^https$/ })),
  /** The authority that vouches for the server: PEM, or its base64 as EKS and kubeconfigs write it. */
  ca: z.optional(
    z
      .string()
      .check(
        z.refine((text) => pemOf(text) !== undefined, { error: 'is no PEM certificate, nor its base64' }),
      ),
  ),
  auth: AuthSchema,
  /** The secret with the forwarder's signing keys; without it this cluster's notices come over the bus only. */
  signingKeys: z.optional(z.string().check(z.regex(SECRET))),
  platforms: z.record(z.string().check(z.regex(NAME)), PlatformSchema),
});

const ClustersSchema = z.strictObject({
  $schema: z.optional(z.string()),
  clusters: z.array(ClusterSchema).check(z.minLength(1)),
});

/** One cluster that the functions serve, as configured. */
export type ClusterConfig = Readonly<z.output<typeof ClusterSchema>>;

/** The clusters that `file` configures. Throws TerminalError that names the file and the field. */
export function readClustersFile(file: string): readonly ClusterConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new TerminalError(`${file}: ${isMissing ? 'no such file' : 'not readable as JSON'}`);
  }
  const result = ClustersSchema.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
    const field = [...(issue?.path ?? []), ...unknown].join('.');
    throw new TerminalError(
      `${file}: ${field || 'it'}: ${unknown.length > 0 ? 'is not known' : (issue?.message ?? 'is wrong')}`,
    );
  }
  const { clusters } = result.data;
  for (const [at, cluster] of clusters.entries()) {
    const problem = problemOf(cluster, clusters.slice(0, at));
    if (problem !== undefined) throw new TerminalError(`${file}: clusters.${at}.${problem}`);
  }
  return clusters;
}

function problemOf(
  { id, auth, server, ca }: ClusterConfig,
  before: readonly ClusterConfig[],
): string | undefined {
  if (before.some((other) => other.id === id)) return 'id: another cluster has it already';
  const isKubeconfig = auth.kind === 'kubeconfig';
  if (!isKubeconfig && server === undefined) return 'server: is missing';
  if (isKubeconfig && (server !== undefined || ca !== undefined))
    return 'server: the kubeconfig has its own, and its ca';
  return undefined;
}

/** A certificate as PEM, whichever way it is written. */
export function pemOf(text: string): string | undefined {
  if (PEM.test(text)) return text;
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  return PEM.test(decoded) ? decoded : undefined;
}
