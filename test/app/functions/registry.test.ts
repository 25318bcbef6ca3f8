import { describe, expect, it } from 'vitest';
import type { ClusterConfig } from '../../../src/app/functions/clusters-file.ts';
import { createClusterRegistry } from '../../../src/app/functions/registry.ts';
import { createSecrets } from '../../../src/app/functions/secrets.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/clock.ts';
import type { Resource } from '../../../src/kube/api.ts';
import { serveApi, TOKEN } from '../../embedded/_server.ts';
import { leapingClock } from '../../kube/_leaping-clock.ts';

const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const KEY = { cluster: 'course', platform: 'theia-cloud', namespace: 'ide', name: 'java' };
const CANARY = 'canary-Zm9v';

/** A registry of one cluster, `course`, which finds these texts in the secret one after the other. */
function registry(config: Omit<ClusterConfig, 'id' | 'platforms'>, ...texts: readonly string[]) {
  const reads: boolean[] = [];
  const cluster = {
    id: 'course',
    platforms: { 'theia-cloud': { namespaces: ['ide'], mode: 'guard' as const } },
    ...config,
  };
  const made = createClusterRegistry({
    file: 'clusters.json',
    clusters: [cluster],
    clock,
    random,
    readSecret: async (_id, refresh) => {
      if (refresh || reads.length === 0) reads.push(refresh);
      return texts[reads.length - 1] ?? '';
    },
    credentials: () => Promise.reject(new Error('no credentials')),
  });
  const list = async () => {
    const api = await made.of(KEY)?.api();
    return await api?.list(PODS, { namespace: 'default' });
  };
  return { ...made, list, reads };
}

const secret = 'everwarm/prod/course';

describe('a cluster of the registry', () => {
  it("is reached with a ServiceAccount's token from a secret, over its private authority", async () => {
    const { server } = await serveApi();
    const { url, caPem: ca } = server;
    const { list } = registry({ server: url, ca, auth: { kind: 'serviceAccount', secret } }, `${TOKEN}\n`);
    expect((await list())?.kind).toBe('ok');
    await server.close();
  });

  it('is not reached when nobody vouches for its certificate', async () => {
    const { server } = await serveApi();
    const { list } = registry({ server: server.url, auth: { kind: 'serviceAccount', secret } }, TOKEN);
    expect((await list())?.kind).toBe('unknown');
    await server.close();
  });

  it('is asked again with the newer token when the old one was refused, once', async () => {
    const { server, log } = await serveApi();
    const { url, caPem: ca } = server;
    const auth = { kind: 'serviceAccount', secret } as const;
    const { list, reads } = registry({ server: url, ca, auth }, 'old', JSON.stringify({ token: TOKEN }));
    expect((await list())?.kind).toBe('ok');
    expect(reads).toEqual([false, true]);
    const refused = registry({ server: url, ca, auth }, 'old', 'old', TOKEN);
    expect((await refused.list())?.kind).toBe('unauthorized');
    expect(log.map(({ code }) => code)).toEqual([401, 200, 401, 401]);
    await server.close();
  });

  it('is reached with a whole kubeconfig from a secret, as JSON or YAML', async () => {
    const { server } = await serveApi();
    const json = server.kubeconfig(TOKEN, 'ide');
    const data = Buffer.from(server.caPem).toString('base64');
    const yaml = [
      'current-context: a',
      'contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: nobody}}]',
      `clusters: [{name: c, cluster: {server: "${server.url}", certificate-authority-data: ${data}}}]`,
      `users: [{name: u, user: {token: ${TOKEN}}}]`,
    ].join('\n');
    for (const text of [json, yaml])
      expect((await registry({ auth: { kind: 'kubeconfig', secret } }, text).list())?.kind).toBe('ok');
    await server.close();
  });

  it.each([
    ['is not YAML', `{${CANARY}`, 'not a readable kubeconfig'],
    ['is a word', CANARY, 'it is missing or wrong'],
    ['runs a program', kubeconfig({ exec: { command: CANARY } }), 'user.exec is not supported'],
    ['reads a file', kubeconfig({ tokenFile: CANARY }), 'user.tokenFile is not supported'],
    [
      'has a password',
      kubeconfig({ username: 'x', password: CANARY }),
      'user.username, password is not supported',
    ],
    [
      'checks no certificate',
      kubeconfig({}, { 'insecure-skip-tls-verify': true }),
      'cluster.insecure-skip-tls-verify is not supported',
    ],
    ['has a token of two words', kubeconfig({ token: `${CANARY} x` }), 'user.token is missing or wrong'],
    [
      'names no user',
      '{"current-context":"a","contexts":[],"clusters":[],"users":[]}',
      'context.it is missing or wrong',
    ],
  ])(
    'is not reached with a kubeconfig that %s, and nothing of it is repeated',
    async (_title, text, message) => {
      const { list } = registry({ auth: { kind: 'kubeconfig', secret } }, text);
      await expect(list()).rejects.toThrow(`secret ${secret}: ${message}`);
      await expect(list()).rejects.not.toThrow(new RegExp(CANARY));
    },
  );

  function kubeconfig(user: object, cluster: object = {}): string {
    return JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://x.test', ...cluster } }],
      users: [{ name: 'u', user }],
    });
  }

  it('serves only its own namespaces and platforms', () => {
    const { of } = registry({ server: 'https://x', auth: { kind: 'serviceAccount', secret } });
    expect(of(KEY)?.mode).toBe('guard');
    for (const change of [{ cluster: 'x' }, { platform: 'x' }, { namespace: 'x' }])
      expect(of({ ...KEY, ...change })).toBeUndefined();
  });

  it.each([
    [
      'a platform that nobody knows',
      { gitpod: { namespaces: ['ide'], mode: 'guard' as const } },
      'clusters.json: clusters.0.platforms.gitpod: there is theia-cloud, educates',
    ],
    [
      'a setting that nobody knows',
      {
        'theia-cloud': {
          namespaces: ['ide'],
          mode: 'guard' as const,
          settings: { instancesHost: 'x', canary: 1 },
        },
      },
      'clusters.json: clusters.0.platforms.theia-cloud.settings: ',
    ],
  ])('is refused at the start with %s', (_title, platforms, message) => {
    const clusters = [
      { id: 'a', server: 'https://x', auth: { kind: 'serviceAccount', secret } as const, platforms },
    ];
    const readSecret = async () => '';
    const credentials = () => Promise.reject(new Error('none'));
    expect(() =>
      createClusterRegistry({ file: 'clusters.json', clusters, clock, random, readSecret, credentials }),
    ).toThrow(message);
  });
});

describe('a secret', () => {
  function world() {
    const clock = leapingClock();
    const asked: string[] = [];
    let failure: Error | undefined;
    const client = {
      send: async ({ input }: { input: { SecretId: string } }) => {
        asked.push(input.SecretId);
        if (failure !== undefined) throw failure;
        return { SecretString: `text ${asked.length}` };
      },
    };
    const read = createSecrets({ client: client as never, clock });
    const fail = (error?: Error) => {
      failure = error;
    };
    return { clock, read, asked, fail };
  }

  it('is read once for everybody, and again after five minutes', async () => {
    const { clock, read, asked } = world();
    expect(await Promise.all([read('a', false), read('a', false)])).toEqual(['text 1', 'text 1']);
    await clock.advance(299_999);
    expect(await read('a', false)).toBe('text 1');
    await clock.advance(1);
    expect(await read('a', false)).toBe('text 2');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is read again when it was refused, once for all that were refused with it', async () => {
    const { clock, read } = world();
    await read('a', false);
    await clock.advance(60_000);
    expect(await Promise.all([read('a', true), read('a', true)])).toEqual(['text 2', 'text 2']);
  });

  it('that cannot be read is tried again, and the error says no more than a name', async () => {
    const { read, fail } = world();
    fail(Object.assign(new Error('canary'), { name: 'AccessDeniedException' }));
    await expect(read('a', false)).rejects.toThrow(/^secret a: AccessDeniedException$/);
    fail();
    expect(await read('a', false)).toBe('text 2');
  });
});
