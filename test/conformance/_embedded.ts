import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Endpoint } from './_wire.ts';

/** A server that was started for these tests. */
export interface Started {
  readonly endpoint: Endpoint;
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '_embedded-main.ts');
export const ROOT = join(import.meta.dirname, '../..');

/** Starts the embedded API server whose source lies in `root`, in a process of its own. */
export async function startEmbedded(root = ROOT): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, root], { stdio: ['pipe', 'pipe', 'pipe'] });
  return { endpoint: JSON.parse(await firstLine(child)) as Endpoint, stop: () => stop(child) };
}

function firstLine(child: ChildProcess): Promise<string> {
  let [out, err] = ['', ''];
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes('\n')) resolve(out);
    });
    child.on('exit', (code) =>
      reject(new Error(`the embedded server ended with ${code}: ${err.slice(-2_000)}`)),
    );
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.on('exit', () => resolve());
    child.stdin?.end();
  });
}
