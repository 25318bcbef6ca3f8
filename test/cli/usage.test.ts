import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { folder, run } from './_program.ts';

const home = folder();
afterAll(() => home.remove());

/** The program without a process around it: quick enough for every way to get it wrong. */
async function type(args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(args, {
    config: {
      kubeconfig: join(home.path, '.kube/config'),
      service: { host: undefined, port: undefined },
      settings: undefined,
      forward: {},
      color: false,
    },
    clock: systemClock,
    random: seededRandom(1),
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
    hasColor: false,
    width: undefined,
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), err };
}

const COMMANDS = [
  'up',
  'api-server',
  'status',
  'plan',
  'explain',
  'reconcile',
  'refresh',
  'release',
  'pause',
  'resume',
  'leave',
  'simulate',
];

describe('wrong arguments end with 2 and say on one line how to mend it', () => {
  it.each([
    { args: ['stauts'], says: 'Did you mean status?' },
    { args: ['up', '--wrold', 'demo'], says: 'Did you mean --world?' },
    { args: ['up', '--resync', '5'], says: 'say the unit, as in 5s or 5ms' },
    { args: ['up', '--drop-events', '2'], says: 'a fraction from 0 to 1' },
    { args: ['up', '--port', 'http'], says: "--port 'http': write a port from 1 to 65535" },
    { args: ['up', '--world', 'moon'], says: "--world 'moon': write one of demo, empty" },
    { args: ['up', '--world', 'empty', '--kubeconfig', 'f'], says: 'cannot be used with option' },
    { args: ['up', '--cluster', 'embedded', '--kubeconfig', 'f'], says: 'leave out --kubeconfig' },
    {
      args: ['up', '--cluster', 'external', '--kubeconfig-out', 'f'],
      says: '--kubeconfig-out is for a cluster of its own',
    },
    { args: ['up', '-n', 'ide'], says: 'add --kubeconfig FILE or --in-cluster' },
    {
      args: ['status', 'a/b/c'],
      says: 'everwarm: "a/b/c" names no pool: write [[cluster/platform/]namespace/]name',
    },
    { args: ['explain'], says: '--help shows what there is' },
    { args: ['explain', 'a/b/c/d/e/f'], says: "POOL/SLOT, as in java/3, or a Deployment's name" },
    { args: ['simulate', '--scenario', 'none'], says: 'there is no scenario none: there are' },
    { args: ['release'], says: '--help shows what there is' },
    { args: ['release', 'java', '--set', 'ide:2'], says: 'write image=REFERENCE' },
    { args: ['release', 'java', '--abort', '--dry-run'], says: '--abort goes with neither' },
    { args: ['leave'], says: 'name one POOL, or say --all' },
    { args: ['leave', 'java', '--all'], says: 'name one POOL, or say --all' },
  ])('everwarm $args', async ({ args, says }) => {
    const { code, out, err } = await type(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toEqual([expect.stringContaining(says)]);
  });
});

describe('every command', () => {
  it.each(COMMANDS)('%s explains itself, with an example', async (command) => {
    const { code, out, err } = await type([command, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: [] });
    expect(out).toContain('--json');
    expect(out).toMatch(new RegExp(`Examples?:\n {2}everwarm ${command}`));
  });

  it('belongs to a version that can be asked for', async () => {
    const { code, out } = await type(['--version']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  });

  it('is named by everwarm --help', async () => {
    const { code, out } = await type(['--help']);
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(out).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  });
});

describe('what is not there', () => {
  it.each([
    { what: 'a kubeconfig', args: ['status', '--kubeconfig', 'nowhere'], says: 'nowhere: no such file' },
    {
      what: 'the default kubeconfig',
      args: ['plan'],
      says: '.kube/config: no such file: name one with --kubeconfig FILE',
    },
    { what: 'a folder of kinds', args: ['api-server', '--crds', 'nowhere'], says: 'nowhere: ENOENT' },
    { what: 'a pod around us', args: ['up', '--in-cluster'], says: 'not inside a cluster' },
  ])('$what is a problem on one line, not a stack', async ({ args, says }) => {
    const { code, out, err } = await type(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toEqual([expect.stringContaining(says)]);
  });
});

describe('the process', () => {
  it('ends with the same code, complaining on stderr alone', async () => {
    const [wrong, right] = await Promise.all([run(home.path, ['up', '--wrold']), run(home.path, ['--help'])]);
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toBe("everwarm: unknown option '--wrold' (Did you mean --world?)\n");
    expect(right).toMatchObject({ code: 0, err: '' });
  });
});
