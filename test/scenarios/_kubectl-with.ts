import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** kubectl with this kubeconfig and a home of its own. */
export function kubectlWith(kubeconfig: string): {
  run(args: string): Promise<string>;
  close(): void;
} {
  const home = mkdtempSync(join(tmpdir(), 'everwarm-kubectl-'));
  const config = join(home, 'config');
  writeFileSync(config, kubeconfig);
  const run = (args: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: config };
      const child = spawn('kubectl', ['--cache-dir', join(home, 'cache'), ...args.split(' ')], { env });
      let [out, err] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString();
      });
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk.toString();
      });
      child.on('error', reject);
      child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`kubectl ${args}: ${err}`))));
    });
  return { run, close: () => rmSync(home, { recursive: true }) };
}
