/** A JSON object whose fields nobody vouches for yet. */
export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of `value`, or none when it is not an object. */
export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The elements of `value`, or none when it is not a list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A copy of a caller's JSON that shares nothing with it; `undefined` fields are left out as in JSON. */
export function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => (element === undefined ? null : copyJson(element)));
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field !== undefined) put(copy, key, copyJson(field));
  }
  return copy;
}

/** Sets an own field, whatever its name: a client may send the key `__proto__`. */
export function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/**
 * Freezes `value` to the bottom and returns it. What is frozen already is taken to be frozen to the bottom: inside the
 * store only this function freezes.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (const element of value) deepFreeze(element);
  } else {
    const fields = value as Record<string, unknown>;
    for (const key of Object.keys(fields)) deepFreeze(fields[key]);
  }
  return Object.freeze(value);
}

/** Equality of two JSON values; the order of keys does not matter. Shared parts cost nothing. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((element, index) => deepEqual(element, right[index]))
    );
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key]));
}

/** `object` without `key`; the same object when it has no such field. */
export function without(object: Json, key: string): Json {
  if (!Object.hasOwn(object, key)) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

/** `object` with `key` set to `value`; the same object when it is so already. */
export function withField(object: Json, key: string, value: unknown): Json {
  return object[key] === value ? object : { ...object, [key]: value };
}
