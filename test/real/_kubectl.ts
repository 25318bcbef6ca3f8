import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What one call of kubectl came to, without what differs from run to run. */
interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Kubectl {
  /** One call, to its end; `input` is what it reads, `env` what it is told besides. */
  run(args: readonly string[], input?: unknown, env?: Readonly<Record<string, string>>): Promise<Said>;
  close(): void;
}

/** kubectl with one kubeconfig and a home of its own. */
export function createKubectl(kubeconfig: string): Kubectl {
  const home = mkdtempSync(join(tmpdir(), 'everwarm-kubectl-'));
  mkdirSync(join(home, 'cache'));
  return {
    run: (args, input, env = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn('kubectl', ['--cache-dir', join(home, 'cache'), ...args], {
          env: { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig, ...env },
        });
        let [out, err] = ['', ''];
        child.stdout.on('data', (chunk: Buffer) => {
          out += chunk.toString();
        });
        child.stderr.on('data', (chunk: Buffer) => {
          err += chunk.toString();
        });
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, out: masked(out), err: masked(err) }));
        child.stdin.on('error', () => undefined);
        child.stdin.end(input === undefined ? '' : JSON.stringify(input));
      }),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** In the order in which they are applied: what no two servers, or no two moments, have in common. */
const MASKS: readonly (readonly [pattern: RegExp, word: string])[] = [
  // The embedded server says in its version what it is.
  [/\+everwarm\b/g, ''],
  // The object that a strict request was refused for: the message behind it is what counts.
  [/(patch: Invalid value: ").*(": strict decoding error)/g, '$1OBJECT$2'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\b(Resource Version: +|resourceVersion: ")\d+/g, '$1VERSION'],
  [/("resourceVersion": ")\d+/g, '$1VERSION'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1'],
  [/\bweb-[0-9a-z]{6,10}\b/g, 'web-HASH'],
  [/(pod-template-hash[=:] ?"?)[0-9a-z]{6,10}/g, '$1HASH'],
  [/\b(\d+m)?\d+s\b/g, 'AGE'],
  // A column is as wide as its widest cell, which may be an age or a name that was masked.
  [/ {2,}/g, '  '],
  [/ +$/gm, ''],
];

function masked(text: string): string {
  return MASKS.reduce((rest, [pattern, word]) => rest.replaceAll(pattern, word), text);
}
