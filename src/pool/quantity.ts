/** Kubernetes quantities as numbers, so that `3000M` and `3G` are the same. */

const SUFFIXES = new Map<string | undefined, readonly [base: bigint, power: number]>([
  ['n', [10n, -9]],
  ['u', [10n, -6]],
  ['m', [10n, -3]],
  ['k', [10n, 3]],
  ['M', [10n, 6]],
  ['G', [10n, 9]],
  ['T', [10n, 12]],
  ['P', [10n, 15]],
  ['E', [10n, 18]],
  ['Ki', [2n, 10]],
  ['Mi', [2n, 20]],
  ['Gi', [2n, 30]],
  ['Ti', [2n, 40]],
  ['Pi', [2n, 50]],
  ['Ei', [2n, 60]],
]);
const NANO = 10n ** 9n;
/** Longer than any amount that makes sense, and short enough to reckon with. */
const LENGTH_MAX = 40;

const FORM =
  /^(?<sign>[+-]?)(?=\.?[0-9])(?<whole>[0-9]*)(?:\.(?<fraction>[0-9]*))?(?:[eE](?<exponent>[+-]?[0-9]{1,2})|(?<suffix>[numkMGTPE]|[KMGTPE]i)?)$/;

/** `value` in billionths, rounded up as the API server does; `undefined` when it is no quantity. */
export function quantityOf(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value);
  if (text.length > LENGTH_MAX) return undefined;
  const parts = FORM.exec(text)?.groups;
  if (parts === undefined) return undefined;

  const { sign, whole, fraction = '', exponent = '0', suffix } = parts;
  const [base, power] = SUFFIXES.get(suffix) ?? [10n, Number(exponent)];
  const raised = BigInt(`${whole}${fraction}`) * NANO * base ** BigInt(Math.max(power, 0));
  const lowered = 10n ** BigInt(fraction.length) * base ** BigInt(Math.max(-power, 0));
  const amount = (raised + lowered - 1n) / lowered;
  return sign === '-' ? -amount : amount;
}
