// Plain JavaScript for Node 20: what a fresh clone runs before anything is installed.
// It installs what is missing, once, and then runs the target under the Node of the `node` dev dependency.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, nodeBinary, nodeVersion } from './install.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Runs `target` (a path in the repository) with `args` as its command line, under the project's own Node.
 * The target must do its work on import: it may run inside this very process.
 */
export async function run(target, args) {
  await ensureInstalled(root);
  const file = join(root, target);
  if (process.version === `v${nodeVersion(root)}`) {
    process.argv = [process.execPath, file, ...args];
    await import(pathToFileURL(file).href);
    return;
  }
  process.exitCode = await runChild(nodeBinary(root), [file, ...args]);
}

/** Runs a command on our own stdio and answers its exit code; signals sent to us are passed on to it. */
function runChild(command, args) {
  const child = spawn(command, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well; twice would mean "at once" to it.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
