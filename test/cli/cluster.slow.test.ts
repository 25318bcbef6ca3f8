import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appDefinition,
  eventually,
  folder,
  hasKubectl,
  kubectl,
  type Line,
  needsKubectl,
  run,
  type Started,
  start,
  watchWithKubectl,
} from './_program.ts';

/** A cluster that is there already: here the embedded API server, in a process of its own. */

const home = folder();
let cluster: Started;
const isReady = (line: Line) => line.type === 'Ready';

/** Settings for a cluster without an operator. */
const extension = { settings: { instancesHost: 'ide.example.org' } };

/** Without it the operator does nothing for a pool, and its state says so. */
const SHARED_ROUTE = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'ide-instances-route' },
  spec: { hostnames: ['ide.example.org'], parentRefs: [{ name: 'ide-gateway' }] },
};

beforeAll(async () => {
  const crds = resolve('test/fixtures/theia-cloud/crds');
  cluster = start(home.path, ['api-server', '--json', '--kubeconfig-out', 'kubeconfig', '--crds', crds]);
  await cluster.line(isReady);
  if (!hasKubectl) return;
  const config = JSON.parse(await kubectl(home.path, ['config', 'view', '--raw', '-o', 'json']));
  config.contexts[0].context.extensions = [{ name: 'everwarm.dev', extension }];
  writeFileSync(join(home.path, 'with-settings'), JSON.stringify(config));
});
afterAll(async () => {
  const { code, lines } = await cluster.end();
  expect({ code, last: lines.at(-1)?.type }).toEqual({ code: 0, last: 'Stopped' });
  home.remove();
});

describe('everwarm api-server', () => {
  it('says where it is, and that nobody takes notices there', async () => {
    expect(await cluster.line(isReady)).toMatchObject({
      kubeconfig: join(home.path, 'kubeconfig'),
      server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      webhook: null,
      namespace: 'default',
    });
  });

  it('is a cluster to kubectl: apply, get, patch, annotate, wait, watch, delete', async (context) => {
    needsKubectl(context);
    const ctl = (line: string, input?: unknown) => kubectl(home.path, line.split(' '), input);
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
      },
    };
    expect(await ctl('apply -f -', deployment)).toBe('deployment.apps/web created\n');
    expect(await ctl('wait deployment web --for=condition=Available --timeout=60s')).toContain(
      'condition met',
    );
    expect(await ctl('get deployment web')).toMatch(/web +1\/1 +1 +1/);
    await ctl('patch deployment web -p {"spec":{"replicas":2}}');
    await ctl('annotate deployment web example.org/by=hand');
    await ctl('set image deployment/web web=web:2');
    const { metadata, spec } = JSON.parse(await ctl('get deployment web -o json'));
    expect(metadata.annotations).toMatchObject({ 'example.org/by': 'hand' });
    expect(spec).toMatchObject({ replicas: 2, template: { spec: { containers: [{ image: 'web:2' }] } } });
    const watch = watchWithKubectl(home.path, ['get', 'deployments', '-w', '--output-watch-events']);
    await eventually(watch.seen, (seen) => seen.includes('ADDED'));
    expect(await ctl('delete deployment web')).toBe('deployment.apps "web" deleted\n');
    await eventually(watch.seen, (seen) => /^DELETED +web /m.test(seen));
    await watch.stop();
    await eventually(
      () => ctl('get pods -o name'),
      (pods) => pods === '',
    );
  });

  it('refuses by name what it lacks', async (context) => {
    needsKubectl(context);
    const apply = kubectl(home.path, ['apply', '--server-side', '-f', '-'], appDefinition('java-17'));
    await expect(apply).rejects.toThrow(/server-side apply/);
  });

  it('says so when its port is taken', async () => {
    const { server } = await cluster.line(isReady);
    const port = new URL(String(server)).port;
    const second = await run(home.path, ['api-server', '--port', port, '--kubeconfig-out', 'second']);
    expect(second).toMatchObject({
      code: 1,
      out: '',
      err: `everwarm: port ${port} cannot be had: choose another one, or 0 for a free one\n`,
    });
  });
});

describe('everwarm up on a cluster that is there', () => {
  it('only looks unless told otherwise, and installs nothing', async (context) => {
    needsKubectl(context);
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17', { minInstances: 2 }));
    const program = start(home.path, ['up', '--kubeconfig', 'with-settings', '--json', '--resync', '200ms']);
    expect(await program.line(isReady)).toMatchObject({
      kubeconfig: join(home.path, 'with-settings'),
      namespace: 'default',
    });
    await program.line(({ type, pools }) => type === 'Resync' && pools === 1);
    expect(await kubectl(home.path, ['get', 'deployments', '-o', 'name'])).toBe('');
    expect(await kubectl(home.path, ['get', 'crds', '-o', 'name'])).not.toContain('warmpool');
    const { code, lines } = await program.end();
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: 'Stopped', pools: [{ desired: 2, ready: 0 }] });
  });

  it('keeps its pools when it is told to, with the kind that it needs', async (context) => {
    needsKubectl(context);
    await kubectl(home.path, ['apply', '-f', '-'], SHARED_ROUTE);
    const flags = ['--mode', 'guard', '--install-crds', '--until-settled', '-n', 'default'];
    const { code, lines } = await run(home.path, ['up', '--kubeconfig', 'with-settings', '--json', ...flags]);
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({
      type: 'Settled',
      pools: [{ pool: 'everwarm/theia-cloud/default/java-17', desired: 2, ready: 2, current: 2 }],
    });
    expect(await kubectl(home.path, ['get', 'warmpools', '-o', 'name'])).toContain('java-17');
  });

  it('is left whole also when no Everwarm runs: the passes are made by hand', async (context) => {
    needsKubectl(context);
    const everwarm = (line: string) =>
      run(home.path, [...line.split(' '), '--kubeconfig', 'with-settings', '--json']);
    const patch = (what: string, spec: object) =>
      kubectl(home.path, ['patch', what, 'java-17', '--type', 'merge', '-p', JSON.stringify({ spec })]);
    await patch('warmpool', { mode: 'guard' });
    await patch('appdefinition', { image: 'ide:2' });
    const pass = await everwarm('reconcile java-17');
    expect(pass.lines).toContainEqual(
      expect.objectContaining({
        type: 'ActionDone',
        action: expect.objectContaining({ kind: 'withdraw', slot: '2' }),
      }),
    );
    expect((await everwarm('status')).out).toContain('"state":"withdrawn"');

    const left = await everwarm('leave java-17');
    expect(left).toMatchObject({ code: 0, err: expect.stringContaining('finishing slots ') });
    expect(left.lines).toContainEqual(
      expect.objectContaining({ type: 'ActionDone', action: expect.objectContaining({ kind: 'return' }) }),
    );
    expect(left.lines.at(-1)).toMatchObject({ type: 'Left' });
    const { lines } = await everwarm('status');
    expect(lines[0]).toMatchObject({ mode: 'observe', ready: 2 });
    expect(JSON.stringify(lines[0])).not.toContain('"withdrawn"');
  });

  it('says what is missing where the settings are known to nobody', async (context) => {
    needsKubectl(context);
    const { code, lines } = await run(home.path, ['status', '--kubeconfig', 'kubeconfig', '--json']);
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.objectContaining({ type: 'Pool', degraded: true, state: 'SettingsUnknown' }),
    ]);
    const plan = await run(home.path, ['plan', '--kubeconfig', 'kubeconfig', '--json']);
    expect(plan).toMatchObject({
      code: 1,
      lines: [{ type: 'Plan', actions: [], problem: expect.stringContaining('SettingsUnknown') }],
    });
  });
});

describe('a cluster that does not answer as it should', () => {
  it.each([
    { what: 'does not know us', user: { token: 'wrong' }, port: undefined, says: 'unauthorized' },
    { what: 'is not there', user: { token: 'any' }, port: 1, says: 'unknown' },
  ])('that $what is one line and exit 1, not a stack', async ({ user, port, says }) => {
    const { server } = await cluster.line(isReady);
    const url = new URL(String(server));
    if (port !== undefined) url.port = String(port);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: url.origin, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    writeFileSync(join(home.path, 'odd'), JSON.stringify(config));
    const { code, out, err } = await run(home.path, ['status', '--kubeconfig', 'odd']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^everwarm: the cluster at https:\S+ cannot be read: /),
    ]);
    expect(err).toContain(says);
    expect(err).not.toContain('wrong');
  });
});
