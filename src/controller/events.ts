/**
 * What a person would ask about, in the words of Kubernetes Events. All of it is a change: something was done, or the pool's
 * status turned. A pass that does nothing and changes nothing has nothing to tell.
 */
export type Happening = Deed | Turn;

/** Something was done to slots or objects. Deeds of one kind are told in one sentence that names them all. */
export interface Deed {
  readonly reason: 'Replaced' | 'Removed' | 'Created' | 'Repaired' | 'Healed';
  readonly type: 'Normal';
  /** Tells two kinds of one reason apart. */
  readonly key: string;
  readonly noun: 'slot' | 'object';
  readonly things: readonly string[];
  readonly why: string;
  /** What shows it: paths, causes. */
  readonly details: readonly string[];
}

/** The pool is in another state than before. */
export interface Turn {
  readonly reason:
    | 'Blocked'
    | 'Problem'
    | 'Recovered'
    | 'Converged'
    | 'Paused'
    | 'Resumed'
    | 'Leaving'
    | 'Left';
  readonly type: 'Normal' | 'Warning';
  /** Tells two kinds of one reason apart. */
  readonly key: string;
  readonly text: string;
}

const DETAILS_MAX = 3;
/** Longer notes are refused by events.k8s.io. */
const MESSAGE_MAX = 1_024;

/** One happening of each kind: deeds with all that they were done to, of turns the last. In the order of the first. */
export function gathered(happenings: readonly Happening[]): readonly Happening[] {
  const byKind = new Map<string, Happening>();
  for (const next of happenings) {
    const name = `${next.reason}/${next.key}`;
    const before = byKind.get(name);
    byKind.set(name, isDeed(next) && before !== undefined && isDeed(before) ? joined(before, next) : next);
  }
  return [...byKind.values()];
}

export function isDeed(happening: Happening): happening is Deed {
  return 'things' in happening;
}

function joined(before: Deed, next: Deed): Deed {
  const union = (field: 'things' | 'details') => [...new Set([...before[field], ...next[field]])];
  return { ...next, things: union('things'), details: union('details') };
}

/** The sentence of a happening; `more` are things to which the same was done a moment before. */
export function messageOf(happening: Happening, more: readonly string[] = []): string {
  if (!isDeed(happening)) return cut(happening.text);
  const { reason, noun, why, details } = happening;
  const all = inWords(noun, [...new Set([...more, ...happening.things])]);
  const rest = details.length - DETAILS_MAX;
  const shown = [...details.slice(0, DETAILS_MAX), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return cut(`${reason} ${all}: ${why}${shown === '' ? '' : ` (${shown})`}`);
}

/** `slot 3`, `slots 1-4, 7`. */
export function inWords(noun: Deed['noun'], names: readonly string[]): string {
  if (noun === 'object') return [...names].sort().join(', ');
  const numbers = names.map(Number).sort((a, b) => a - b);
  if (numbers.some((number) => !Number.isInteger(number))) return `slots ${[...names].sort().join(', ')}`;
  return `${numbers.length === 1 ? 'slot' : 'slots'} ${ranges(numbers).join(', ')}`;
}

function ranges(numbers: readonly number[]): readonly string[] {
  const found: [first: number, last: number][] = [];
  for (const number of numbers) {
    const open = found.at(-1);
    if (open !== undefined && number === open[1] + 1) open[1] = number;
    else found.push([number, number]);
  }
  return found.flatMap(([first, last]) =>
    last - first > 1 ? [`${first}-${last}`] : first === last ? [`${first}`] : [`${first}`, `${last}`],
  );
}

function cut(text: string): string {
  return text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX - 1)}…` : text;
}
