/** One mutant after its run: what was changed where, and whether a test noticed. */
export interface Mutant {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** The source line, trimmed. */
  readonly source: string;
  readonly mutator: string;
  /** The piece of code that was changed, and what stands there instead. */
  readonly original: string;
  readonly change: string;
  readonly isKilled: boolean;
}

/** A survivor that was looked at: it changes nothing that anybody could see, and `reason` says why. */
export interface Accepted {
  readonly file: string;
  readonly source: string;
  readonly original: string;
  readonly change: string;
  readonly reason: string;
}

export interface Verdict {
  readonly killed: number;
  readonly total: number;
  /** Percent of all mutants; accepted survivors count as survivors. */
  readonly score: number;
  readonly survivors: ReadonlyArray<Mutant & { readonly reason?: string }>;
  /** Accepted ones of the mutated files that a test kills by now, or whose code is gone: to be taken off the list. */
  readonly outdated: readonly Accepted[];
}

/** Holds the outcome against the list of accepted survivors. Line numbers play no part: they move. */
export function judge(
  mutants: readonly Mutant[],
  accepted: readonly Accepted[],
  files: readonly string[],
): Verdict {
  const reasons = new Map(accepted.map((one) => [identity(one), one.reason]));
  const survivors = mutants
    .filter(({ isKilled }) => !isKilled)
    .map((mutant) => {
      const reason = reasons.get(identity(mutant));
      return reason === undefined ? mutant : { ...mutant, reason };
    });
  const surviving = new Set(survivors.map(identity));
  const killed = mutants.length - survivors.length;
  return {
    killed,
    total: mutants.length,
    score: mutants.length === 0 ? 0 : (100 * killed) / mutants.length,
    survivors,
    outdated: accepted.filter((one) => files.includes(one.file) && !surviving.has(identity(one))),
  };
}

const identity = ({ file, source, original, change }: Omit<Accepted, 'reason'>) =>
  JSON.stringify([file, source, original, change]);
