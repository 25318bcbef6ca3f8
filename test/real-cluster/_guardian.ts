/**
 * Keeps the processes of one real cluster, whose files are in the directory that is its argument: starts each command that
 * comes as a line of JSON, and tells on stdout which process that is and when it ends. When its standard input ends, which
 * is when whoever asked for the cluster stops it, or dies by whatever hand, it kills all of them and removes the directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from './_processes.ts';

const children = new Set<ChildProcess>();

function start({ name, file, args, log }: Command): void {
  const output = openSync(log, 'a');
  const child = spawn(file, args, { stdio: ['ignore', output, output] });
  children.add(child);
  const tell = (what: object) => process.stdout.write(`${JSON.stringify({ name, ...what })}\n`);
  child.once('spawn', () => tell({ pid: child.pid }));
  child.once('error', ({ message }) => tell({ ended: message }));
  child.once('exit', (code, signal) => {
    children.delete(child);
    tell({ ended: `${code ?? signal}` });
  });
}

// Ctrl-C in a terminal goes to the whole group: the cluster outlives it until its owner has stopped.
process.on('SIGINT', () => undefined);
process.stdout.on('error', () => undefined);
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const command: unknown = JSON.parse(line);
  start(command as Command);
});
lines.on('close', () => {
  // The data is thrown away: nobody waits for a graceful end.
  for (const child of children) child.kill('SIGKILL');
  const [, , directory = ''] = process.argv;
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  process.exit(0);
});
