import type { Resource } from '../kube/api.ts';
import { kindKey } from './kind.ts';
import type { Commit } from './types.ts';

/** A change as it is remembered: what was sent, which may be as large as the object itself, is not. */
export type Change = Omit<Commit, 'request'>;

interface Window {
  commits: Change[];
  /** The newest resourceVersion that is no longer in the window. */
  lost: number;
}

/** The latest changes of each kind, for watches that begin in the past. */
export class History {
  readonly #max: number;
  readonly #windows = new Map<string, Window>();

  constructor(max: number) {
    this.#max = max;
  }

  /** From here on a custom kind is watched: what lies before its definition is too old for it. */
  begin(resource: Pick<Resource, 'group' | 'plural'>, revision: number): void {
    const key = kindKey(resource);
    if (!this.#windows.has(key)) this.#windows.set(key, { commits: [], lost: revision });
  }

  record({ request: _, ...commit }: Commit): void {
    const key = kindKey(commit.resource);
    let window = this.#windows.get(key);
    if (window === undefined) {
      window = { commits: [], lost: 0 };
      this.#windows.set(key, window);
    }
    window.commits.push(commit);
    // Cut in halves, so that recording stays cheap.
    if (window.commits.length < this.#max * 2) return;
    const kept = window.commits.slice(-this.#max);
    window.lost = (kept[0]?.resourceVersion ?? commit.resourceVersion) - 1;
    window.commits = kept;
  }

  /** The changes of a kind after `revision`, oldest first; `undefined` when some of them are forgotten. */
  since(resource: Pick<Resource, 'group' | 'plural'>, revision: number): readonly Change[] | undefined {
    const window = this.#windows.get(kindKey(resource));
    if (window === undefined) return [];
    if (revision < this.oldest(resource)) return undefined;
    const { commits } = window;
    const from = commits.findLastIndex((commit) => commit.resourceVersion <= revision) + 1;
    return commits.slice(from);
  }

  /** The oldest resourceVersion from which a watch can still begin. */
  oldest(resource: Pick<Resource, 'group' | 'plural'>): number {
    const window = this.#windows.get(kindKey(resource));
    if (window === undefined) return 0;
    const { commits, lost } = window;
    if (commits.length <= this.#max) return lost;
    return (commits[commits.length - this.#max]?.resourceVersion ?? lost + 1) - 1;
  }
}
