import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { deepEqual, isRecord, type Json, record } from '../json.ts';
import type { FieldError } from '../status.ts';
import { fieldSchema, keepsUnknown, type Rule, type Schema } from './schema.ts';

/** The CEL rules of `x-kubernetes-validations`: parsed once for all stores, evaluated on values typed by their schema. */

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
});

const programs = new Map<string, ParseResult>();

function program(expression: string): ParseResult {
  let parsed = programs.get(expression);
  if (parsed === undefined) {
    parsed = environment.parse(withPlainHas(expression));
    programs.set(expression, parsed);
  }
  return parsed;
}

/** The library's `has()` knows no index inside its argument; an optional field says the same. */
function withPlainHas(expression: string): string {
  return expression.replace(/\bhas\(([^()]*\[[^()]*\][^()]*)\.(\w+)\)/g, '$1.?$2.hasValue()');
}

/** What is wrong with a rule as such, if anything: it does not parse, or it uses what is not supported here. */
export function ruleProblem({ rule, messageExpression, optionalOldSelf }: Rule): string | undefined {
  if (optionalOldSelf === true) return 'optionalOldSelf is not supported';
  for (const expression of [rule, messageExpression]) {
    if (expression === undefined) continue;
    try {
      const { valid, error } = program(expression).check();
      if (!valid) return firstLine(error);
    } catch (error) {
      return firstLine(error);
    }
  }
  return undefined;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? '';
}

const ruled = new WeakMap<Schema, boolean>();

/** Whether there is a rule anywhere in a schema. */
export function hasRules(schema: Schema): boolean {
  let found = ruled.get(schema);
  if (found === undefined) {
    const { properties, items, additionalProperties } = schema;
    found =
      (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      Object.values(properties ?? {}).some(hasRules) ||
      (items !== undefined && hasRules(items)) ||
      (typeof additionalProperties === 'object' && hasRules(additionalProperties));
    ruled.set(schema, found);
  }
  return found;
}

/** Evaluates the rules of a schema and all below it. Places that did not change are passed over. */
export function ruleErrors(
  schema: Schema,
  value: unknown,
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  if (value === old || value === null || value === undefined) return;
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    const error = evaluate(rule, schema, value, old, path);
    if (error !== undefined) errors.push(error);
  }
  for (const [key, child, childSchema, before] of children(schema, value, old)) {
    ruleErrors(childSchema, child, before, join(path, key), errors);
  }
}

function join(path: string, key: string): string {
  return path === '' || key.startsWith('[') ? path + key : `${path}.${key}`;
}

type Child = readonly [key: string, value: unknown, schema: Schema, old: unknown];

function children(schema: Schema, value: unknown, old: unknown): readonly Child[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined || !hasRules(items)) return [];
    return value.map((element, index) => [`[${index}]`, element, items, oldElement(schema, element, old)]);
  }
  const fields = record(value);
  const before = record(old);
  return Object.keys(fields).flatMap((key): readonly Child[] => {
    const known = fieldSchema(schema, key);
    return known === undefined || !hasRules(known) ? [] : [[key, fields[key], known, before[key]]];
  });
}

/** Only the elements of a map list have an identity by which their earlier state is found. */
function oldElement(schema: Schema, element: unknown, old: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !Array.isArray(old))
    return undefined;
  const fields = record(element);
  return old.find((candidate) => keys.every((key) => deepEqual(record(candidate)[key], fields[key])));
}

function evaluate(
  rule: Rule,
  schema: Schema,
  value: unknown,
  old: unknown,
  path: string,
): FieldError | undefined {
  const transition = /\boldSelf\b/.test(rule.rule);
  if (transition && old === undefined) return undefined;
  const variables = {
    self: toCel(schema, value),
    ...(transition ? { oldSelf: toCel(schema, old) } : {}),
  };
  try {
    if (program(rule.rule)(variables) === true) return undefined;
  } catch (error) {
    return failure(rule, value, path, `${firstLine(error)} evaluating rule: ${rule.message ?? rule.rule}`);
  }
  return failure(rule, value, path, messageOf(rule, variables));
}

function messageOf({ rule, message, messageExpression }: Rule, variables: Record<string, unknown>): string {
  if (messageExpression !== undefined) {
    try {
      const text: unknown = program(messageExpression)(variables);
      if (typeof text === 'string' && text.trim() !== '') return text.trim();
    } catch {
      // As in the real server: the plain message takes its place.
    }
  }
  return message ?? `failed rule: ${rule}`;
}

function failure(rule: Rule, value: unknown, path: string, text: string): FieldError {
  const reason = rule.reason ?? 'FieldValueInvalid';
  const field = `${path}${rule.fieldPath ?? ''}`.replace(/^\./, '') || '<nil>';
  return { field, reason, message: `${PREFIXES[reason]?.(value) ?? ''}${text}` };
}

const PREFIXES: Readonly<Record<string, (value: unknown) => string>> = {
  FieldValueInvalid: (value) => `Invalid value: ${shown(value)}: `,
  FieldValueForbidden: () => 'Forbidden: ',
  FieldValueRequired: () => 'Required value: ',
  FieldValueDuplicate: (value) => `Duplicate value: ${shown(value)}: `,
};

/** Objects and lists are shown by the name of their type. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return '"array"';
  return isRecord(value) ? '"object"' : JSON.stringify(value);
}

/** A value as CEL sees it: integers apart from doubles, names that CEL cannot say escaped. */
function toCel(schema: Schema, value: unknown): unknown {
  if (typeof value === 'number') return toNumber(schema, value);
  if (Array.isArray(value)) return value.map((element) => toCel(schema.items ?? {}, element));
  if (!isRecord(value)) return value;
  const isMap = schema.properties === undefined && !keepsUnknown(schema);
  return toObject(schema, value, isMap);
}

function toNumber(schema: Schema, value: number): bigint | number {
  return schema.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

function toObject(schema: Schema, value: Json, isMap: boolean): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      isMap ? key : escaped(key),
      toCel(fieldSchema(schema, key) ?? {}, field),
    ]),
  );
}

const KEYWORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return void while'.split(
    ' ',
  ),
);

function escaped(key: string): string {
  if (KEYWORDS.has(key)) return `__${key}__`;
  return key
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
