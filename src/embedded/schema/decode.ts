import { isRecord, type Json } from '../json.ts';
import { fieldSchema, type Schema } from './schema.ts';
import { parseMicroTime, parseTime } from './time.ts';

/**
 * The first value that Go could not put into its struct, in its decoder's words; `undefined` when all fit. Parts shared
 * with `old` fit already.
 */
export function goTypeError(schema: Schema, value: unknown, old: unknown, root: string): string | undefined {
  return search(schema, value, old, root, '');
}

function search(
  schema: Schema,
  value: unknown,
  old: unknown,
  root: string,
  path: string,
): string | undefined {
  if (value === old || value === null) return undefined;
  const problem = mismatch(schema, value);
  if (problem !== undefined)
    return (
      problem.timed ??
      `json: cannot unmarshal ${problem.came} into Go struct field ${root}.${path} of type ${problem.wanted}`
    );
  if (Array.isArray(value)) return searchItems(schema, value, old, root, path);
  return isRecord(value) ? searchFields(schema, value, old, root, path) : undefined;
}

function searchItems(
  { items }: Schema,
  value: readonly unknown[],
  old: unknown,
  root: string,
  path: string,
): string | undefined {
  if (items === undefined) return undefined;
  const before = Array.isArray(old) ? old : [];
  for (const [index, element] of value.entries()) {
    const found = search(items, element, before[index], root, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchFields(
  schema: Schema,
  value: Json,
  old: unknown,
  root: string,
  path: string,
): string | undefined {
  const before = isRecord(old) ? old : {};
  const mapped = schema.properties === undefined;
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key);
    if (known === undefined || value[key] === before[key]) continue;
    // Go names the map, not its key.
    const inner = mapped ? path : join(path, key);
    const found = search(known, value[key], before[key], root, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

interface Mismatch {
  readonly came: string;
  readonly wanted: string;
  /** A time that does not parse has a message of its own. */
  readonly timed?: string;
}

const GO_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int32',
  number: 'float64',
  boolean: 'bool',
  array: '[]interface {}',
  object: 'map[string]interface {}',
};

/** What `jsonType` calls a value of a schema's type. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'bool',
  array: 'array',
  object: 'object',
};

function mismatch(schema: Schema, value: unknown): Mismatch | undefined {
  const came = jsonType(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return came === 'number' || came === 'string' ? undefined : { came, wanted: 'intstr.IntOrString' };
  }
  const { type } = schema;
  if (type === undefined) return undefined;
  const wanted = GO_TYPES[type] ?? type;
  if (type === 'integer') {
    if (came !== 'number') return { came, wanted };
    return Number.isInteger(value) ? undefined : { came: `number ${value}`, wanted };
  }
  if (JSON_TYPES[type] !== came) return { came, wanted };
  return typeof value === 'string' ? timeMismatch(schema, value) : undefined;
}

function timeMismatch(schema: Schema, value: string): Mismatch | undefined {
  if (schema.format === 'micro-time' && parseMicroTime(value) === undefined) {
    return timed(value, '2006-01-02T15:04:05.000000Z07:00');
  }
  if (schema.format === 'go-time' && value !== '' && parseTime(value) === undefined) {
    return timed(value, '2006-01-02T15:04:05Z07:00');
  }
  return undefined;
}

function timed(value: string, layout: string): Mismatch {
  const timed = `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse`;
  const rest = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(.*)$/.exec(value)?.[2];
  const expected = layout.includes('.000000') ? '.000000' : 'Z07:00';
  return {
    came: 'string',
    wanted: 'time',
    timed: `${timed} "${rest ?? value}" as "${rest === undefined ? '2006' : expected}"`,
  };
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isRecord(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
