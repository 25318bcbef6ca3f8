import { copyJson, deepEqual, isRecord, type Json, put } from './json.ts';
import { badRequest, patchRejected } from './status.ts';

const OPERATIONS_MAX = 10_000;

/** Applies an RFC 7386 merge patch; shares what it does not touch. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return merge(target, patch);
}

/** The real server takes nulls out of the objects in a list as well; a null among the elements stays. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNulls(field)]));
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return withoutNulls(copyJson(patch));
  const before: Json = isRecord(target) ? target : {};
  let result: Record<string, unknown> | undefined;
  for (const key of Object.keys(patch)) {
    const value = Object.hasOwn(before, key) ? before[key] : undefined;
    const next = patch[key] === null ? undefined : merge(value, patch[key]);
    if (deepEqual(next, value)) continue;
    result ??= { ...before };
    if (next === undefined) delete result[key];
    else put(result, key, next);
  }
  return result ?? before;
}

/** Applies an RFC 6902 patch as the API server does: see the reference for its three liberties. */
export function applyJsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (patch.length > OPERATIONS_MAX) throw patchRejected();
  return patch.reduce((value: unknown, operation) => applyOperation(value, operation), target);
}

function applyOperation(target: unknown, operation: unknown): unknown {
  if (!isRecord(operation) || typeof operation['path'] !== 'string') throw patchRejected();
  const path = pointer(operation['path']);
  switch (operation['op']) {
    case 'add':
      return edit(target, path, { kind: 'add', value: copyJson(operation['value'] ?? null) });
    case 'replace':
      return edit(target, path, { kind: 'replace', value: copyJson(operation['value'] ?? null) });
    case 'remove':
      return edit(target, path, { kind: 'remove' });
    case 'test':
      return test(target, path, operation['value'] ?? null);
    case 'move':
    case 'copy':
      return transfer(target, path, operation);
    default:
      throw patchRejected();
  }
}

function transfer(
  target: unknown,
  path: readonly string[],
  operation: Readonly<Record<string, unknown>>,
): unknown {
  if (typeof operation['from'] !== 'string') throw patchRejected();
  const from = pointer(operation['from']);
  const value = lookUp(target, from);
  if (value === undefined) throw patchRejected();
  const base = operation['op'] === 'move' ? edit(target, from, { kind: 'remove' }) : target;
  return edit(base, path, { kind: 'add', value });
}

/** An absent key equals null (the real server's liberty); below an absent parent there is nothing to test. */
function test(target: unknown, path: readonly string[], expected: unknown): unknown {
  const last = path.at(-1);
  const parent = last === undefined ? undefined : lookUp(target, path.slice(0, -1));
  if (last !== undefined && (typeof parent !== 'object' || parent === null)) throw patchRejected();
  const actual = lookUp(target, path) ?? null;
  if (!deepEqual(actual, expected)) throw patchRejected();
  return target;
}

function lookUp(target: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
    return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, target);
}

type Edit = { readonly kind: 'add' | 'replace'; readonly value: unknown } | { readonly kind: 'remove' };

function edit(target: unknown, path: readonly string[], change: Edit): unknown {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (change.kind === 'remove') throw patchRejected();
    return change.value;
  }
  if (Array.isArray(target)) return editList(target, key, rest, change);
  if (!isRecord(target)) throw patchRejected();
  if (rest.length > 0) {
    if (!Object.hasOwn(target, key)) throw patchRejected();
    return setField(target, key, edit(target[key], rest, change));
  }
  if (change.kind !== 'remove') return setField(target, key, change.value);
  if (!Object.hasOwn(target, key)) throw patchRejected();
  const { [key]: _, ...others } = target;
  return others;
}

function setField(target: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const result = { ...target };
  put(result, key, value);
  return result;
}

function editList(target: readonly unknown[], key: string, rest: readonly string[], change: Edit): unknown {
  const insertion = rest.length === 0 && change.kind === 'add';
  const index = key === '-' && insertion ? target.length : Number(key);
  const last = insertion ? target.length : target.length - 1;
  if (!/^(\d+|-)$/.test(key) || !(index <= last)) throw patchRejected();
  if (rest.length > 0) return target.with(index, edit(target[index], rest, change));
  if (change.kind === 'add') return target.toSpliced(index, 0, change.value);
  return change.kind === 'replace' ? target.with(index, change.value) : target.toSpliced(index, 1);
}

function pointer(path: string): readonly string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw patchRejected();
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isRecord(value)) return 'object';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}
