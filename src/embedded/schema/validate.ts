import { deepEqual, isRecord, type Json } from '../json.ts';
import type { FieldError } from '../status.ts';
import { boundErrors } from './bounds.ts';
import { hasRules, ruleErrors } from './cel.ts';
import { duplicate, required, typeInvalid, unsupported } from './field-error.ts';
import { formatProblem } from './formats.ts';
import { parseQuantity, QUANTITY_TEXT } from './quantity.ts';
import { fieldSchema, type Schema } from './schema.ts';

/**
 * Checks a normalised value against its schema, in the words of the real server. Parts that are shared with `old` are not
 * checked again: what was valid under an earlier schema may stay.
 */
export function validate(schema: Schema, value: unknown, old: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, old, '', errors);
  return errors;
}

/** The CEL rules of a value, which are not looked at when `found`, what is wrong with it already, is grave. */
export function validateRules(
  schema: Schema,
  value: unknown,
  old: unknown,
  found: readonly FieldError[],
): readonly FieldError[] {
  if (!hasRules(schema)) return [];
  if (found.some(({ reason }) => BLOCKING.includes(reason))) {
    return [{ field: '<nil>', reason: 'FieldValueInvalid', message: UNCHECKED }];
  }
  const errors: FieldError[] = [];
  ruleErrors(schema, value, old, '', errors);
  return errors;
}

const BLOCKING = [
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
];
const UNCHECKED =
  'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function visit(schema: Schema, value: unknown, old: unknown, path: string, errors: FieldError[]): void {
  if (value === old) return;
  const wrongType = typeProblem(schema, value, path);
  if (wrongType !== undefined) {
    errors.push(wrongType);
    return;
  }
  if (value === null) return;
  errors.push(...boundErrors(schema, value, path));
  if (schema.enum !== undefined && !schema.enum.some((choice) => deepEqual(choice, value))) {
    errors.push(unsupported(path, value, schema.enum));
  }
  if (typeof value === 'string') pushFormat(schema, value, path, errors);
  if (Array.isArray(value)) visitList(schema, value, old, path, errors);
  else if (isRecord(value)) visitObject(schema, value, old, path, errors);
  if (isCombined(schema)) errors.push(...combinationErrors(schema, value, path));
}

function isCombined({ allOf, anyOf, oneOf, not }: Schema): boolean {
  return allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined;
}

function pushFormat(schema: Schema, value: string, path: string, errors: FieldError[]): void {
  const problem = formatProblem(schema.format, value);
  if (problem === undefined) return;
  const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body ${problem}`;
  errors.push({ field: path, reason: 'FieldValueTypeInvalid', message });
}

function visitList(
  schema: Schema,
  value: readonly unknown[],
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  const { items } = schema;
  const before = Array.isArray(old) ? old : [];
  if (items !== undefined) {
    value.forEach((element, index) => {
      visit(items, element, before[index], `${path}[${index}]`, errors);
    });
  }
  errors.push(...duplicateErrors(schema, value, path));
}

function duplicateErrors(schema: Schema, value: readonly unknown[], path: string): readonly FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  return value.flatMap((element, index) => {
    const fields = isRecord(element) ? element : {};
    const identity = type === 'set' ? element : Object.fromEntries(keys.map((key) => [key, fields[key]]));
    const shown = JSON.stringify(identity);
    if (!seen.has(shown)) {
      seen.add(shown);
      return [];
    }
    return [duplicate(`${path}[${index}]`, identity)];
  });
}

function visitObject(schema: Schema, value: Json, old: unknown, path: string, errors: FieldError[]): void {
  const before = isRecord(old) ? old : {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required(join(path, name)));
  }
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key);
    if (known !== undefined) visit(known, value[key], before[key], join(path, key), errors);
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function typeProblem(schema: Schema, value: unknown, path: string): FieldError | undefined {
  if (value === null) {
    if (schema.nullable === true || schema.type === undefined) return undefined;
    return typeInvalid(path, 'null', `${path} in body must be of type ${schema.type}: "null"`);
  }
  const came = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (schema.format === 'quantity') return quantityProblem(value, path);
    if (came === 'integer' || came === 'string') return undefined;
    return typeInvalid(path, came, `${path} in body must be of type integer,string: "${came}"`);
  }
  const { type } = schema;
  if (type === undefined || type === came || (type === 'number' && came === 'integer')) return undefined;
  return typeInvalid(path, came, `${path} in body must be of type ${type}: "${came}"`);
}

function quantityProblem(value: unknown, path: string): FieldError | undefined {
  if (parseQuantity(String(value)) !== undefined) return undefined;
  return {
    field: path,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${QUANTITY_TEXT}`,
  };
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isRecord(value)) return 'object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** `allOf`, `anyOf`, `oneOf` and `not`: only their bounds may differ from the schema around them. */
function combinationErrors(schema: Schema, value: unknown, path: string): readonly FieldError[] {
  const { allOf, anyOf, oneOf, not } = schema;
  const fits = (option: Schema) => {
    const found: FieldError[] = [];
    visit(option, value, undefined, path, found);
    return found.length === 0;
  };
  const fail = (text: string): FieldError => ({
    field: path,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${path} in body ${text}`,
  });
  const errors: FieldError[] = [];
  for (const option of allOf ?? []) visit(option, value, undefined, path, errors);
  if (anyOf !== undefined && schema['x-kubernetes-int-or-string'] !== true && !anyOf.some(fits)) {
    errors.push(fail('must validate at least one schema (anyOf)'));
  }
  if (oneOf !== undefined && oneOf.filter(fits).length !== 1) {
    errors.push(fail('must validate one and only one schema (oneOf)'));
  }
  if (not !== undefined && fits(not)) errors.push(fail('must not validate the schema (not)'));
  return errors;
}
