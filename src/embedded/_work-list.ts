/** What an actor still has to look at: each key once, with the time from which it is due. */
export interface WorkList {
  /** Makes `key` due at `at`, or earlier if it already was. */
  add(key: string, at: number): void;
  /** Forgets a key. */
  drop(key: string): void;
  /** When the earliest key is due; `undefined` while the list is empty. */
  dueAt(): number | undefined;
  /** Takes out the key that has been due longest; `undefined` when none is due at `now`. */
  take(now: number): string | undefined;
}

export function createWorkList(): WorkList {
  // A Map keeps the order of insertion, so keys of one instant leave in the order they came.
  const due = new Map<string, number>();

  const earliest = (): readonly [key: string, at: number] | undefined => {
    let found: readonly [string, number] | undefined;
    for (const entry of due) if (found === undefined || entry[1] < found[1]) found = entry;
    return found;
  };

  return {
    add: (key, at) => {
      const known = due.get(key);
      if (known === undefined || at < known) due.set(key, at);
    },
    drop: (key) => {
      due.delete(key);
    },
    dueAt: () => earliest()?.[1],
    take: (now) => {
      const first = earliest();
      if (first === undefined || first[1] > now) return undefined;
      due.delete(first[0]);
      return first[0];
    },
  };
}
