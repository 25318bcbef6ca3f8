import { z } from 'zod';
import type { KubeObject } from '../../kube/api.ts';
import { revisionOf } from '../../pool/revision.ts';
import { wrongIn } from '../wrong.ts';
import type { Parsed } from './parsed.ts';
import { invalid, parsed } from './parsed.ts';

/**
 * The operator's settings that shape an instance. As configuration it stands for an operator that is not there; the defaults
 * are the operator's own, except that a pool without an operator is taken to be handed out warm.
 */
export const SettingsSchema = z.strictObject({
  keycloak: z.boolean().default(false),
  keycloakUrl: z.string().default(''),
  keycloakRealm: z.string().default(''),
  keycloakClientId: z.string().default(''),
  eagerStart: z.boolean().default(true),
  instancesHost: z.string().min(1, { error: 'is empty' }),
  usePaths: z.boolean().default(false),
  instancesPath: z.string().default(''),
  enableMonitor: z.boolean().default(false),
  enableActivityTracker: z.boolean().default(false),
  serviceUrl: z.string().default(''),
  serviceAuthToken: z.string().default(''),
  oAuth2ProxyImage: z.string().min(1).default('quay.io/oauth2-proxy/oauth2-proxy'),
  oAuth2ProxyVersion: z.string().min(1).default('latest'),
  storageClassName: z.string().default(''),
  requestedStorage: z.string().default('250Mi'),
  bandwidthLimiter: z
    .enum(['NONE', 'K8SANNOTATION', 'WONDERSHAPER', 'K8SANNOTATIONANDWONDERSHAPER'])
    .default('NONE'),
  wondershaperImage: z.string().default('theiacloud/theia-cloud-wondershaper'),
  enableBuildCaching: z.boolean().default(false),
  buildCacheUrl: z.string().default(''),
  enableBuildCachePush: z.boolean().default(false),
  enableDependencyCaching: z.boolean().default(false),
  dependencyCacheUrl: z.string().default(''),
});
export type Settings = z.infer<typeof SettingsSchema>;

/** The operator's options by name. `undefined`: known, takes a value, shapes no instance. */
const VALUE_OPTIONS: Readonly<Record<string, keyof Settings | undefined>> = {
  '--keycloakURL': 'keycloakUrl',
  '--keycloakRealm': 'keycloakRealm',
  '--keycloakClientId': 'keycloakClientId',
  '--instancesHost': 'instancesHost',
  '--instancesPath': 'instancesPath',
  '--serviceUrl': 'serviceUrl',
  '--serviceAuthToken': 'serviceAuthToken',
  '--appId': 'serviceAuthToken',
  '--oAuth2ProxyVersion': 'oAuth2ProxyVersion',
  '--storageClassName': 'storageClassName',
  '--requestedStorage': 'requestedStorage',
  '--bandwidthLimiter': 'bandwidthLimiter',
  '--wondershaperImage': 'wondershaperImage',
  '--buildCacheUrl': 'buildCacheUrl',
  '--dependencyCacheUrl': 'dependencyCacheUrl',
  '--cloudProvider': undefined,
  '--sessionsPerUser': undefined,
  '--monitorInterval': undefined,
  '--leaderLeaseDuration': undefined,
  '--leaderRenewDeadline': undefined,
  '--leaderRetryPeriod': undefined,
  '--maxWatchIdleTime': undefined,
  '--sessionHandlerThreads': undefined,
};
const FLAG_OPTIONS: Readonly<Record<string, keyof Settings | undefined>> = {
  '--keycloak': 'keycloak',
  '--eagerStart': 'eagerStart',
  '--usePaths': 'usePaths',
  '--enableMonitor': 'enableMonitor',
  '--enableActivityTracker': 'enableActivityTracker',
  '--enableBuildCaching': 'enableBuildCaching',
  '--enableBuildCachePush': 'enableBuildCachePush',
  '--enableDependencyCaching': 'enableDependencyCaching',
  '--continueOnException': undefined,
};

const SETTINGS_BY_OPTION = { ...VALUE_OPTIONS, ...FLAG_OPTIONS };

/** What the cluster's arguments do not say: from where instances take the proxy's image. */
export type SettingsBeside = Pick<Settings, 'oAuth2ProxyImage'>;

/** Settings from configuration, for a cluster without an operator. */
export function settingsFromConfig(config: unknown): Parsed<Settings> {
  return checked(config, (key) => key);
}

/** Settings from the running operator's own Deployment; the first argument that does not parse otherwise. */
export function settingsFromOperator(deployment: KubeObject, beside?: SettingsBeside): Parsed<Settings> {
  const container =
    ContainersSchema.safeParse(deployment).data?.spec.template.spec.containers.find(isOperator);
  if (container === undefined) return invalid('--instancesHost', 'is missing');

  const tokens = [...container.command, ...container.args];
  return settingsFromArguments(tokens.slice(tokens.findIndex(isOption)), container.env, beside);
}

/** Settings from an operator's arguments, `--name value` and `--name=value`; `$(NAME)` is looked up in `env`. */
export function settingsFromArguments(
  args: readonly string[],
  env: readonly Variable[] = [],
  beside: SettingsBeside | undefined = undefined,
): Parsed<Settings> {
  const options = optionsIn(args);
  if (options.kind === 'invalid') return options;

  const values: Record<string, unknown> = { eagerStart: false, ...beside };
  for (const [name, text] of options.value) {
    const read = readOption(name, text, env);
    if (read.kind === 'invalid') return read;
    const key = SETTINGS_BY_OPTION[name];
    // The token's deprecated name gives way to its new one, whichever comes first.
    if (key !== undefined && !(name === '--appId' && options.value.has('--serviceAuthToken')))
      values[key] = read.value;
  }
  return checked(values, optionOf);
}

/** The options with the text that follows each, if any; the first token that fits nowhere otherwise. */
function optionsIn(args: readonly string[]): Parsed<ReadonlyMap<string, string | undefined>> {
  const given = new Map<string, string | undefined>();
  for (const [at, token] of args.entries()) {
    const { name, attached } = split(token);
    const previous = split(args[at - 1] ?? '');
    const isValue = !isOption(token) && isOption(previous.name) && previous.attached === undefined;
    if (isValue && !(previous.name in FLAG_OPTIONS)) given.set(previous.name, token);
    else if (!isOption(name)) return invalid(`argument ${at + 1}`, 'stands without an option');
    else if (given.has(name)) return invalid(name, 'is given twice');
    else given.set(name, attached);
  }
  return parsed(given);
}

/** One option's value. Of an option that is not known nothing is: if it changes what is rendered, the adoption proof says so. */
function readOption(name: string, text: string | undefined, env: readonly Variable[]): Parsed<unknown> {
  if (name in FLAG_OPTIONS) {
    const flag = (text ?? 'true').toLowerCase();
    return flag === 'true' || flag === 'false'
      ? parsed(flag === 'true')
      : invalid(name, 'is neither true nor false');
  }
  if (!(name in VALUE_OPTIONS)) return parsed(undefined);
  if (text === undefined) return invalid(name, 'has no value');
  const value = expand(text, env);
  return value === undefined
    ? invalid(name, 'refers to a variable whose value cannot be read')
    : parsed(value);
}

/** Changes if and only if the settings do. */
export function fingerprintOf(settings: Settings): string {
  return revisionOf(settings);
}

const VariableSchema = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.unknown().optional(),
});
type Variable = z.infer<typeof VariableSchema>;

const ContainerSchema = z.object({
  command: z.array(z.string()).default([]),
  args: z.array(z.string()).default([]),
  env: z.array(VariableSchema).default([]),
});
const ContainersSchema = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(ContainerSchema) }) }) }),
});

function isOperator({ command, args }: z.infer<typeof ContainerSchema>): boolean {
  return [...command, ...args].some((token) => split(token).name === '--instancesHost');
}

function isOption(token: string): boolean {
  return token.startsWith('--');
}

function split(token: string): { name: string; attached?: string } {
  const at = token.indexOf('=');
  return at < 0 ? { name: token } : { name: token.slice(0, at), attached: token.slice(at + 1) };
}

/** As the kubelet does it: `$$` is an escape, an unknown name stays as it is. `undefined`: the value is not in the object. */
function expand(text: string, env: readonly Variable[]): string | undefined {
  let readable = true;
  const expanded = text.replace(
    /\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g,
    (whole, name: string | undefined) => {
      if (name === undefined) return '$';
      const variable = env.find((one) => one.name === name);
      if (variable?.valueFrom !== undefined) readable = false;
      return variable === undefined ? whole : (variable.value ?? '');
    },
  );
  return readable ? expanded : undefined;
}

function optionOf(key: string): string {
  return Object.entries(SETTINGS_BY_OPTION).find(([, setting]) => setting === key)?.[0] ?? key;
}

/** Reasons come from the schema's rules, never from the value: a token is among the settings. */
function checked(values: unknown, nameOf: (key: string) => string): Parsed<Settings> {
  const result = SettingsSchema.safeParse(values);
  if (result.success) return parsed(result.data);
  const [issue] = result.error.issues;
  const key = issue?.path[0];
  if (key === undefined) return invalid('settings', wrongIn(issue));
  const isGiven = typeof values === 'object' && values !== null && key in values;
  return invalid(nameOf(String(key)), isGiven ? wrongIn(issue) : 'is missing');
}
