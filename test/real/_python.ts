import { spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The client's version for the server's. */
const VERSION = '34.1.0';
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'everwarm');
const PLACE = join(CACHE, `python-kubernetes-${VERSION}`);
const TRIES = 3;

/** A Python with the `kubernetes` client, installed on first use; where there is none, the reason. */
export function findPython(): { readonly python: string } | { readonly reason: string } {
  const python = join(PLACE, 'bin', 'python');
  if (existsSync(join(PLACE, 'ready'))) return { python };
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0)
    return { reason: 'no Python 3 with venv is here' };
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    rmSync(PLACE, { recursive: true, force: true });
    const made = spawnSync('python3', ['-m', 'venv', PLACE], { timeout: 120_000 });
    if (made.status !== 0) return { reason: `python3 -m venv failed: ${made.stderr}` };
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `kubernetes==${VERSION}`];
    if (spawnSync(python, pip, { timeout: 300_000, stdio: ['ignore', 2, 2] }).status !== 0) continue;
    writeFileSync(join(PLACE, 'ready'), '');
    return { python };
  }
  return { reason: `pip could not install kubernetes ${VERSION}` };
}

/** What a Python program prints, line by line; rejects with its error output when it fails. */
export function runPython(
  python: string,
  file: string,
  args: readonly string[],
  input: unknown,
): Promise<readonly string[]> {
  const child = spawn(python, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.end(JSON.stringify(input));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(out.trim().split('\n')) : reject(new Error(`${out}\n${err}`)),
    );
  });
}
