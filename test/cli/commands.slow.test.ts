import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appDefinition,
  type Ended,
  eventually,
  folder,
  hasKubectl,
  kubectl,
  type Line,
  needsKubectl,
  run,
  type Started,
  start,
} from './_program.ts';

/** One person's day with the commands, in order, against one running world. */

const home = folder();
let program: Started;

beforeAll(async () => {
  const args = [
    '--world',
    'empty',
    '--kubeconfig-out',
    'kubeconfig',
    '--ready-after',
    '200ms',
    '--resync',
    '5s',
  ];
  program = start(home.path, ['up', '--json', ...args]);
  await program.line(({ type }) => type === 'Ready');
});
afterAll(async () => {
  await program.end();
  home.remove();
});

function everwarm(command: string): Promise<Ended> {
  return run(home.path, [...command.split(' '), '--kubeconfig', 'kubeconfig']);
}

async function pool(): Promise<Line & Record<string, unknown>> {
  const { lines } = await everwarm('status java-17 --json');
  return lines[0] ?? { at: '', type: 'none' };
}

const isConverged = (line: Line) => line['state'] === 'Converged';
const release = (tag: string) =>
  kubectl(home.path, [
    'patch',
    'appdefinition',
    'java-17',
    '--type',
    'merge',
    '-p',
    JSON.stringify({ spec: { image: `ide:${tag}` } }),
  ]);

describe('a cluster without pools', () => {
  it('is nothing to worry about', async () => {
    expect(await everwarm('status')).toMatchObject({ code: 0, out: 'no pools in namespace theia' });
    expect(await everwarm('plan --exit-code --json')).toMatchObject({ code: 0, out: '' });
  });

  it('has not the pool that is asked for', async () => {
    const asked = await everwarm('status java-17');
    expect(asked).toMatchObject({
      code: 1,
      out: '',
      err: 'everwarm: there is no pool java-17 in namespace theia\n',
    });
    expect((await everwarm('explain java-17/3')).err).toContain('there is no pool java-17');
    expect((await everwarm('explain instance-1-java')).err).toContain(
      'no pool in namespace theia has an instance',
    );
  });
});

describe('a pool', () => {
  beforeAll(async () => {
    if (!hasKubectl) return;
    await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17', { minInstances: 3 }));
    await eventually(pool, isConverged);
  });

  it('shows who is on what, for people and for tools', async (context) => {
    needsKubectl(context);
    const { code, out } = await everwarm('status');
    expect(code).toBe(0);
    expect(out).toMatch(/POOL +DESIRED +READY +CURRENT +STALE +CLAIMED +BLOCKED +STATE +MODE/);
    expect(out).toMatch(/^java-17 +3 +3 +3 +0 +0 +0 +Converged +guard$/m);
    expect(out).toMatch(/^ +1-3 +ready +:1\.0\.0 +\d+s +-$/m);
    expect(out).not.toContain('\u001b');
    const { slots, ...numbers } = await pool();
    expect(numbers).toMatchObject({
      type: 'Pool',
      desired: 3,
      ready: 3,
      current: 3,
      stale: 0,
      claimed: 0,
      blocked: 0,
    });
    expect(slots).toHaveLength(3);
  });

  it.each(['java-17', 'theia/java-17', 'everwarm/theia-cloud/theia/java-17'])('goes by %s', async (name) => {
    if (hasKubectl) expect((await everwarm(`status ${name} --json`)).lines).toHaveLength(1);
  });

  it('is of this cluster only', async (context) => {
    needsKubectl(context);
    const { code, err } = await everwarm('status other/theia-cloud/theia/java-17');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'everwarm: this is cluster everwarm, not other: choose it with --context\n',
    });
  });

  it('has nothing planned, and one more pass finds nothing to do', async (context) => {
    needsKubectl(context);
    const plan = await everwarm('plan java-17 --exit-code --json');
    expect(plan).toMatchObject({ code: 0, lines: [{ type: 'Plan', actions: [], writesStatus: false }] });
    const pass = await everwarm('reconcile java-17 --json');
    expect(pass).toMatchObject({ code: 0, lines: [{ type: 'Reconciled', ready: 3, state: 'Converged' }] });
  });

  it('explains an instance by its slot and by its Deployment alike', async (context) => {
    needsKubectl(context);
    const [bySlot] = (await everwarm('explain java-17/2 --json')).lines;
    const parts = bySlot?.['parts'] as readonly { kind: string; name: string; owners: readonly string[] }[];
    expect(parts.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Pod', 'Service', 'Service']);
    const deployment = parts.find(({ kind }) => kind === 'Deployment');
    expect(deployment?.owners).toEqual(['AppDefinition/java-17']);
    const { code, out } = await everwarm(`explain ${deployment?.name}`);
    expect(code).toBe(0);
    expect(out).toContain('everwarm/theia-cloud/theia/java-17/2  ready, current');
    expect(out).toContain('nothing: it is as it should be');
  });

  it('holds a release back while it is paused, and tells what it would do', async (context) => {
    needsKubectl(context);
    expect(await everwarm('pause java-17 --json')).toMatchObject({ code: 0, lines: [{ type: 'Paused' }] });
    await release('2');
    const { lines } = await everwarm('plan java-17 --json');
    expect(lines[0]?.['actions']).toEqual([]);
    expect(lines[0]?.['held']).toContainEqual(expect.objectContaining({ slot: '3', reason: 'paused' }));
    expect(await pool()).toMatchObject({ state: 'Paused', stale: 3, ready: 3 });
    const { out } = await everwarm('explain java-17/3');
    expect(out).toContain(
      'Differs from what would be made now in\n  deployment: spec.template.spec.containers[java-17].image',
    );
    expect(out).toContain('held back: the pool is paused');
  });

  it('rolls it when it is resumed', async (context) => {
    needsKubectl(context);
    expect(await everwarm('resume java-17')).toMatchObject({
      code: 0,
      out: expect.stringContaining('is resumed'),
    });
    expect(await eventually(pool, isConverged)).toMatchObject({ ready: 3, current: 3, stale: 0 });
  });

  it('renews one instance although it is current, and no other', async (context) => {
    needsKubectl(context);
    const uids = async () => {
      const list = JSON.parse(await kubectl(home.path, ['get', 'deployments', '-o', 'json']));
      return (list.items as { metadata: { name: string; uid: string } }[]).map(
        ({ metadata }) => metadata.uid,
      );
    };
    const before = await uids();
    expect(await everwarm('refresh java-17/2 --json')).toMatchObject({
      code: 0,
      lines: [{ type: 'RefreshAsked', slot: '2' }],
    });
    const after = await eventually(uids, (now) => now.length === 3 && now[1] !== before[1]);
    await eventually(pool, isConverged);
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  });

  it('is left whole: what is begun is finished, then nothing is done any more', async (context) => {
    needsKubectl(context);
    await release('3');
    await eventually(pool, (line) => JSON.stringify(line).includes('"withdrawn"'));
    const left = await everwarm('leave java-17 --json');
    expect(left.code).toBe(0);
    expect(left.lines.at(-1)).toMatchObject({ type: 'Left', pool: 'everwarm/theia-cloud/theia/java-17' });
    const line = await pool();
    expect(line).toMatchObject({ mode: 'observe', ready: 3 });
    expect(JSON.stringify(line)).not.toContain('"withdrawn"');
    await release('4');
    expect(await pool()).toMatchObject({ mode: 'observe', state: 'Drifted', ready: 3, stale: 3 });
  });

  it('gets no pass by hand after that, and says why', async (context) => {
    needsKubectl(context);
    const { code, out, err } = await everwarm('reconcile java-17');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('is in mode observe: set spec.mode of its WarmPool to guard first');
    const plan = await everwarm('plan java-17 --exit-code --json');
    expect(plan).toMatchObject({ code: 1, lines: [{ type: 'Plan', carriedOut: false }] });
    expect(plan.lines[0]?.['actions']).not.toEqual([]);
    expect((await everwarm('leave --all')).code).toBe(0);
  });

  it('that is blocked ends status with 1 and says by what', async (context) => {
    needsKubectl(context);
    const patch = JSON.stringify({ spec: { name: 'java-18' } });
    await kubectl(home.path, ['patch', 'appdefinition', 'java-17', '--type', 'merge', '-p', patch]);
    const { code, lines } = await everwarm('status java-17 --json');
    expect(code).toBe(1);
    expect(lines[0]).toMatchObject({
      degraded: true,
      state: 'InvalidDefinition',
      cause: 'spec.name is not equal to metadata.name',
      ready: 3,
    });
  });
});
