import { applyMergePatch } from '../../src/embedded/patch.ts';
import { type Kind, placeOf } from './_kinds.ts';
import type { Send, Verb } from './_program.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What may be said about a request besides what it is. */
export interface More {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly subresource?: string;
}

/** A good object of a kind, with changes merged in. */
export function objectOf(kind: Kind, name: string, ...changes: readonly Fields[]): Fields {
  const base = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...kind.fields };
  return changes.reduce<Fields>((object, change) => applyMergePatch(object, change) as Fields, base);
}

function request(verb: Verb, kind: Kind, name: string | undefined, more: More, body?: unknown): Send {
  const { query, headers, subresource } = more;
  const named = name === undefined ? '' : `/${name}`;
  const below = subresource === undefined ? '' : `/${subresource}`;
  return {
    do: 'send',
    verb,
    kind: `${kind.plural}${below}`,
    path: `${placeOf(kind)}${named}${below}${query === undefined ? '' : `?${query}`}`,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  };
}

export const get = (kind: Kind, name: string, more: More = {}): Send => request('get', kind, name, more);
export const list = (kind: Kind, more: More = {}): Send => request('list', kind, undefined, more);
export const create = (kind: Kind, body: unknown, more: More = {}): Send =>
  request('create', kind, undefined, more, body);
/** POST below an object. */
export const createBelow = (kind: Kind, name: string, body: unknown, more: More): Send =>
  request('create', kind, name, more, body);
export const update = (kind: Kind, name: string, body: unknown, more: More = {}): Send =>
  request('update', kind, name, more, body);
export const remove = (kind: Kind, name: string, body?: unknown, more: More = {}): Send =>
  request('delete', kind, name, more, body);
export const removeAll = (kind: Kind, body?: unknown, more: More = {}): Send =>
  request('deletecollection', kind, undefined, more, body);

/** PUT of the object that was seen last, with `change` merged in. */
export function edit(kind: Kind, name: string, change: Fields, more: More = {}): Send {
  return { ...request('update', kind, name, more, change), basedOn: `${kind.plural}/${name}` };
}

const PATCHES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

export function patch(
  type: keyof typeof PATCHES,
  kind: Kind,
  name: string,
  body: unknown,
  more: More = {},
): Send {
  const headers = { 'content-type': PATCHES[type], ...more.headers };
  return request('patch', kind, name, { ...more, headers }, body);
}
