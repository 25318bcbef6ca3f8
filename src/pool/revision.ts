import { createHash } from 'node:crypto';
import { canonicalLeaf, isFields, isVoid } from './compare.ts';

/** The first part names the way of hashing: another way is another version, never another meaning of the same text. */
const VERSION = 'v1';
const DIGITS = 10;

/** The revision of what is rendered: the same for any order of its keys and any spelling of its quantities. */
export function revisionOf(rendered: unknown): string {
  const hash = createHash('sha256')
    .update(JSON.stringify(canonical(rendered, [])))
    .digest('hex');
  return `${VERSION}-${hash.slice(0, DIGITS)}`;
}

function canonical(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => canonical(entry, path));
  if (!isFields(value)) return canonicalLeaf(value, path) ?? null;
  const fields = Object.entries(value)
    .filter(([name, inner]) => !isVoid(inner, name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, canonical(inner, [...path, name])]));
}
