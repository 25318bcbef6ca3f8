/** What reading something from outside came to: a value, or the first field that is wrong and why. */
export type Parsed<T> = { readonly kind: 'parsed'; readonly value: T } | Invalid;

/** `field` names the place (`spec.minInstances`, `--instancesHost`); `reason` never holds a secret's value. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly field: string;
  readonly reason: string;
}

export function parsed<T>(value: T): Parsed<T> {
  return { kind: 'parsed', value };
}

export function invalid(field: string, reason: string): Invalid {
  return { kind: 'invalid', field, reason };
}
