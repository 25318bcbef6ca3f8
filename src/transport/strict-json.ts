/** What a text spells, or why nobody should act on it: `not JSON`, or a key that comes twice in one object. */
export type StrictJson = { readonly value: unknown } | { readonly problem: string };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/gs;

/** Reads JSON of which every parser makes the same: with a key that comes twice, one takes the first, another the last. */
export function parseStrictJson(text: string): StrictJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'not JSON' };
  }
  return hasRepeatedKey(text) ? { problem: 'a key comes twice' } : { value };
}

/** Only for a text that is JSON: there a colon outside of a string ends a key, and the string before it is the key. */
function hasRepeatedKey(text: string): boolean {
  const open: Set<string>[] = [];
  let string = '""';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') string = token;
    else {
      // As a value: "a" and "\u0061" are one key.
      const key = String(JSON.parse(string));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return true;
      keys?.add(key);
    }
  }
  return false;
}
