import type { Clock, Random } from '../clock.ts';
import type { Config } from '../config.ts';

/** What a command works with: the process's streams, its surroundings, and the wish to end. */
export interface Cli {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  /** A finished line for people or for tools; the newline is added. */
  readonly print: (line: string) => void;
  /** A diagnostic, to stderr. */
  readonly complain: (line: string) => void;
  /** Standard output is a terminal that shows colours. */
  readonly hasColor: boolean;
  /** Columns of the terminal; undefined in a pipe. */
  readonly width: number | undefined;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** 0 ok, 1 a problem found, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The command line is wrong; the message says in one line how to mend it. Ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Prints one JSON object on a line of its own: `at` and `type` first. */
export function printJson(cli: Pick<Cli, 'print' | 'clock'>, type: string, fields: object): void {
  cli.print(JSON.stringify({ at: new Date(cli.clock.now()).toISOString(), type, ...fields }));
}
