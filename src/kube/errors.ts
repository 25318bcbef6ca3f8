import type { Failure } from './api.ts';

/** A watch that could not be opened, or broke off: `failure` says how, in the words of every other call. */
export class WatchError extends Error {
  override readonly name = 'WatchError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The failure of a watch that broke off, whichever implementation of the API it came from; `undefined` for other errors. */
export function watchFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || error.name !== 'WatchError') return undefined;
  return error instanceof WatchError || 'failure' in error ? (error as WatchError).failure : undefined;
}
