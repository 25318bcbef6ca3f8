import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { FORWARD_VARIABLES, type ForwardVariables } from '../config.ts';
import { TerminalError } from '../errors.ts';
import { parseSecret } from '../transport/signature.ts';

const CLUSTER = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KEY = /^[\w-]{1,64}$/;

const FileSchema = z.strictObject({
  cluster: z.string().regex(CLUSTER, 'is no name: lower-case letters, digits, - and .'),
  namespaces: z
    .array(z.string().regex(NAMESPACE, 'is no namespace'))
    .min(1, 'is empty')
    .max(1_000, 'are too many'),
  webhook: z.strictObject({
    /** Where the door is, without the path that names cluster and key. */
    url: z.url({ protocol: /^https?$/, error: 'is no URL' }),
    /** Which of the cluster's active keys signs. */
    key: z.string().regex(KEY, 'is no key id: letters, digits, _ and -'),
    /** The file that holds the key's secret, `whsec_…`. */
    secretFile: z.string().min(1).optional(),
  }),
  health: z
    .strictObject({ host: z.string().default('0.0.0.0'), port: z.int().min(0).max(65_535).default(8_080) })
    .prefault({}),
  heartbeatSeconds: z.int().min(1).max(3_600).default(60),
  /** How long what is known may take to be sent after the process was asked to end. */
  drainSeconds: z.int().min(0).max(600).default(10),
});

/** What `everwarm forward` is to do, checked. */
export interface ForwardConfig extends Readonly<Omit<z.output<typeof FileSchema>, 'webhook'>> {
  readonly webhook: { readonly url: string; readonly secret: Uint8Array };
}

/**
 * The forwarder's configuration: the file's, and what the environment says instead. Throws TerminalError that names the field
 * and where it was read; the secret is never in it.
 */
export function readForwardConfig(file: string | undefined, variables: ForwardVariables): ForwardConfig {
  const result = FileSchema.safeParse(merged(file === undefined ? {} : readYaml(file), variables));
  if (!result.success) {
    const [issue] = result.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
    const field = [...(issue?.path ?? []), ...unknown].join('.');
    throw new TerminalError(`${sourceOf(field, file, variables)}: ${problemOf(issue, unknown)}`);
  }
  const { webhook, ...config } = result.data;
  const secret = secretOf(webhook.secretFile, file, variables);
  const base = webhook.url.replace(/\/+$/, '');
  return {
    ...config,
    namespaces: [...new Set(config.namespaces)],
    webhook: { url: `${base}/v1/notices/${config.cluster}/${webhook.key}`, secret },
  };
}

function merged(given: unknown, variables: ForwardVariables): unknown {
  const { cluster, namespaces, webhookUrl: url, webhookKey: key } = variables;
  if (typeof given !== 'object' || given === null) return given;
  const said = defined({ url, key });
  const webhook = 'webhook' in given ? given.webhook : undefined;
  const isSaid = Object.keys(said).length > 0;
  return {
    ...given,
    ...defined({ cluster, namespaces: namespaces?.split(',').map((name) => name.trim()) }),
    ...(isSaid ? { webhook: { ...(typeof webhook === 'object' ? webhook : {}), ...said } } : {}),
  };
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const VARIABLE_BY_FIELD: Readonly<Record<string, keyof ForwardVariables>> = {
  cluster: 'cluster',
  namespaces: 'namespaces',
  'webhook.url': 'webhookUrl',
  'webhook.key': 'webhookKey',
};

/** Whoever is to mend it needs to know where it stands: the variable, or the field of the file. */
function sourceOf(field: string, file: string | undefined, variables: ForwardVariables): string {
  const variable = VARIABLE_BY_FIELD[field.replace(/^(namespaces)\.\d+$/, '$1')];
  if (variable !== undefined && (file === undefined || variables[variable] !== undefined)) {
    return FORWARD_VARIABLES[variable];
  }
  return file === undefined ? field || 'it' : `${file}: ${field || 'it'}`;
}

function problemOf(
  issue: { readonly code?: string; readonly message: string; readonly input?: unknown } | undefined,
  unknown: readonly string[],
): string {
  if (unknown.length > 0) return 'is not known';
  if (issue?.code === 'invalid_type')
    return issue.message.replace(/^Invalid input: /, 'is missing or wrong: ');
  return issue?.message ?? 'is wrong';
}

function readYaml(file: string): unknown {
  try {
    return load(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    // The parser's message quotes the line it failed at.
    throw new TerminalError(`${file}: ${isMissing ? 'no such file' : 'not readable as YAML'}`);
  }
}

function secretOf(
  secretFile: string | undefined,
  file: string | undefined,
  { webhookSecret }: ForwardVariables,
): Uint8Array {
  const [source, text] =
    webhookSecret === undefined
      ? [`${file ?? ''}: webhook.secretFile`.replace(/^: /, ''), textOf(secretFile)]
      : [FORWARD_VARIABLES.webhookSecret, webhookSecret];
  if (text === undefined) {
    const problem = secretFile === undefined ? 'is missing' : `${secretFile} cannot be read`;
    throw new TerminalError(`${source}: ${problem} (or set ${FORWARD_VARIABLES.webhookSecret})`);
  }
  try {
    return parseSecret(text.trim());
  } catch (error) {
    if (error instanceof TerminalError) throw new TerminalError(`${source}: ${error.message}`);
    throw error;
  }
}

function textOf(file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
