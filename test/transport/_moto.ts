import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Whether moto's server is installed: CI has it, a laptop may not. */
export const hasMoto = spawnSync('moto_server', ['--help'], { stdio: 'ignore' }).status === 0;

/** moto's server of AWS's APIs on a free port. */
export async function startMoto(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], {
    // A group of its own: the command may be a shim that starts another process.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PYTHONUNBUFFERED: '1' },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /Running on (http:\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stderr.resume();
    return {
      url,
      async stop() {
        process.kill(-(child.pid ?? 0), 'SIGTERM');
        await exited;
      },
    };
  }
  throw new Error('moto_server ended before it listened');
}
