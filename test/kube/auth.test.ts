import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../src/clock.ts';
import { TerminalError } from '../../src/errors.ts';
import type { Cluster } from '../../src/kube/auth/cluster.ts';
import { inCluster } from '../../src/kube/auth/in-cluster.ts';
import { kubeconfigCluster } from '../../src/kube/auth/kubeconfig.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { leapingClock } from './_leaping-clock.ts';
import { json, serve, status } from './_server.ts';
import { deployment, deployments } from './_world.ts';

const place = { namespace: 'ide', name: 'instance-3' };

/** A directory of the test's own. */
async function directory(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'everwarm-auth-'));
  onTestFinished(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

/** A kubeconfig with one user, in the test's own directory. */
async function kubeconfig(
  user: unknown,
  cluster: unknown = { server: 'https://api.test:6443' },
): Promise<string> {
  const file = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'ide' } }],
  };
  return join(await directory({ config: JSON.stringify(file) }), 'config');
}

/** A server that knows one token. */
const guarded = (token: string) =>
  serve((response, { headers }) =>
    headers.authorization === `Bearer ${token}`
      ? json(response, 200, deployment('instance-3'))
      : json(response, 401, status(401, 'Unauthorized', 'Unauthorized')),
  );

describe('a refused token', () => {
  const read = async (cluster: Cluster) => {
    const api = createKubeApi({ cluster, clock: leapingClock(), random: seededRandom(1) });
    return await api.get(deployments, place);
  };

  it('is renewed once, and the request goes on', async () => {
    const server = await guarded('new');
    const outcome = await read({ server: server.url, token: async (refresh) => (refresh ? 'new' : 'old') });
    expect(outcome.kind).toBe('ok');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('that is refused again is unauthorized', async () => {
    const server = await guarded('nobody-has-it');
    const outcome = await read({ server: server.url, token: async () => 'old' });
    expect(outcome).toMatchObject({ kind: 'unauthorized', message: expect.not.stringContaining('old') });
    expect(server.requests).toHaveLength(2);
  });

  it('that cannot be had is unauthorized without a request', async () => {
    const server = await guarded('x');
    const outcome = await read({
      server: server.url,
      token: () => Promise.reject(new Error('plugin said: hunter2')),
    });
    expect(outcome.kind).toBe('unauthorized');
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
    expect(server.requests).toEqual([]);
  });
});

it('never sends a token to a stranger over plain http', () => {
  for (const server of ['http://api.test', 'api.test']) {
    const cluster: Cluster = { server, token: async () => 't' };
    const connect = () => createKubeApi({ cluster, clock: leapingClock(), random: seededRandom(1) });
    expect(connect).toThrow(TerminalError);
  }
});

describe('inside a cluster', () => {
  const files = { 'ca.crt': 'PEM', token: 'first\n', namespace: 'ide\n' };

  it('the mounted account says who we are and where', async () => {
    const cluster = await inCluster({
      host: 'fd00::1',
      port: '443',
      clock: leapingClock(),
      directory: await directory(files),
    });
    expect(cluster).toMatchObject({ server: 'https://[fd00::1]:443', ca: 'PEM', defaultNamespace: 'ide' });
    expect(await cluster.token(false)).toBe('first');
  });

  it('a renewed token is used within a minute, and at once after a refusal', async () => {
    const path = await directory(files);
    const clock = leapingClock();
    const cluster = await inCluster({ host: '10.0.0.1', port: '443', clock, directory: path });
    await cluster.token(false);
    await writeFile(join(path, 'token'), 'second');
    expect(await cluster.token(false)).toBe('first');
    expect(await cluster.token(true)).toBe('second');
    await writeFile(join(path, 'token'), 'third');
    await clock.advance(60_000);
    expect(await cluster.token(false)).toBe('third');
  });

  it('is nowhere when no account is mounted', async () => {
    const nowhere = inCluster({
      host: '10.0.0.1',
      port: '443',
      clock: leapingClock(),
      directory: '/nowhere',
    });
    await expect(nowhere).rejects.toThrow(TerminalError);
  });
});

describe('a kubeconfig', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('with a token', async () => {
    const ca = { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'api' };
    const cluster = await kubeconfigCluster({
      file: await kubeconfig({ token: 't1' }, { server: 'https://a.test', ...ca }),
    });
    expect(cluster).toMatchObject({
      server: 'https://a.test',
      ca: 'CA',
      serverName: 'api',
      defaultNamespace: 'ide',
    });
    expect(await cluster.token(false)).toBe('t1');
  });

  it('with a client certificate', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
    const cluster = await kubeconfigCluster({ file: await kubeconfig(user) });
    expect(cluster).toMatchObject({ cert: 'CERT', key: 'KEY' });
    expect(await cluster.token(false)).toBeUndefined();
  });

  it('with a token file reads it again after a refusal', async () => {
    const path = await directory({ token: 'one' });
    const cluster = await kubeconfigCluster({ file: await kubeconfig({ tokenFile: join(path, 'token') }) });
    expect(await cluster.token(false)).toBe('one');
    await writeFile(join(path, 'token'), 'two');
    expect(await cluster.token(true)).toBe('two');
  });

  it('finds the files it names beside itself', async () => {
    const file = await kubeconfig({ tokenFile: 'token' });
    await writeFile(join(dirname(file), 'token'), 'one\n');
    const cluster = await kubeconfigCluster({ file });
    expect(await cluster.token(false)).toBe('one');
  });

  it('with a plugin asks it once, and again after a refusal', async () => {
    const path = await directory({ calls: '' });
    const script = `
      const fs = require('node:fs');
      fs.appendFileSync(process.argv[1], 'x');
      const token = 'from-plugin-' + fs.readFileSync(process.argv[1], 'utf8').length;
      console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: { token } }));
    `;
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script, join(path, 'calls')],
    };
    const cluster = await kubeconfigCluster({ file: await kubeconfig({ exec }) });
    expect(await cluster.token(false)).toBe('from-plugin-1');
    expect(await cluster.token(false)).toBe('from-plugin-1');
    expect(await cluster.token(true)).toBe('from-plugin-2');
    expect(await readFile(join(path, 'calls'), 'utf8')).toBe('xx');
  });

  it('with a plugin that fails repeats nothing of what the plugin said', async () => {
    const exec = { command: process.execPath, args: ['-e', 'console.error("canary-9"); process.exit(1)'] };
    const failed: unknown = await kubeconfigCluster({ file: await kubeconfig({ exec }) }).catch(
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(TerminalError);
    expect(String(failed)).not.toContain('canary-9');
  });

  it.each([
    { title: 'that asks for impersonation', user: { token: 't', as: 'root' }, cluster: undefined },
    { title: 'with a password', user: { username: 'u', password: 'p' }, cluster: undefined },
    {
      title: 'behind a proxy',
      user: { token: 't' },
      cluster: { server: 'https://a', 'proxy-url': 'http://p' },
    },
    { title: 'over plain http', user: { token: 't' }, cluster: { server: 'http://a.test' } },
  ])('$title is refused, not half obeyed', async ({ user, cluster }) => {
    await expect(kubeconfigCluster({ file: await kubeconfig(user, cluster) })).rejects.toThrow(
      /not supported/,
    );
  });

  it('that is missing, broken, or lacks the context says which it is', async () => {
    const file = await kubeconfig({ token: 't' });
    const broken = join(await directory({ config: 'a: [canary-8' }), 'config');
    await expect(kubeconfigCluster({ file: '/nowhere/config' })).rejects.toThrow('no such file');
    await expect(kubeconfigCluster({ file, context: 'there' })).rejects.toThrow('no context "there"');
    const failed: unknown = await kubeconfigCluster({ file: broken }).catch((error: unknown) => error);
    expect(String(failed)).toContain('not a readable kubeconfig');
    expect(String(failed)).not.toContain('canary-8');
  });
});
