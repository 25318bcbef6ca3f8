import { isRecord, type Json, put } from '../json.ts';
import { canonicalQuantity } from './quantity.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';
import { parseMicroTime, parseTime } from './time.ts';

/**
 * Brings `value` to the form in which it is stored: unknown fields pruned (their paths go to `unknown`), defaults filled
 * in, nulls and empty values dropped, quantities canonical. `old` is the stored value at the same place: what is shared
 * with it is done already. Copies only what changes.
 */
export function normalise(
  schema: Schema,
  value: unknown,
  old: unknown,
  unknown: string[],
  path = '',
): unknown {
  if (value === old) return value;
  if (Array.isArray(value)) return normaliseList(schema, value, old, unknown, path);
  if (isRecord(value)) return normaliseObject(schema, value, old, unknown, path);
  return canonical(schema, value);
}

function canonical(schema: Schema, value: unknown): unknown {
  switch (schema.format) {
    case 'quantity':
      return canonicalQuantity(value);
    case 'go-time':
      return typeof value === 'string' ? (parseTime(value) ?? value) : value;
    case 'micro-time':
      return typeof value === 'string' ? (parseMicroTime(value) ?? value) : value;
    default:
      return value;
  }
}

function normaliseList(
  schema: Schema,
  value: readonly unknown[],
  old: unknown,
  unknown: string[],
  path: string,
): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return value;
  const before = Array.isArray(old) ? old : [];
  let changed = false;
  const result = value.map((element, index) => {
    const next = normalise(items, element, before[index], unknown, `${path}[${index}]`);
    changed ||= next !== element;
    return next;
  });
  return changed ? result : value;
}

function normaliseObject(schema: Schema, value: Json, old: unknown, unknown: string[], path: string): Json {
  const before = isRecord(old) ? old : {};
  let result: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const field = value[key];
    const next = nextField(schema, key, field, before[key], unknown, path === '' ? key : `${path}.${key}`);
    if (next === field) continue;
    result ??= { ...value };
    if (next === undefined) delete result[key];
    else put(result, key, next);
  }
  return withDefaults(schema, value, result, unknown);
}

/** `undefined` for a field that goes. */
function nextField(
  schema: Schema,
  key: string,
  field: unknown,
  old: unknown,
  unknown: string[],
  path: string,
): unknown {
  const known = fieldSchema(schema, key);
  if (known !== undefined) return normaliseField(known, field, old, unknown, path);
  if (keepsUnknown(schema)) return field;
  unknown.push(path);
  return undefined;
}

function normaliseField(
  known: Schema,
  field: unknown,
  old: unknown,
  unknown: string[],
  path: string,
): unknown {
  // A null takes the default back, or is as good as absent.
  if (field === null) return known.nullable === true ? null : undefined;
  const next = normalise(known, field, old, unknown, path);
  return known.drop === true && isEmpty(next) ? undefined : next;
}

function withDefaults(
  schema: Schema,
  value: Json,
  changed: Record<string, unknown> | undefined,
  unknown: string[],
): Json {
  const { properties } = schema;
  if (properties === undefined) return changed ?? value;
  let result = changed;
  for (const key of defaultedFields(properties)) {
    if (Object.hasOwn(result ?? value, key)) continue;
    const known = properties[key];
    if (known === undefined) continue;
    result ??= { ...value };
    put(result, key, normalise(known, known.default, undefined, unknown));
  }
  return result ?? value;
}

const defaulted = new WeakMap<object, readonly string[]>();

function defaultedFields(properties: Readonly<Record<string, Schema>>): readonly string[] {
  let fields = defaulted.get(properties);
  if (fields === undefined) {
    fields = Object.keys(properties).filter((key) => properties[key]?.default !== undefined);
    defaulted.set(properties, fields);
  }
  return fields;
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
