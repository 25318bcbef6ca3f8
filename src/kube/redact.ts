const MESSAGE_CHARACTERS_MAX = 300;
const INPUT_CHARACTERS_MAX = 8_192;

// What stands before a quoted word that names something of the API, not something a body held.
const NAMES_FOLLOW =
  /(?:\b(?:User|resource|API group|namespace|webhook|path)|supported values:(?: "[^"\\]*",)*) $/;

/** How much of a server's message may be repeated. */
export interface Redaction {
  /** Drop what stands in quotes, unless it is one of `names` or names a part of the API. */
  readonly quotes: boolean;
  readonly names: readonly string[];
}

/** A server's message as one line of at most 300 characters, without the values that validation errors quote. */
export function publicMessage(message: string, redaction: Redaction): string {
  // Redact before cutting: a cut inside a quoted value would leave its first half unquoted.
  const text = message.slice(0, INPUT_CHARACTERS_MAX);
  const safe = redaction.quotes ? dropQuoted(text, redaction.names) : text;
  const line = safe.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > MESSAGE_CHARACTERS_MAX ? `${line.slice(0, MESSAGE_CHARACTERS_MAX - 1)}…` : line;
}

function dropQuoted(text: string, names: readonly string[]): string {
  // The closing quote is optional: a value that was cut off is a value all the same.
  return text.replace(/"((?:[^"\\]|\\.)*)"?/gsu, (quoted, inner: string, at: number) => {
    const isName = names.includes(inner) || NAMES_FOLLOW.test(text.slice(0, at));
    return isName ? quoted : '"…"';
  });
}
