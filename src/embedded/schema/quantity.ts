/** Kubernetes quantities (`500m`, `1Gi`, `2e3`), exact to the milli, in the canonical form the server stores. */

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|m|k|M|G|T|P|E|n|u|[eE][+-]?\d+)?$/;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const NANO = 1_000_000_000n;

export const QUANTITY_TEXT =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** The canonical form; what is no quantity stays as it is (validation names it). */
export function canonicalQuantity(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const parsed = parseQuantity(String(value));
  return parsed === undefined ? value : format(parsed);
}

export interface Quantity {
  /** In billionths. */
  readonly nano: bigint;
  readonly base: 'binary' | 'decimal' | 'exponent';
}

export function parseQuantity(text: string): Quantity | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  const { factor, divisor, base } = scale(suffix);
  const denominator = divisor * 10n ** BigInt(fraction.length);
  const scaled = digits * factor * NANO;
  // Precision below a billionth is rounded up, away from zero.
  const nano = (scaled + denominator - 1n) / denominator;
  return { nano: sign === '-' ? -nano : nano, base };
}

function scale(suffix: string): { factor: bigint; divisor: bigint; base: Quantity['base'] } {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { factor: 1024n ** BigInt(binary), divisor: 1n, base: 'binary' };
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { factor: 1000n ** BigInt(decimal), divisor: 1n, base: 'decimal' };
  const small = { m: 1000n, u: 1_000_000n, n: NANO }[suffix];
  if (small !== undefined) return { factor: 1n, divisor: small, base: 'decimal' };
  const exponent = Number(suffix.slice(1));
  return exponent >= 0
    ? { factor: 10n ** BigInt(exponent), divisor: 1n, base: 'exponent' }
    : { factor: 1n, divisor: 10n ** BigInt(-exponent), base: 'exponent' };
}

function format({ nano, base }: Quantity): string {
  if (nano === 0n) return '0';
  if (nano % NANO !== 0n) return formatSmall(nano);
  const units = nano / NANO;
  if (base === 'binary' && (units >= 1024n || units <= -1024n)) return withSuffix(units, 1024n, BINARY);
  if (base === 'exponent') return formatExponent(units);
  return withSuffix(units, 1000n, DECIMAL);
}

function formatSmall(nano: bigint): string {
  for (const [suffix, unit] of [
    ['m', 1_000_000n],
    ['u', 1000n],
  ] as const) {
    if (nano % unit === 0n) return `${nano / unit}${suffix}`;
  }
  return `${nano}n`;
}

function withSuffix(units: bigint, step: bigint, suffixes: readonly string[]): string {
  let value = units;
  let index = 0;
  while (value % step === 0n && index < suffixes.length - 1) {
    value /= step;
    index += 1;
  }
  return `${value}${suffixes[index] ?? ''}`;
}

function formatExponent(units: bigint): string {
  let value = units;
  let exponent = 0;
  while (value % 1000n === 0n) {
    value /= 1000n;
    exponent += 3;
  }
  return exponent === 0 ? String(value) : `${value}e${exponent}`;
}
