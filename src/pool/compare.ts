import { quantityOf } from './quantity.ts';

/** `vouched`: a label says that the object was made from this definition, so what stands beside is an addition, not a rest. */
export interface Comparison {
  readonly vouched: boolean;
}

type Path = readonly string[];
type Fields = Readonly<Record<string, unknown>>;
type Items = readonly unknown[];

/** Lists whose entries have a name, by the list's own name, and what names an entry. Their order says nothing. */
const NAMED_LISTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    containers: ['name'],
    initContainers: ['name'],
    env: ['name'],
    ports: ['containerPort', 'name', 'port'],
    volumes: ['name'],
    volumeMounts: ['mountPath'],
    imagePullSecrets: ['name'],
    ownerReferences: ['uid'],
  }),
);

/** Lists in which an entry that is no longer rendered is a difference, unless the object is vouched for. */
const CLOSED_LISTS: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'env',
  'ports',
  'volumes',
  'volumeMounts',
  'imagePullSecrets',
  'args',
]);

/** Fields where absence means something else than `false`, `0` or `{}`; elsewhere the server drops such values. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  'replicas',
  'automountServiceAccountToken',
  'enableServiceLinks',
  'runAsUser',
  'runAsGroup',
  'fsGroup',
  'optional',
  'emptyDir',
]);

const INT_OR_STRING_FIELDS: ReadonlySet<string> = new Set(['targetPort', 'maxSurge', 'maxUnavailable']);

/**
 * The paths in which `live` does not have what is `rendered` (P18), sorted: `spec.template.spec.containers[ide].image`.
 * What a server, a webhook or an injector adds to `live` is no difference, except beside the entries of a closed list of
 * an object that nobody vouches for.
 */
export function differences(rendered: unknown, live: unknown, { vouched }: Comparison): readonly string[] {
  return compareValues(rendered, live, [], vouched).map(textOf).sort();
}

/** True for what the server drops when it stores an object: absent, empty, zero, or made of nothing else. */
export function isVoid(value: unknown, field: string | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (field !== undefined && KEPT_FIELDS.has(field)) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (isFields(value)) return Object.entries(value).every(([key, inner]) => isVoid(inner, key));
  return value === 0 || value === false;
}

/** A leaf in the one form that all its spellings share: quantities by amount, ints-or-strings as strings. */
export function canonicalLeaf(value: unknown, path: Path): unknown {
  if (isQuantity(path)) {
    const amount = quantityOf(value);
    return amount === undefined ? value : `${amount}n`;
  }
  return INT_OR_STRING_FIELDS.has(path.at(-1) ?? '') && typeof value === 'number' ? String(value) : value;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compareValues(rendered: unknown, live: unknown, path: Path, vouched: boolean): readonly Path[] {
  const field = path.at(-1);
  if (Array.isArray(rendered) && (Array.isArray(live) || isVoid(live, field))) {
    return compareLists(rendered, Array.isArray(live) ? live : [], path, vouched);
  }
  if (isVoid(rendered, field) && isVoid(live, field)) return [];
  if (isFields(rendered) && isFields(live)) return compareFields(rendered, live, path, vouched);
  return Object.is(canonicalLeaf(rendered, path), canonicalLeaf(live, path)) ? [] : [path];
}

function compareFields(rendered: Fields, live: Fields, path: Path, vouched: boolean): readonly Path[] {
  const closed = Object.keys(live).filter((name) => CLOSED_LISTS.has(name));
  return [...new Set([...Object.keys(rendered), ...closed])].flatMap((name) => {
    const found = own(live, name);
    // A closed list that is not rendered at all is rendered empty: an option that was removed leaves its list behind.
    const wanted = own(rendered, name) ?? (Array.isArray(found) ? [] : undefined);
    return wanted === undefined ? [] : compareValues(wanted, found, [...path, name], vouched);
  });
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function compareLists(rendered: Items, live: Items, path: Path, vouched: boolean): readonly Path[] {
  const field = path.at(-1) ?? '';
  const keys = NAMED_LISTS.get(field);
  if (keys === undefined) return compareInOrder(rendered, live, path, vouched);

  const wanted = byName(rendered, keys);
  const found = byName(live, keys);
  if (wanted === undefined || found === undefined) return compareInOrder(rendered, live, path, vouched);

  const missing = [...wanted].flatMap(([name, entry]) =>
    found.has(name)
      ? compareValues(entry, found.get(name), [...path, `[${name}]`], vouched)
      : [[...path, `[${name}]`]],
  );
  if (vouched || !CLOSED_LISTS.has(field)) return missing;
  const extra = [...found.keys()].filter((name) => !wanted.has(name));
  return [...missing, ...extra.map((name) => [...path, `[${name}]`])];
}

/** Without a vouching label place by place; with one, the rendered entries must stand in their order, others between them. */
function compareInOrder(rendered: Items, live: Items, path: Path, vouched: boolean): readonly Path[] {
  if (!vouched) {
    const places = Array.from({ length: Math.max(rendered.length, live.length) }, (_, place) => place);
    return places.flatMap((place) => compareEntries(rendered, live, place, path));
  }
  let next = 0;
  return rendered.flatMap((entry, place) => {
    const at = live.findIndex(
      (one, index) => index >= next && compareValues(entry, one, path, vouched).length === 0,
    );
    if (at < 0) return [[...path, `[${place}]`]];
    next = at + 1;
    return [];
  });
}

function compareEntries(rendered: Items, live: Items, place: number, path: Path): readonly Path[] {
  const at = [...path, `[${place}]`];
  if (place >= rendered.length || place >= live.length) return [at];
  return compareValues(rendered[place], live[place], at, false);
}

/** The entries by their names; `undefined` when one has none. A name that comes twice is told apart by its turn. */
function byName(entries: Items, keys: readonly string[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const entry of entries) {
    if (!isFields(entry)) return undefined;
    const name = keys.map((key) => entry[key]).find((value) => value !== undefined);
    if (typeof name !== 'string' && typeof name !== 'number') return undefined;
    let turn = 1;
    while (named.has(turnName(name, turn))) turn += 1;
    named.set(turnName(name, turn), entry);
  }
  return named;
}

function turnName(name: string | number, turn: number): string {
  return turn === 1 ? String(name) : `${name}#${turn}`;
}

function isQuantity(path: Path): boolean {
  const part = path.at(-2);
  return (
    path.at(-1) === 'storage' || (path.at(-3) === 'resources' && (part === 'limits' || part === 'requests'))
  );
}

/** A path as people write it: `spec.containers[java].image`. */
export function textOf(path: readonly string[]): string {
  return path.reduce((text, part) => {
    if (part.startsWith('[')) return `${text}${part}`;
    if (!/^[A-Za-z0-9_-]+$/.test(part)) return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}
