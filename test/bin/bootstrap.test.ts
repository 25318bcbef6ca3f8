import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';

const clones: string[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const clone of clones.splice(0)) rmSync(clone, { recursive: true, force: true });
});

/** Stands in for the registry's client: does what the next line of `npm-plan` says, and notes each call. */
const NPM = `#!/usr/bin/env node
const fs = require('node:fs');
fs.appendFileSync('npm-calls', process.argv[2] + '\\n');
const [next = 'ok', ...rest] = fs.existsSync('npm-plan') ? fs.readFileSync('npm-plan', 'utf8').split(' ') : [];
fs.writeFileSync('npm-plan', rest.join(' ') || 'ok');
if (next === 'stall') setInterval(() => {}, 1000);
else if (next === 'fail') { console.error('connect ECONNREFUSED'); process.exit(1); }
else if (process.argv[2] === 'ci') {
  fs.rmSync('node_modules', { recursive: true, force: true });
  fs.mkdirSync('node_modules/node/bin', { recursive: true });
  fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
} else {
  const { devDependencies } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  fs.symlinkSync(process.execPath, 'node_modules/node/bin/node');
  fs.writeFileSync('node_modules/node/package.json', JSON.stringify({ version: devDependencies.node }));
}
`;

/** A clone with nothing installed, whose own Node is `node`, and whose command is `script`. */
function freshClone({
  node = process.version.slice(1),
  script = `console.log('ran', process.argv[2])`,
} = {}) {
  const root = mkdtempSync(join(tmpdir(), 'everwarm-clone-'));
  clones.push(root);
  cpSync('bin', join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'path'));
  writeFileSync(join(root, 'path/npm'), NPM, { mode: 0o755 });
  writeFileSync(join(root, 'command.mjs'), script);
  writeFileSync(join(root, 'package.json'), JSON.stringify({ devDependencies: { node } }));
  relock(root, '1.0.0');
  return root;
}

function relock(root: string, version: string) {
  const packages = { '': {}, 'node_modules/left': { version, integrity: `sha512-${version}` } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
}

function start(root: string, env: Record<string, string> = {}) {
  const path = [join(root, 'path'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const child = spawn(process.execPath, [join(root, 'bin/run.mjs'), 'command.mjs', 'it'], {
    env: { PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function run(root: string, env: Record<string, string> = {}) {
  const child = start(root, env);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code };
}

const npmCalls = (root: string) =>
  existsSync(join(root, 'npm-calls')) ? readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n') : [];

it('a fresh clone installs first, tells the waiting person so on stderr, and then runs the command', async () => {
  const root = freshClone();

  const { stdout, stderr, code } = await run(root);

  expect({ stdout, code }).toEqual({ stdout: 'ran it\n', code: 0 });
  expect(stderr).toContain('everwarm: installing the packages');
  expect(npmCalls(root)).toEqual(['ci', 'rebuild']);
});

it('nothing is installed again, or said, when nothing changed', async () => {
  const root = freshClone();
  await run(root);

  const { stdout, stderr } = await run(root);

  expect({ stdout, stderr }).toEqual({ stdout: 'ran it\n', stderr: '' });
  expect(npmCalls(root)).toEqual(['ci', 'rebuild']);
});

it('a clone whose locked versions changed installs again', async () => {
  const root = freshClone();
  await run(root);
  relock(root, '2.0.0');

  await run(root);

  expect(npmCalls(root)).toEqual(['ci', 'rebuild', 'ci', 'rebuild']);
});

it('packages that a person installed by hand are taken as they are', async () => {
  const root = freshClone();
  await run(root);
  rmSync(join(root, 'node_modules/.everwarm-stamp'));

  await run(root);

  expect(npmCalls(root)).toEqual(['ci', 'rebuild']);
});

it('only Node is fetched again when its install script was all that failed', async () => {
  const root = freshClone();
  await run(root);
  rmSync(join(root, 'node_modules/node/bin/node'));

  expect((await run(root)).code).toBe(0);
  expect(npmCalls(root)).toEqual(['ci', 'rebuild', 'rebuild']);
});

it('a download that fails twice is tried a third time', async () => {
  const root = freshClone();
  writeFileSync(join(root, 'npm-plan'), 'fail fail ok');

  expect((await run(root)).stdout).toBe('ran it\n');
  expect(npmCalls(root)).toEqual(['ci', 'ci', 'ci', 'rebuild']);
});

it('after three failures the command does not run and the reason is shown', async () => {
  const root = freshClone();
  writeFileSync(join(root, 'npm-plan'), 'fail fail fail');

  const { stdout, stderr, code } = await run(root);

  expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
  expect(stderr).toContain('try 3 of 3: npm ended with 1: connect ECONNREFUSED');
  expect(existsSync(join(root, '.everwarm/install.lock'))).toBe(false);
});

it('a download that stalls is ended and tried again', async () => {
  const root = freshClone();
  writeFileSync(join(root, 'npm-plan'), 'stall ok');

  const { stderr, code } = await run(root, { EVERWARM_INSTALL_SECONDS: '1' });

  expect(code).toBe(0);
  expect(stderr).toContain('try 1 of 3 failed: no end after 1 s');
});

it('two commands started at once install once', async () => {
  const root = freshClone();

  const [first, second] = await Promise.all([run(root), run(root)]);

  expect([first.stdout, second.stdout]).toEqual(['ran it\n', 'ran it\n']);
  expect(npmCalls(root)).toEqual(['ci', 'rebuild']);
});

it('the lock of a process that died is taken over', async () => {
  const root = freshClone();
  const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(dead, 'exit');
  mkdirSync(join(root, '.everwarm/install.lock'), { recursive: true });
  writeFileSync(join(root, '.everwarm/install.lock/pid'), String(dead.pid));

  expect((await run(root)).code).toBe(0);
});

it('an interrupted installation leaves no lock behind', async () => {
  const root = freshClone();
  writeFileSync(join(root, 'npm-plan'), 'stall');
  const child = start(root);
  await once(child.stderr, 'data');

  child.kill('SIGTERM');

  expect(await once(child, 'exit')).toEqual([143, null]);
  expect(existsSync(join(root, '.everwarm/install.lock'))).toBe(false);
});

const PATIENT = `
process.on('SIGTERM', () => process.exit(0)).on('SIGINT', () => process.exit(7));
setInterval(() => {}, 1000);
console.log('listening');`;

it.each([
  { where: 'in the same process, when it is already the right Node', node: process.version.slice(1) },
  { where: 'in a child, when the Node at hand is another one', node: '99.0.0' },
])('signals reach the command and its exit code comes back: $where', async ({ node }) => {
  const root = freshClone({ node, script: PATIENT });
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGINT', 7],
  ] as const) {
    const child = start(root);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([code, null]);
  }
});
