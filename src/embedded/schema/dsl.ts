import type { Schema } from './schema.ts';

/**
 * A compact way to write the schemas of the built-in kinds. What Go marks `omitempty` on a plain value is dropped when
 * empty; what is a pointer there (`pointerTo…`, `struct`) is kept even when it holds a zero.
 */

export function text(options: Schema = {}): Schema {
  return { type: 'string', drop: true, ...options };
}

export function flag(): Schema {
  return { type: 'boolean', drop: true };
}

export function whole(options: Schema = {}): Schema {
  return { type: 'integer', drop: true, ...options };
}

export function pointerToFlag(options: Schema = {}): Schema {
  return { type: 'boolean', ...options };
}

export function pointerToWhole(options: Schema = {}): Schema {
  return { type: 'integer', ...options };
}

export function intOrString(options: Schema = {}): Schema {
  return { 'x-kubernetes-int-or-string': true, ...options };
}

export function quantity(options: Schema = {}): Schema {
  return { 'x-kubernetes-int-or-string': true, format: 'quantity', ...options };
}

export function time(): Schema {
  return { type: 'string', format: 'go-time', drop: true };
}

export function microTime(): Schema {
  return { type: 'string', format: 'micro-time', drop: true };
}

export function strings(): Schema {
  return { type: 'object', additionalProperties: { type: 'string' }, drop: true };
}

/** Values in base64. */
export function byteStrings(): Schema {
  return { type: 'object', additionalProperties: { type: 'string', format: 'go-bytes' }, drop: true };
}

export function quantities(): Schema {
  return { type: 'object', additionalProperties: quantity(), drop: true };
}

export function texts(): Schema {
  return { type: 'array', items: { type: 'string' }, drop: true };
}

/** A list of objects. `patchKey` is the field by which a strategic merge finds an element; without it the list is replaced. */
export function listOf(items: Schema, patchKey?: string): Schema {
  return { type: 'array', items, drop: true, ...(patchKey === undefined ? {} : { patchKey }) };
}

export function struct(properties: Readonly<Record<string, Schema>>, options: Schema = {}): Schema {
  return { type: 'object', properties, ...options };
}

/** A part that this server stores as it comes: unknown fields in it are kept, even with `fieldValidation=Strict`. */
export function opaque(options: Schema = {}): Schema {
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...options };
}

export function opaqueList(): Schema {
  return { type: 'array', items: opaque(), drop: true };
}

/** Selector of the apps kinds. */
export function labelSelectorSchema(): Schema {
  return struct({ matchLabels: strings(), matchExpressions: opaqueList() });
}
