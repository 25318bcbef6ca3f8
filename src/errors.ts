/** Retrying cannot help: a bad notice, a pool that does not parse, a permission we do not have. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Compile-time proof that a union was exhausted; at run time a programmer's error. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
