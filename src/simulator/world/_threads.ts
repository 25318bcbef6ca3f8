/** A few threads' worth of work: things of one key one after the other, different keys side by side. */
export interface Threads {
  /** Resolves or rejects as `work` does. */
  run(key: string, work: () => Promise<void>): Promise<void>;
}

export function createThreads(threadsMax: number): Threads {
  const lastOf = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let busy = 0;

  const enter = async (): Promise<void> => {
    if (busy >= threadsMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy += 1;
  };
  /** Hands the thread over to whoever waits longest. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  };
  const runNow = async (work: () => Promise<void>): Promise<void> => {
    await enter();
    try {
      await work();
    } finally {
      leave();
    }
  };

  return {
    run: (key, work) => {
      const previous = lastOf.get(key) ?? Promise.resolve();
      const mine = previous.then(() => runNow(work));
      const settled = mine.catch(() => undefined);
      lastOf.set(key, settled);
      void settled.then(() => {
        if (lastOf.get(key) === settled) lastOf.delete(key);
      });
      return mine;
    },
  };
}

/** A lock: the returned function runs one work at a time, in the order they were given. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
