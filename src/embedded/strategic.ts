import { copyJson, deepEqual, isRecord, type Json, list, put, record } from './json.ts';
import { applyMergePatch } from './patch.ts';
import { fieldSchema, type Schema } from './schema/schema.ts';
import { badRequest, bareError } from './status.ts';

/**
 * Strategic merge patches of the built-in kinds, as kubectl sends them. Lists whose schema has a `patchKey` are merged
 * element by element; the directives `$patch`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…` and `$retainKeys` work.
 */
export function applyStrategicPatch(schema: Schema, target: unknown, patch: unknown): unknown {
  // The wrong document is refused with the words of a merge patch.
  if (!isRecord(patch)) return applyMergePatch(target, patch);
  return mergeObject(schema, record(target), patch);
}

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

function mergeObject(schema: Schema, target: Json, patch: Json): unknown {
  const directive = patch[DIRECTIVE];
  if (directive === 'delete') return {};
  const { [DIRECTIVE]: _, ...fields } = patch;
  if (directive === 'replace') return copyJson(withoutDirectives(fields));
  if (directive !== undefined && directive !== 'merge') {
    throw badRequest(`unknown patch type: ${JSON.stringify(directive)}`);
  }
  const retained = retain(target, fields[RETAIN]);
  const result: Record<string, unknown> = { ...retained };
  for (const [key, field] of Object.entries(fields)) {
    if (key.startsWith(DELETE_FROM)) deleteValues(result, key.slice(DELETE_FROM.length), list(field));
    if (key.startsWith('$')) continue;
    mergeKey(schema, result, key, field, fields[ORDER + key]);
  }
  applyBareOrders(schema, result, fields);
  return deepEqual(result, target) ? target : result;
}

function mergeKey(
  schema: Schema,
  result: Record<string, unknown>,
  key: string,
  field: unknown,
  order: unknown,
): void {
  if (field === null) delete result[key];
  // Where nothing is, there is nothing to replace.
  else if (result[key] === undefined && record(field)[DIRECTIVE] === 'replace') return;
  else put(result, key, mergeField(fieldSchema(schema, key), result[key], field, order));
}

/** Of a union such as a Deployment's strategy only the fields named stay. */
function retain(target: Json, keys: unknown): Json {
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function deleteValues(result: Record<string, unknown>, key: string, values: readonly unknown[]): void {
  if (!Array.isArray(result[key])) return;
  result[key] = list(result[key]).filter((value) => !values.includes(value));
}

/** An order may be given for a list that the patch does not change otherwise. */
function applyBareOrders(schema: Schema, result: Record<string, unknown>, fields: Json): void {
  for (const [key, order] of Object.entries(fields)) {
    const name = key.slice(ORDER.length);
    if (!key.startsWith(ORDER) || fields[name] !== undefined) continue;
    const patchKey = fieldSchema(schema, name)?.patchKey;
    if (patchKey !== undefined && Array.isArray(result[name])) {
      result[name] = inOrder(list(result[name]), list(result[name]), list(order), patchKey);
    }
  }
}

function mergeField(schema: Schema | undefined, target: unknown, patch: unknown, order: unknown): unknown {
  if (Array.isArray(patch)) {
    const patchKey = schema?.patchKey;
    if (patchKey === undefined) return copyJson(patch);
    const before = list(target);
    if (patchKey === '') {
      const merged = [...new Set([...before, ...patch])];
      return inOrder(merged, before, list(order ?? patch), patchKey);
    }
    return mergeList(schema?.items ?? {}, before, patch, { patchKey, order });
  }
  if (!isRecord(patch)) return patch;
  return mergeObject(schema ?? {}, record(target), patch);
}

interface Merging {
  readonly patchKey: string;
  /** `$setElementOrder/…`, if it is given. */
  readonly order: unknown;
}

function mergeList(
  schema: Schema,
  target: readonly unknown[],
  patch: readonly unknown[],
  { patchKey, order }: Merging,
): readonly unknown[] {
  const replaces = patch.some(
    (element) => record(element)[DIRECTIVE] === 'replace' && record(element)[patchKey] === undefined,
  );
  if (replaces) {
    return patch.filter((element) => record(element)[DIRECTIVE] !== 'replace').map(copyJson);
  }
  // Where there is nothing to merge into, nobody asks for the keys.
  if (target.length === 0) {
    const kept = patch.filter((element) => record(element)[DIRECTIVE] === undefined);
    return kept.map((element) => mergeObject(schema, {}, record(element)));
  }
  let result = target;
  for (const element of patch.map(record)) {
    const key = element[patchKey];
    if (key === undefined)
      throw bareError(`map: ${goMap(element)} does not contain declared merge key: ${patchKey}`);
    result = mergeElement(schema, result, element, patchKey);
  }
  return inOrder(result, target, list(order ?? patch), patchKey);
}

/** A flat object as Go prints it. */
function goMap(fields: Json): string {
  return `map[${Object.entries(fields)
    .map(([key, value]) => `${key}:${value}`)
    .sort()
    .join(' ')}]`;
}

function mergeElement(
  schema: Schema,
  target: readonly unknown[],
  element: Json,
  patchKey: string,
): readonly unknown[] {
  const isSame = (other: unknown) => deepEqual(record(other)[patchKey], element[patchKey]);
  if (element[DIRECTIVE] === 'delete') return target.filter((other) => !isSame(other));
  const index = target.findIndex(isSame);
  if (index < 0) return [...target, mergeObject(schema, {}, element)];
  return target.with(index, mergeObject(schema, record(target[index]), element));
}

/**
 * The order of a merged list: elements that the order names stand as it says, and in front of each of them those others
 * that stood in front of it before.
 */
function inOrder(
  elements: readonly unknown[],
  before: readonly unknown[],
  order: readonly unknown[],
  patchKey: string,
): readonly unknown[] {
  const identity = (element: unknown) =>
    JSON.stringify(patchKey === '' ? element : record(element)[patchKey]);
  const places = new Map(order.map((element, index) => [identity(element), index]));
  const stood = new Map(before.map((element, index) => [identity(element), index]));
  const named = elements
    .filter((element) => places.has(identity(element)))
    .sort((a, b) => (places.get(identity(a)) ?? 0) - (places.get(identity(b)) ?? 0));
  const others = elements.filter((element) => !places.has(identity(element)));
  const result: unknown[] = [];
  for (const element of named) {
    const place = stood.get(identity(element));
    while (place !== undefined && others.length > 0 && (stood.get(identity(others[0])) ?? place) < place) {
      result.push(others.shift());
    }
    result.push(element);
  }
  return [...result, ...others];
}

/** A replacing patch may carry directives of its own, which are no fields. */
function withoutDirectives(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !key.startsWith('$')));
}
