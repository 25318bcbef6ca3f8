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

  // Asked many times for each change: what was found is kept until it goes.
  let known: readonly [key: string, at: number] | undefined;

  const earliest = (): typeof known => {
    if (known !== undefined) return known;
    for (const entry of due) if (known === undefined || entry[1] < known[1]) known = entry;
    return known;
  };
  const drop = (key: string): void => {
    due.delete(key);
    if (known?.[0] === key) known = undefined;
  };

  return {
    add: (key, at) => {
      const before = due.get(key);
      if (before !== undefined && at >= before) return;
      due.set(key, at);
      if (known === undefined || at > known[1]) return;
      if (at < known[1]) known = [key, at];
      // Among keys of one instant an old key keeps its place, which may be before the one we know.
      else if (before !== undefined) known = undefined;
    },
    drop,
    dueAt: () => earliest()?.[1],
    take: (now) => {
      const first = earliest();
      if (first === undefined || first[1] > now) return undefined;
      drop(first[0]);
      return first[0];
    },
  };
}
