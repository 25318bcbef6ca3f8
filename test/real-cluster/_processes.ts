import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One program to run. */
export interface Command {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Where its output goes. */
  readonly log: string;
}

/** Processes that end with this one, however this one ends. */
export interface Processes {
  start(command: Command): void;
  /** Why one of them ended before it was told to; `undefined` while all run. */
  trouble(): string | undefined;
  /** User and system time that one of them has used, ms. */
  cpuMs(name: string): number;
  /** Resolves when all of them are gone. */
  stop(): Promise<void>;
}

const GUARDIAN = fileURLToPath(new URL('_guardian.ts', import.meta.url));
/** The kernel's unit of process times. */
const TICKS_PER_SECOND = 100;

/** A guardian process holds the others: it learns from a closed pipe that we are gone, and removes `directory`. */
export function createProcesses(directory: string): Processes {
  const guardian = spawn(process.execPath, [GUARDIAN, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const commands = new Map<string, Command>();
  const pids = new Map<string, number>();
  let trouble: string | undefined;
  let isStopping = false;
  createInterface({ input: guardian.stdout }).on('line', (line) => {
    const { name, pid, ended } = JSON.parse(line) as { name: string; pid?: number; ended?: string };
    if (pid !== undefined) pids.set(name, pid);
    if (ended !== undefined && !isStopping)
      trouble ??= `${name} ended (${ended}): ${tailOf(commands.get(name))}`;
  });
  const gone = new Promise<void>((resolve) => {
    guardian.once('exit', () => {
      if (!isStopping) trouble ??= 'the guardian of the processes is gone';
      resolve();
    });
  });
  guardian.stdin.on('error', () => undefined);
  // A test process that has nothing else to do may end; its pipes end with it.
  guardian.unref();
  return {
    start: (command) => {
      commands.set(command.name, command);
      guardian.stdin.write(`${JSON.stringify(command)}\n`);
    },
    trouble: () => trouble,
    cpuMs: (name) => cpuMs(pids.get(name)),
    stop: async () => {
      isStopping = true;
      guardian.ref();
      guardian.stdin.end();
      await gone;
    },
  };
}

function tailOf(command: Command | undefined): string {
  if (command === undefined) return '';
  return readFileSync(command.log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}

function cpuMs(pid: number | undefined): number {
  // After the name, which may hold anything but ends with the last bracket, the 12th and 13th fields are the times.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}
