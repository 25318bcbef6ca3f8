import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemClock as clock } from '../../src/clock.ts';
import type { Question, Said } from './_words.ts';

/** A process of a run. */
export interface Running {
  readonly pid: number;
  /** Resolves when it is over, whoever ended it. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

/** One that says where it is when it is ready, and answers questions. */
export interface Child extends Running {
  readonly value: string;
  ask(question: Question): Promise<unknown>;
}

const alive = new Set<number>();
process.once('exit', () => {
  for (const pid of alive) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went by itself a moment ago.
    }
  }
});

/** However this process ends (but by SIGKILL), that one ends with it. */
function endsWithUs({ pid, ended }: Pick<Running, 'pid' | 'ended'>): void {
  alive.add(pid);
  void ended.then(() => alive.delete(pid));
}

/** Starts a file of this folder in a process of its own. Resolves when it is ready. */
export async function startChild(name: string, ...args: readonly string[]): Promise<Child> {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), args);
  const ready = Promise.withResolvers<string>();
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', (said: Said) => {
    if (said.type === 'ready') ready.resolve(said.value);
    else if (said.error === undefined) asked.get(said.id)?.resolve(said.value);
    else asked.get(said.id)?.reject(new Error(said.error));
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  endsWithUs({ pid: child.pid ?? 0, ended });
  void ended.then(() => {
    for (const one of [ready, ...asked.values()]) one.reject(new Error(`${name} ended`));
  });
  const value = await ready.promise;
  return {
    pid: child.pid ?? 0,
    value,
    ended,
    ask: (question) => {
      const id = asked.size + 1;
      const answer = Promise.withResolvers<unknown>();
      asked.set(id, answer);
      child.send({ ...question, id });
      return answer.promise;
    },
    stop() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** A process that is started again a moment after it died. */
export interface Kept<T extends Running> {
  /** The process that runs now, or the next one to. */
  up(): Promise<T>;
  deaths(): number;
  stop(): Promise<void>;
}

const MOMENT_MS = 1_000;

export async function keepUp<T extends Running>(start: () => Promise<T>): Promise<Kept<T>> {
  let isOver = false;
  let deaths = 0;
  let current = start();
  const watch = (running: T): void => {
    endsWithUs(running);
    void running.ended.then(() => {
      if (isOver) return;
      deaths += 1;
      current = clock.sleep(MOMENT_MS).then(start);
      // Whoever needs it is told why it does not come up.
      current.then(watch, () => undefined);
    });
  };
  watch(await current);
  return {
    up: () => current,
    deaths: () => deaths,
    async stop() {
      isOver = true;
      await current.then(
        (running) => running.stop(),
        () => undefined,
      );
    },
  };
}
