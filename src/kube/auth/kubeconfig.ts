import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import type { KubeConfig, Cluster as KubeConfigCluster } from '@kubernetes/client-node';
import { TerminalError } from '../../errors.ts';
import { isRecord } from '../json.ts';
import type { Cluster } from './cluster.ts';

export interface KubeconfigFile {
  readonly file: string;
  /** The file's current context unless said otherwise. */
  readonly context?: string;
}

/** What client-node makes of a kubeconfig's user and cluster. */
type Applied = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized' | 'headers'>;

/**
 * The cluster of one context of a kubeconfig: token, token file, client certificate or exec plugin. Rejects with
 * TerminalError when the file cannot be used; nothing a plugin printed is in its message.
 */
export async function kubeconfigCluster(options: KubeconfigFile): Promise<Cluster> {
  const config = await load(options);
  const cluster = usableCluster(config, options.file);
  const applied = await apply(config, options.file);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  const ca = pem(applied.ca);
  const cert = pem(applied.cert);
  const key = pem(applied.key);
  return {
    server: cluster.server,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(applied.servername === undefined ? {} : { serverName: applied.servername }),
    ...(applied.rejectUnauthorized === false ? { skipTlsVerify: true } : {}),
    ...(namespace ? { defaultNamespace: namespace } : {}),
    token: tokenSource(options, config),
  };
}

/** The context's cluster, unless the file asks for something that we would silently do otherwise. */
function usableCluster(config: KubeConfig, file: string): KubeConfigCluster {
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const problems = [
    !cluster?.server && 'the context names no cluster',
    !user && 'the context names no user',
    cluster?.server.startsWith('http:') && 'a plain http server is not supported',
    cluster?.proxyUrl && 'proxy-url is not supported',
    user?.username && 'basic authentication is not supported',
    user?.impersonateUser && 'impersonation (as) is not supported',
  ].filter((problem) => typeof problem === 'string' && problem !== '');
  const [problem] = problems;
  if (cluster === null || problem !== undefined) throw new TerminalError(`${file}: ${problem}`);
  return cluster;
}

/** The plugin's or file's own cache answers until a token is refused; then everything is read anew. */
function tokenSource(options: KubeconfigFile, first: KubeConfig): Cluster['token'] {
  let config = first;
  return async (refresh) => {
    if (refresh) config = await load(options);
    return bearerOf(await apply(config, options.file));
  };
}

async function load(options: KubeconfigFile): Promise<KubeConfig> {
  const { file, context } = options;
  // Loaded here and nowhere else: the package costs a third of a second that no function should pay.
  const { KubeConfig, loadYaml } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    const text = await readFile(file, 'utf8');
    config.loadFromString(
      JSON.stringify(loadYaml(text), (_name, value) => withTokenFile(value, dirname(file))),
    );
    config.makePathsAbsolute(dirname(file));
  } catch (cause) {
    const isMissing = isRecord(cause) && cause['code'] === 'ENOENT';
    // The parser's message quotes the line it failed at, which may hold a token: it is not passed on.
    throw new TerminalError(`${file}: ${isMissing ? 'no such file' : 'not a readable kubeconfig'}`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  if (config.getContextObject(config.getCurrentContext()) === null) {
    throw new TerminalError(`${file}: it has no context "${config.getCurrentContext() ?? ''}"`);
  }
  return config;
}

/** The package looks for a user's token file under a name that kubectl never writes, and drops the real one. */
function withTokenFile(value: unknown, directory: string): unknown {
  if (!isRecord(value) || typeof value['tokenFile'] !== 'string') return value;
  const { tokenFile, ...rest } = value;
  return { ...rest, 'token-file': resolve(directory, tokenFile) };
}

async function apply(config: KubeConfig, file: string): Promise<Applied> {
  const options: RequestOptions & { headers: Record<string, string> } = { headers: {} };
  try {
    await config.applyToHTTPSOptions(options);
  } catch {
    // A failed plugin's error is what it printed, and that may be anything.
    throw new TerminalError(`${file}: the user's credentials cannot be read`);
  }
  return options;
}

function bearerOf(applied: Applied): string | undefined {
  const { headers } = applied;
  const value: unknown = isRecord(headers) ? headers['Authorization'] : undefined;
  const match = typeof value === 'string' ? /^Bearer\s+(\S+)\s*$/.exec(value) : null;
  return match?.[1];
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
