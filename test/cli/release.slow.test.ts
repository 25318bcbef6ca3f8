import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { kubeconfigCluster } from '../../src/kube/auth/kubeconfig.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';
import { settingsFromConfig } from '../../src/platform/theia-cloud/settings.ts';
import { createTheiaOperator, type TheiaOperator } from '../../src/simulator/world/theia-operator.ts';
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
} from './_program.ts';

/** A release beside an operator that replaces everything at once, as a person does it. */

const home = folder();
let program: Started;
let operator: TheiaOperator;
let api: KubeClient;

beforeAll(async () => {
  const flags = ['--world', 'empty', '--kubeconfig-out', 'kubeconfig', '--ready-after', '200ms'];
  program = start(home.path, ['up', '--json', ...flags]);
  await program.line(({ type }) => type === 'Ready');
  const cluster = await kubeconfigCluster({ file: join(home.path, 'kubeconfig') });
  const [clock, random] = [systemClock, seededRandom(1)];
  api = createKubeApi({ cluster, clock, random });
  // With other settings it would make other instances than Everwarm, which would then keep its hands off them.
  const { contexts } = JSON.parse(readFileSync(join(home.path, 'kubeconfig'), 'utf8'));
  const settings = settingsFromConfig(contexts[0].context.extensions[0].extension.settings);
  if (settings.kind !== 'parsed') throw new Error(settings.reason);
  operator = createTheiaOperator({ api, clock, random, namespace: 'theia', settings: settings.value });
  await operator.start();
  if (!hasKubectl) return;
  await kubectl(home.path, ['apply', '-f', '-'], appDefinition('java-17', { minInstances: 4 }));
  await eventually(pool, (line) => line['state'] === 'Converged' && line['ready'] === 4);
});
afterAll(async () => {
  await operator.stop('terminate');
  api.close();
  await program.end();
  home.remove();
});

const everwarm = (...args: readonly string[]) => run(home.path, [...args, '--kubeconfig', 'kubeconfig']);

async function pool(): Promise<Line> {
  const { lines } = await everwarm('status', 'java-17', '--json');
  return lines[0] ?? { at: '', type: 'none' };
}

async function deployments(): Promise<readonly string[]> {
  return (await kubectl(home.path, ['get', 'deployments', '-o', 'jsonpath={.items[*].metadata.uid}'])).split(
    ' ',
  );
}

const phases = (lines: readonly Line[]) =>
  lines.filter(({ type }) => type === 'Release').map((line) => line['phase']);

describe('everwarm release', () => {
  it('only says what it would mean, when asked to', async (context) => {
    needsKubectl(context);
    const { code, out } = await everwarm('release', 'java-17', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('4 instances are ready to be handed out, 0 are claimed');
    expect(out).toContain('replaces 4 at once');
    expect((await pool())['state']).toBe('Converged');
  });

  it('keeps every pod through the change that it makes, and leaves the roll-out to guard', async (context) => {
    needsKubectl(context);
    const before = await deployments();
    const { code, lines } = await everwarm('release', 'java-17', '--set', 'image=ide:2', '--json');
    expect(phases(lines)).toEqual(['forecast', 'prepared', 'changed', 'handedOut']);
    expect({ code, last: lines.at(-1) }).toMatchObject({
      code: 0,
      last: { kept: 0, coldStarts: 0, image: 'ide:2' },
    });
    expect(await deployments()).toEqual(before);
    const after = await eventually(pool, (line) => line['state'] === 'Converged' && line['current'] === 4);
    expect(after['stale']).toBe(0);
    const annotations = await kubectl(home.path, [
      'get',
      'warmpool',
      'java-17',
      '-o',
      'jsonpath={.metadata.annotations}',
    ]);
    expect(annotations).not.toContain('everwarm.dev/release');
  });

  it('waits for the change of somebody else, and is called off by Ctrl-C before it', async (context) => {
    needsKubectl(context);
    const waiting = start(home.path, ['release', 'java-17', '--json', '--kubeconfig', 'kubeconfig']);
    await waiting.line(({ phase }) => phase === 'prepared');
    expect(await pool()).toMatchObject({ ready: 0, state: 'Releasing' });
    const { code, lines } = await waiting.end('SIGINT');
    expect({ code, phase: phases(lines).at(-1) }).toEqual({ code: 1, phase: 'calledOff' });
    expect(await pool()).toMatchObject({ ready: 4, current: 4, state: 'Converged' });
  });

  it('that was killed leaves nothing behind that --abort does not mend', async (context) => {
    needsKubectl(context);
    const waiting = start(home.path, ['release', 'java-17', '--json', '--kubeconfig', 'kubeconfig']);
    await waiting.line(({ phase }) => phase === 'prepared');
    await waiting.end('SIGKILL');
    expect((await pool())['ready']).toBe(0);
    expect(await everwarm('release', 'java-17', '--abort')).toMatchObject({
      code: 0,
      out: 'Called off: all are handed out again.',
    });
    expect(await pool()).toMatchObject({ ready: 4, current: 4 });
  });

  it('is refused where nothing may be written', async (context) => {
    needsKubectl(context);
    await everwarm('pause', 'java-17');
    const { code, err } = await everwarm('release', 'java-17');
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining('it is paused: everwarm resume'),
    });
    await everwarm('resume', 'java-17');
  });

  it('needs no preparation where no operator runs', async (context) => {
    needsKubectl(context);
    await operator.stop('terminate');
    const { code, lines } = await everwarm('release', 'java-17', '--set', 'image=ide:3', '--json');
    expect({ code, phases: phases(lines) }).toEqual({ code: 0, phases: ['forecast', 'needless'] });
    expect(
      await kubectl(home.path, ['get', 'appdefinition', 'java-17', '-o', 'jsonpath={.spec.image}']),
    ).toBe('ide:3');
  });
});
