import { copyJson, deepEqual, isRecord, type Json, list, put, record } from './json.ts';
import { applyMergePatch } from './patch.ts';
import { fieldSchema, type Schema } from './schema/schema.ts';
import { badRequest } from './status.ts';

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
    if (field === null) delete result[key];
    else put(result, key, mergeField(fieldSchema(schema, key), result[key], field, fields[ORDER + key]));
  }
  applyBareOrders(schema, result, fields);
  return deepEqual(result, target) ? target : result;
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
      result[name] = inOrder(list(result[name]), list(order), patchKey);
    }
  }
}

function mergeField(schema: Schema | undefined, target: unknown, patch: unknown, order: unknown): unknown {
  if (Array.isArray(patch)) {
    const patchKey = schema?.patchKey;
    if (patchKey === undefined) return copyJson(patch);
    const merged =
      patchKey === ''
        ? [...new Set([...list(target), ...patch])]
        : mergeList(schema?.items ?? {}, list(target), patch, patchKey);
    return order === undefined ? merged : inOrder(merged, list(order), patchKey);
  }
  if (!isRecord(patch)) return patch;
  return mergeObject(schema ?? {}, record(target), patch);
}

function mergeList(
  schema: Schema,
  target: readonly unknown[],
  patch: readonly unknown[],
  patchKey: string,
): readonly unknown[] {
  const replaces = patch.some(
    (element) => record(element)[DIRECTIVE] === 'replace' && record(element)[patchKey] === undefined,
  );
  if (replaces) {
    return patch.filter((element) => record(element)[DIRECTIVE] !== 'replace').map(copyJson);
  }
  let result = target;
  for (const element of patch.map(record)) {
    const key = element[patchKey];
    if (key === undefined) {
      throw badRequest(`map: ${JSON.stringify(element)} does not contain declared merge key: ${patchKey}`);
    }
    result = mergeElement(schema, result, element, patchKey);
  }
  return result;
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

/** Elements that the order names stand as it says; the others keep their place behind what stood before them. */
function inOrder(
  elements: readonly unknown[],
  order: readonly unknown[],
  patchKey: string,
): readonly unknown[] {
  const identity = (element: unknown) =>
    JSON.stringify(patchKey === '' ? element : record(element)[patchKey]);
  const places = new Map(order.map((element, index) => [identity(element), index]));
  const ordered = elements
    .filter((element) => places.has(identity(element)))
    .sort((a, b) => (places.get(identity(a)) ?? 0) - (places.get(identity(b)) ?? 0));
  const result = [...ordered];
  elements.forEach((element, index) => {
    if (places.has(identity(element))) return;
    const previous = elements[index - 1];
    const at = previous === undefined ? 0 : result.indexOf(previous) + 1;
    result.splice(at, 0, element);
  });
  return result;
}

/** A replacing patch may carry directives of its own, which are no fields. */
function withoutDirectives(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !key.startsWith('$')));
}
