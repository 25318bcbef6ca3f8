import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  appDefinition,
  eventually,
  folder,
  kubectl,
  type Line,
  needsKubectl,
  run,
  start,
} from './_program.ts';

const home = folder();
afterAll(() => home.remove());

const isReady = (line: Line) => line.type === 'Ready';
const isSettled = (line: Line) => line.type === 'Settled';
const EMPTY = [
  'up',
  '--world',
  'empty',
  '--json',
  '--kubeconfig-out',
  'kubeconfig',
  '--ready-after',
  '200ms',
];

/** The `metadata.uid` of each Deployment by its name. */
async function deployments(): Promise<ReadonlyMap<string, string>> {
  const list = JSON.parse(await kubectl(home.path, ['get', 'deployments', '-o', 'json']));
  const items: readonly { metadata: { name: string; uid: string } }[] = list.items;
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

async function warmPool(): Promise<{ readonly ready: number; readonly current: number } | undefined> {
  const text = await kubectl(home.path, ['get', 'warmpool', 'java-17', '--ignore-not-found', '-o', 'json']);
  return text === '' ? undefined : JSON.parse(text).status?.counts;
}

describe('the demo', () => {
  it('rolls a release through a pool in use that its operator slept through, and ends settled', async () => {
    const { code, lines, err } = await run(home.path, ['up', '--world', 'demo', '--until-settled', '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines[0]).toMatchObject({
      type: 'Ready',
      namespace: 'theia',
      kubeconfig: join(home.path, '.everwarm/kubeconfig'),
    });
    expect(lines.at(-1)).toMatchObject({
      type: 'Settled',
      violations: 0,
      pools: [{ desired: 6, ready: 5, current: 5, stale: 0, claimed: 1, blocked: 0 }],
    });
    for (const { at } of lines) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const replaced = lines.filter(
      ({ action }) => (action as { kind?: string } | undefined)?.kind === 'return',
    );
    expect(replaced.length).toBeGreaterThanOrEqual(3);
    const healed = lines.findLast(({ what }) => String(what).startsWith('ready, serving'));
    expect(healed).toMatchObject({ who: 'cluster', what: 'ready, serving java-17:1.1.0' });
  });

  it('ends the same although every notice is lost, by looking now and then', async () => {
    const args = ['up', '--until-settled', '--json', '--drop-events', '1', '--resync', '2s'];
    const { code, lines } = await run(home.path, args);
    expect(code).toBe(0);
    expect(lines.some((line) => line['lost'] === false)).toBe(false);
    expect(lines.at(-1)).toMatchObject({
      type: 'Settled',
      violations: 0,
      pools: [{ desired: 6, ready: 5, current: 5, stale: 0, claimed: 1, blocked: 0 }],
    });
  });

  it('ends in order when it is told to in the middle of the story', async () => {
    const program = start(home.path, ['up', '--json']);
    await program.line(({ who }) => who === 'user');
    const { code, lines, err } = await program.end('SIGTERM');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines.at(-1)).toMatchObject({ type: 'Stopped', violations: 0 });
  });
});

describe('the empty world', () => {
  it('fills a pool that is applied, and makes a deleted Deployment again', async (context) => {
    needsKubectl(context);
    const program = start(home.path, EMPTY);
    await program.line(isReady);
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17'));
    await eventually(warmPool, (counts) => counts?.ready === 3 && counts.current === 3);
    const before = await deployments();
    expect(before.size).toBe(3);

    const [[name = '', uid] = []] = before;
    await kubectl(home.path, ['delete', 'deployment', name]);
    const after = await eventually(deployments, (now) => now.has(name) && now.get(name) !== uid);
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());

    expect(await kubectl(home.path, ['get', 'warmpools'])).toMatch(/NAME +DESIRED +READY +CURRENT/);
    const { code, lines } = await program.end();
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: 'Stopped', violations: 0 });
  });

  it('does not settle before it has a pool, and then does', async (context) => {
    needsKubectl(context);
    const program = start(home.path, [...EMPTY, '--until-settled']);
    await program.line(isReady);
    expect(program.lines.some(isSettled)).toBe(false);
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17', { minInstances: 2 }));
    const { code, lines } = await program.ended;
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({
      type: 'Settled',
      violations: 0,
      pools: [{ desired: 2, ready: 2, current: 2, stale: 0, claimed: 0, blocked: 0 }],
    });
  });

  it('settles with 1 when a pool is blocked, and says by what', async (context) => {
    needsKubectl(context);
    const program = start(home.path, [...EMPTY, '--until-settled']);
    await program.line(isReady);
    const sidecars = [{ name: 'first-by-name', image: 'registry.example.org/ide/lsp:1', port: 5000 }];
    const wrong = appDefinition('java-17', { sidecars });
    await kubectl(home.path, ['apply', '-f', '-'], wrong);
    const { code, lines } = await program.ended;
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ type: 'Settled', violations: 0 });
    expect(lines).toContainEqual(
      expect.objectContaining({ type: 'PoolBlocked', reason: 'SidecarSortsFirst' }),
    );
  });

  it('needs no notice: a resync is enough', async (context) => {
    needsKubectl(context);
    const program = start(home.path, [
      ...EMPTY,
      '--until-settled',
      '--drop-events',
      '1',
      '--resync',
      '500ms',
    ]);
    await program.line(isReady);
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17'));
    const { code, lines } = await program.ended;
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({ pools: [{ desired: 3, ready: 3, current: 3 }] });
  });

  it('does nothing in observe but tell', async (context) => {
    needsKubectl(context);
    const program = start(home.path, [...EMPTY, '--mode', 'observe', '--for', '3s']);
    await program.line(isReady);
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17'));
    await program.line(({ type, object }) => type === 'Notice' && object === 'AppDefinition/java-17');
    expect(await kubectl(home.path, ['get', 'warmpools,deployments', '-o', 'name'])).toBe('');
    const { code, lines } = await program.ended;
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: 'Stopped', pools: [{ desired: 3, ready: 0 }] });
  });

  it('refuses notices that are not signed, and says why', async () => {
    const program = start(home.path, EMPTY);
    const { webhook } = await program.line(isReady);
    const url = `${webhook}/v1/notices/everwarm/local`;
    const post = async (headers: Record<string, string>, body: string) => {
      const response = await fetch(url, { method: 'POST', headers, body });
      const { error } = (await response.json()) as { error?: string };
      return { status: response.status, error };
    };
    const signed = {
      'webhook-id': 'a/1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    };
    expect(await post({}, '{}')).toEqual({ status: 401, error: 'not signed' });
    expect(await post(signed, '{}')).toEqual({ status: 401, error: 'no signature fits' });
    const old = { ...signed, 'webhook-timestamp': '1000000000' };
    expect(await post(old, '{}')).toMatchObject({ status: 401, error: 'signed more than 300 s ago' });
    expect(await post(signed, 'x'.repeat(20_001))).toMatchObject({ status: 413 });
    expect((await program.end()).code).toBe(0);
  });
});
