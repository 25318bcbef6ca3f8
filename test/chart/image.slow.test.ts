import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'everwarm-image-'));
const context = join(folder, 'context');

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['infra/image/context.ts', context], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command as the image runs it, out of reach of this repository's packages. */
function everwarm(...args: readonly string[]) {
  const main = join(context, 'everwarm/src/cli/main.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { HOME: folder },
  });
  return { status, stdout, stderr };
}

it('the image holds all that a command needs, and fetches nothing when it is built', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(everwarm('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  const up = everwarm('up', '--world', 'empty', '--kubeconfig-out', 'config', '--for', '1s', '--json');
  expect(up.stdout.split('\n').map((line) => line && JSON.parse(line).type)).toEqual([
    'Ready',
    'Stopped',
    '',
  ]);
  // What reads a kubeconfig is loaded only then: the cluster of before is gone.
  expect(everwarm('status', '--kubeconfig', 'config')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ECONNREFUSED'),
  });
  expect(everwarm('forward', '--config', 'none')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'everwarm: none: no such file\n',
  });
  const steps = readFileSync(join(context, 'Dockerfile'), 'utf8').match(/^[A-Z]+/gm);
  expect(steps).not.toContain('RUN');
  expect(existsSync(join(context, 'everwarm/node_modules/vitest'))).toBe(false);
});
