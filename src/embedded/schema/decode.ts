import { isRecord, type Json } from '../json.ts';
import { structName, wholeName } from './go-names.ts';
import { parseQuantity, QUANTITY_TEXT } from './quantity.ts';
import { fieldSchema, type Schema } from './schema.ts';
import { parseMicroTime, parseTime } from './time.ts';

/**
 * The first value that Go could not put into its struct, in its decoder's words; `undefined` when all fit. Parts shared
 * with `old` fit already.
 */
export function goTypeError(schema: Schema, value: unknown, old: unknown, root: string): string | undefined {
  return search({ kind: root, struct: root, path: '' }, schema, value, old);
}

/** Where the search has come to. */
interface Place {
  readonly kind: string;
  /** The Go struct around the value. */
  readonly struct: string;
  readonly path: string;
}

function search(place: Place, schema: Schema, value: unknown, old: unknown): string | undefined {
  if (value === old || value === null) return undefined;
  const problem = mismatch(place, schema, value);
  if (problem !== undefined) {
    if (place.path === '')
      return `json: cannot unmarshal ${problem.came} into Go value of type v1.${place.struct}`;
    return (
      problem.text ??
      `json: cannot unmarshal ${problem.came} into Go struct field ${place.struct}.${place.path} of type ${problem.wanted}`
    );
  }
  if (Array.isArray(value)) return searchItems(place, schema, value, old);
  return isRecord(value) ? searchFields(place, schema, value, old) : undefined;
}

function searchItems(
  place: Place,
  { items }: Schema,
  value: readonly unknown[],
  old: unknown,
): string | undefined {
  if (items === undefined) return undefined;
  const before = Array.isArray(old) ? old : [];
  for (const [index, element] of value.entries()) {
    const found = search(place, items, element, before[index]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchFields(place: Place, schema: Schema, value: Json, old: unknown): string | undefined {
  const before = isRecord(old) ? old : {};
  const mapped = schema.properties === undefined;
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key);
    if (known === undefined || value[key] === before[key]) continue;
    const found = search(mapped ? place : below(place, key), known, value[key], before[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Go names a field with its whole path, but only the innermost struct, and a map without its key. */
function below({ kind, struct, path }: Place, key: string): Place {
  const own = path === '' ? struct : structName(kind, path);
  return { kind, struct: own, path: path === '' ? key : `${path}.${key}` };
}

interface Mismatch {
  readonly came: string;
  readonly wanted: string;
  /** What cannot be parsed has a message of its own. */
  readonly text?: string;
}

/** What `jsonType` calls a value of a schema's type. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'bool',
  array: 'array',
  object: 'object',
};

function mismatch(place: Place, schema: Schema, value: unknown): Mismatch | undefined {
  const came = jsonType(value);
  if (schema['x-kubernetes-int-or-string'] === true) return unionMismatch(schema, value, came);
  const { type } = schema;
  if (type === undefined) return undefined;
  const wanted = goType(place, schema);
  if (type === 'integer') {
    if (came !== 'number') return { came, wanted };
    return Number.isInteger(value) ? undefined : { came: `number ${value}`, wanted };
  }
  if (JSON_TYPES[type] !== came) return { came, wanted };
  return typeof value === 'string' ? textMismatch(schema, value) : undefined;
}

function unionMismatch(schema: Schema, value: unknown, came: string): Mismatch | undefined {
  if (schema.format === 'quantity') {
    if (parseQuantity(String(value)) !== undefined) return undefined;
    return { came, wanted: 'resource.Quantity', text: QUANTITY_TEXT };
  }
  return came === 'number' || came === 'string' ? undefined : { came, wanted: 'intstr.IntOrString' };
}

function goType({ kind, path }: Place, schema: Schema): string {
  switch (schema.type) {
    case 'integer':
      return wholeName(path);
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'array':
      return schema.items === undefined
        ? '[]interface {}'
        : `[]${goType({ kind, struct: '', path }, schema.items)}`;
    case 'object': {
      const { additionalProperties } = schema;
      if (typeof additionalProperties !== 'object') return `v1.${structName(kind, path)}`;
      const bytes = additionalProperties.format === 'go-bytes';
      return `map[string]${bytes ? '[]uint8' : goType({ kind, struct: '', path }, additionalProperties)}`;
    }
    default:
      return schema['x-kubernetes-int-or-string'] === true ? 'resource.Quantity' : 'string';
  }
}

function textMismatch(schema: Schema, value: string): Mismatch | undefined {
  if (schema.format === 'micro-time' && parseMicroTime(value) === undefined) {
    return timed(value, '2006-01-02T15:04:05.000000Z07:00');
  }
  if (schema.format === 'go-time' && value !== '' && parseTime(value) === undefined) {
    return timed(value, '2006-01-02T15:04:05Z07:00');
  }
  if (schema.format !== 'go-bytes') return undefined;
  const at = badByte(value);
  const text = `illegal base64 data at input byte ${at}`;
  return at === undefined ? undefined : { came: 'string', wanted: '[]uint8', text };
}

/** Where a text stops to be base64. */
function badByte(value: string): number | undefined {
  const bad = /[^A-Za-z0-9+/]/.exec(value.replace(/={1,2}$/, ''));
  if (bad !== null) return bad.index;
  return value.length % 4 === 0 ? undefined : value.length - (value.length % 4);
}

function timed(value: string, layout: string): Mismatch {
  const head = `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse`;
  const { rest, expected } = leftOver(value, layout);
  return { came: 'string', wanted: 'time', text: `${head} ${JSON.stringify(rest)} as "${expected}"` };
}

/** What Go's parser had before it when it gave up, and what it looked for. */
function leftOver(value: string, layout: string): { readonly rest: string; readonly expected: string } {
  const whole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(value);
  if (whole !== null) {
    const expected = layout.includes('.000000') ? '.000000' : 'Z07:00';
    return { rest: value.slice(whole[0].length), expected };
  }
  const date = /^\d{4}-\d\d-\d\d/.exec(value);
  return date === null
    ? { rest: value, expected: '2006' }
    : { rest: value.slice(date[0].length), expected: 'T' };
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isRecord(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
