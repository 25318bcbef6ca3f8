/** `ms` of a duration as people type it, or what is wrong with it and how to mend it. */
export type ParsedDuration = { readonly ms: number } | { readonly problem: string };

const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof MS_PER_UNIT;

/** Longer than this is surely a typo, and timers cannot hold much more (2^31 ms). */
const HOURS_MAX = 24 * 24;

/** Reads `500ms`, `2s`, `1.5m` or `1h`; a number without a unit is refused, because nobody agrees what it means. */
export function parseDuration(text: string): ParsedDuration {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  if (match === null) return { problem: `${JSON.stringify(text)} is no duration: ${mend(text)}` };

  const ms = Math.round(Number(match[1]) * MS_PER_UNIT[match[2] as Unit]);
  if (ms <= HOURS_MAX * MS_PER_UNIT.h) return { ms };
  return { problem: `${JSON.stringify(text)} is too long: at most ${HOURS_MAX}h` };
}

function mend(text: string): string {
  const isBareNumber = /^\d+(\.\d+)?$/.test(text.trim());
  return isBareNumber
    ? `say the unit, as in ${text.trim()}s or ${text.trim()}ms`
    : 'write it as in 500ms, 2s, 5m or 1h';
}

/** A duration as people read it, in the largest unit that fits: `250ms`, `1.5s`, `12m`, `3h`. */
export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(MS_PER_UNIT).findLast(([, size]) => ms >= size) ?? ['ms', 1];
  return `${rounded(ms / size)}${unit}`;
}

const rounded = (amount: number) => (amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount));
