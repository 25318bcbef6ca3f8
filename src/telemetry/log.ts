import type { Clock } from '../clock.ts';

/** What a field of a log line may hold: scalars only, so that no object slips in whole. */
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line an event, to stderr. `event` is a dotted name: `reconcile.partial`. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly clock: Clock;
  /** `human`: `reconcile.partial pool=ide/java held=2`; `json`: one object a line, with `at` and `level`. */
  readonly format: 'human' | 'json';
  /** Where a finished line (newline included) goes; stderr unless said otherwise. */
  readonly write?: (line: string) => void;
}

type Level = 'info' | 'warn' | 'error';

const VALUE_CHARACTERS_MAX = 500;

// A field of such a name is dropped whole: whoever added it did not mean to publish it.
const SECRET_NAME =
  /token|secret|passw|authorization|cookie|credential|signature|private|bearer|apikey|api_key/i;

// The last net under values that were built from a header or a presigned URL.
const SECRET_VALUE = /\b(Bearer|Basic)\s+[^\s"]+|\bX-Amz-[A-Za-z-]+=[^\s&"]*|\bwhsec_[A-Za-z0-9+/=]+/gi;

/** A log that writes each event as one line. Fields named like a secret are left out. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const line = options.format === 'json' ? jsonLine : humanLine;
  const at =
    (level: Level) =>
    (event: string, fields: LogFields = {}) =>
      write(`${line(options.clock.now(), level, event, publicFields(fields))}\n`);
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function publicFields(fields: LogFields): [string, string | number | boolean][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || SECRET_NAME.test(name)) return [];
    return [[name, typeof value === 'string' ? publicText(value) : value]];
  });
}

function publicText(value: string): string {
  const redacted = value.replace(SECRET_VALUE, '…');
  return redacted.length > VALUE_CHARACTERS_MAX ? `${redacted.slice(0, VALUE_CHARACTERS_MAX)}…` : redacted;
}

function humanLine(_now: number, level: Level, event: string, fields: [string, unknown][]): string {
  const words = fields.map(([name, value]) => `${name}=${humanValue(value)}`);
  return [...(level === 'info' ? [] : [level]), event, ...words].join(' ');
}

/** Bare where it can be read back as one word, else as a JSON string: a value never breaks the line. */
function humanValue(value: unknown): string {
  const text = String(value);
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text);
}

function jsonLine(now: number, level: Level, event: string, fields: [string, unknown][]): string {
  // The caller's fields come first: none of them can take the place of the line's own.
  return JSON.stringify({ ...Object.fromEntries(fields), at: new Date(now).toISOString(), level, event });
}
