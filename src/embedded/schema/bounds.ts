import { isRecord } from '../json.ts';
import type { FieldError } from '../status.ts';
import type { Schema } from './schema.ts';

/** Checks lengths, numbers of elements, limits and patterns. */
export function boundErrors(schema: Schema, value: unknown, path: string): readonly FieldError[] {
  if (typeof value === 'string') return stringErrors(schema, value, path);
  if (typeof value === 'number') return numberErrors(schema, value, path);
  if (Array.isArray(value))
    return countErrors(value, [schema.minItems, schema.maxItems], 'items', path, 'array');
  if (isRecord(value)) {
    const names = Object.keys(value);
    return countErrors(names, [schema.minProperties, schema.maxProperties], 'properties', path, 'object');
  }
  return [];
}

function error(path: string, value: unknown, text: string, reason = 'FieldValueInvalid'): FieldError {
  return { field: path, reason, message: `Invalid value: ${JSON.stringify(value)}: ${path} in body ${text}` };
}

const patterns = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (found === undefined) {
    found = toRegExp(pattern);
    patterns.set(pattern, found);
  }
  return found;
}

/** Go's RE2 syntax is nearly a subset of ours; what the `u` flag refuses there is written without it. */
function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function stringErrors(schema: Schema, value: string, path: string): readonly FieldError[] {
  const { minLength, maxLength, pattern } = schema;
  const errors: FieldError[] = [];
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  if (maxLength !== undefined && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    errors.push({ field: path, reason: 'FieldValueTooLong', message });
  }
  if (minLength !== undefined && length < minLength) {
    errors.push(error(path, value, `should be at least ${minLength} chars long`));
  }
  if (pattern !== undefined && !compiled(pattern).test(value)) {
    errors.push(error(path, value, `should match '${pattern}'`));
  }
  return errors;
}

function numberErrors(schema: Schema, value: number, path: string): readonly FieldError[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const errors: FieldError[] = [];
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    errors.push(
      error(path, value, `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`),
    );
  }
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    errors.push(
      error(
        path,
        value,
        `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`,
      ),
    );
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) {
    errors.push(error(path, value, `should be a multiple of ${multipleOf}`));
  }
  return errors;
}

function countErrors(
  elements: readonly unknown[],
  [min, max]: readonly [number | undefined, number | undefined],
  noun: string,
  path: string,
  shown: string,
): readonly FieldError[] {
  const count = elements.length;
  if (max !== undefined && count > max) {
    const message = `Too many: ${count}: must have at most ${max} ${noun}`;
    return [{ field: path, reason: 'FieldValueTooMany', message }];
  }
  return min !== undefined && count < min
    ? [error(path, shown === 'array' ? count : shown, `should have at least ${min} ${noun}`)]
    : [];
}
