import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'vitest';

/** The real program, as a child process, and what it prints. */

const MAIN = resolve('src/cli/main.ts');

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Skips a test that drives kubectl where there is none. */
export const needsKubectl = (context: TestContext): void =>
  context.skip(!hasKubectl, 'kubectl is not on PATH');

/** A line of `--json`. */
export interface Line {
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The lines of standard output, when all of it is JSON. */
  readonly lines: readonly Line[];
}

/** A program that runs on. */
export interface Started {
  readonly pid: number;
  /** The first line, of those so far or to come, for which `holds`; rejects when the program ends without one. */
  line(holds: (line: Line) => boolean): Promise<Line>;
  /** Lines so far. */
  readonly lines: readonly Line[];
  /** Asks it to end and answers how it did. */
  end(signal?: NodeJS.Signals): Promise<Ended>;
  /** Resolves when it ends by itself. */
  readonly ended: Promise<Ended>;
}

/** A folder for one test file: kubeconfigs, caches. */
export interface Folder {
  readonly path: string;
  remove(): void;
}

export function folder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'everwarm-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `everwarm ARGS` in `cwd`. */
export function start(cwd: string, args: readonly string[]): Started {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: surroundings(cwd) });
  const lines: Line[] = [];
  const raw: string[] = [];
  let err = '';
  let wake = (): void => {};
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const output = createInterface({ input: child.stdout });
  output.on('line', (text) => {
    raw.push(text);
    const line = parse(text);
    if (line !== undefined) lines.push(line);
    wake();
  });
  const ended = endOf(child, output).then((code): Ended => {
    wake();
    return { code, err, out: raw.join('\n'), lines };
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    async line(holds) {
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      for (;;) {
        const found = lines.find(holds);
        if (found !== undefined) return found;
        if (isOver) throw new Error(`it ended without that line:\n${raw.slice(-5).join('\n')}\n${err}`);
        await new Promise<void>((done) => {
          wake = done;
        });
      }
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      return await ended;
    },
  };
}

/** Runs `everwarm ARGS` to its end. */
export function run(cwd: string, args: readonly string[]): Promise<Ended> {
  return start(cwd, args).ended;
}

/** Runs kubectl against the kubeconfig in `cwd`; rejects with what it said when it fails. */
export function kubectl(cwd: string, args: readonly string[], input?: unknown): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn('kubectl', ['--cache-dir', join(cwd, 'cache'), ...args], {
      cwd,
      env: { ...surroundings(cwd), KUBECONFIG: join(cwd, 'kubeconfig') },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.once('error', fail);
    child.once('close', (code) =>
      code === 0 ? done(out) : fail(new Error(`kubectl ${args.join(' ')}: ${err}`)),
    );
    child.stdin.end(input === undefined ? '' : JSON.stringify(input));
  });
}

/** A kubectl that watches until it is stopped, and what it printed so far. */
export function watchWithKubectl(cwd: string, args: readonly string[]) {
  const child = spawn('kubectl', ['--cache-dir', join(cwd, 'cache'), ...args], {
    cwd,
    env: { ...surroundings(cwd), KUBECONFIG: join(cwd, 'kubeconfig') },
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  return {
    seen: async () => out,
    stop: () =>
      new Promise<void>((done) => {
        child.once('close', () => done());
        child.kill();
      }),
  };
}

/** Asks again until `holds`; what it was in the end is the answer. The test's own limit is the only one. */
export async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** An AppDefinition as a person would apply it. */
export function appDefinition(name: string, spec: Readonly<Record<string, unknown>> = {}) {
  return {
    apiVersion: 'theia.cloud/v1beta11',
    kind: 'AppDefinition',
    metadata: { name },
    spec: {
      name,
      image: 'registry.example.org/ide/java-17:1.0.0',
      imagePullPolicy: 'IfNotPresent',
      uid: 101,
      port: 3000,
      ingressname: 'ide-instances-route',
      minInstances: 3,
      maxInstances: 20,
      requestsMemory: '500M',
      requestsCpu: '500m',
      limitsMemory: '3000M',
      limitsCpu: '2',
      ...spec,
    },
  };
}

/** Nothing of the machine's own configuration reaches the program. */
function surroundings(cwd: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: cwd };
}

function endOf(child: ChildProcess, output: { once(event: 'close', run: () => void): unknown }) {
  const closed = new Promise<void>((done) => {
    output.once('close', done);
  });
  return new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => void closed.then(() => done(code)));
  });
}

function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
