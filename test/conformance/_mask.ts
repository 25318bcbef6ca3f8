/** What differs between any two servers although they agree: uids, resourceVersions, times, addresses, random suffixes. */

type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
/** Times that a client of these programs gives lie before 2026. */
const TIME = /20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const ADDRESS = /\b10\.\d+\.\d+\.\d+\b/g;
const SUFFIX = /\b(gen-(?:x-|y{54})?|Gen-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/gi;
const AGE = /^(\d+[smh])+$/;
/** Where a message shows the server's counter. */
const COUNTERS = /(current: |too old resource version: \d+ \()\d+|(recondition \(|in record \()\d+(?=\))/g;
/** A refused patch shows the whole object, as the server keeps it. */
const WHOLE = /Invalid value: "(?:\{\\"|map\[)(?:[^"\\]|\\.)*"/g;
/** What is wrong with a token is told in the words of a decoder. */
const TOKEN = /(continue key is not valid: )[\s\S]*$/;
/** A refused change of a pod ends with the two pods, line by line. */
const COMPARISON = /(?<=if it was previously negative\)|for bound claims)[\s\S]*$/;
const COLLECTIVE_KINDS = /List$|^Table$/;

interface Known {
  readonly uids: string[];
  /** Each with those that only say who wrote. */
  readonly versions: string[][];
}

/** What one program has seen of its server. */
export class Memory {
  readonly #namespace: string;
  readonly #known = new Map<string, Known>();
  readonly #objects = new Map<string, Json>();
  readonly #lists = new Map<string, string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Remembers the objects in an answer about `plural`. */
  note(plural: string, body: unknown): void {
    if (!isRecord(body) || !isRecord(body['metadata'])) return;
    const { metadata, items } = body;
    if (Array.isArray(items)) {
      for (const item of items) this.note(plural, item);
      this.#noteList(metadata as Json);
    } else if (typeof (metadata as Json)['name'] === 'string') {
      this.#noteObject(plural, body, metadata as Json);
    }
  }

  #noteList(metadata: Json): void {
    if (typeof metadata['resourceVersion'] === 'string')
      this.#lists.set('listrv', metadata['resourceVersion']);
    if (typeof metadata['continue'] === 'string' && metadata['continue'] !== '') {
      this.#lists.set('continue', metadata['continue']);
    }
  }

  #noteObject(plural: string, body: Json, metadata: Json): void {
    const key = `${plural}/${this.#masked(String(metadata['name']))}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = { uids: [], versions: [] };
      this.#known.set(key, known);
    }
    const { uid, resourceVersion } = metadata;
    if (typeof uid === 'string' && !known.uids.includes(uid)) known.uids.push(uid);
    const whole = body['kind'] !== 'Scale' && body['kind'] !== 'PartialObjectMetadata';
    if (typeof resourceVersion === 'string' && !known.versions.flat().includes(resourceVersion)) {
      const last = known.versions.at(-1);
      if (whole && last !== undefined && onlyTheWriterIsNew(this.object(key), body))
        last.push(resourceVersion);
      else known.versions.push([resourceVersion]);
    }
    if (whole) this.#objects.set(key, body);
  }

  /** The object that was seen last under `plural/name`. */
  object(key: string): Json {
    return this.#objects.get(key) ?? {};
  }

  /** Fills in what a step's text leaves open. */
  fill(text: string): string {
    return text
      .replaceAll('{listrv}', this.#lists.get('listrv') ?? '1')
      .replaceAll('{continue}', encodeURIComponent(this.#lists.get('continue') ?? ''))
      .replaceAll(/\{(uid|rv0|rv):((?:\{ns\}|[^{}])+)\}/g, (_, what: string, key: string) => {
        const known = this.#known.get(key);
        if (what === 'uid') return known?.uids.at(-1) ?? '00000000-0000-4000-8000-000000000000';
        return (what === 'rv' ? known?.versions.at(-1) : known?.versions[0])?.at(-1) ?? '1';
      })
      .replaceAll('{ns}', this.#namespace);
  }

  /** An answer without what no two servers share. */
  mask(plural: string, value: unknown, real = true): unknown {
    // What was only tried is not there.
    if (real) this.note(plural, value);
    return this.#visit(value, '', plural);
  }

  #visit(value: unknown, key: string, plural: string): unknown {
    if (typeof value === 'string') return this.#text(value, key, plural);
    if (Array.isArray(value)) return value.map((element) => this.#visit(element, key, plural));
    if (!isRecord(value)) return value;
    const collective = COLLECTIVE_KINDS.test(String(value['kind'])) || value['kind'] === 'Status';
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => {
        if (collective && name === 'metadata') return [name, maskedList(field)];
        return [name, this.#visit(field, name, plural)];
      }),
    );
  }

  #text(value: string, key: string, plural: string): string {
    if (key === 'resourceVersion') return plural === 'bookmarks' ? '<rv>' : this.#version(value);
    if (key === 'cells' && AGE.test(value)) return '<age>';
    if (key === 'message' || key === 'reason')
      return this.#masked(
        value
          .replaceAll(COUNTERS, '$1$2<rv>')
          .replace(TOKEN, '$1<problem>')
          .replaceAll(WHOLE, 'Invalid value: <object>')
          .replace(COMPARISON, ''),
      );
    return this.#masked(value, plural);
  }

  #version(value: string): string {
    for (const [key, { versions }] of this.#known) {
      const index = versions.findIndex((same) => same.includes(value));
      if (index >= 0) return `<rv ${index} of ${key}>`;
    }
    return /^\d+$/.test(value) ? '<rv>' : value;
  }

  #masked(text: string, _plural?: string): string {
    return text
      .replaceAll(this.#namespace, '{ns}')
      .replaceAll(UID, (uid) => this.#uid(uid))
      .replaceAll(TIME, (_, fraction: string | undefined) =>
        fraction === undefined ? '<time>' : '<micro time>',
      )
      .replaceAll(ADDRESS, '<address>')
      .replaceAll(SUFFIX, '$1<suffix>');
  }

  #uid(uid: string): string {
    for (const [key, { uids }] of this.#known) {
      const index = uids.indexOf(uid);
      if (index >= 0) return `<uid ${index} of ${key}>`;
    }
    return uid.startsWith('00000000') ? uid : '<uid>';
  }
}

/** A server that keeps managedFields has a new version when somebody else writes what stands there already. */
function onlyTheWriterIsNew(before: Json, after: Json): boolean {
  const fields = (object: Json) => (isRecord(object['metadata']) ? object['metadata'] : {});
  const managed = (object: Json) => JSON.stringify(fields(object)['managedFields']);
  const rest = (object: Json) => {
    const { managedFields: _, resourceVersion: __, ...metadata } = fields(object);
    // In a list the kind is left out.
    const { kind: ___, apiVersion: ____, ...others } = object;
    return JSON.stringify({ ...others, metadata });
  };
  // The first write on a claim is always one for the real server, whatever it says.
  const claim = after['kind'] === 'PersistentVolumeClaim';
  return (claim || managed(before) !== managed(after)) && rest(before) === rest(after);
}

/** A list's resourceVersion counts what everybody writes, and its token hides it. */
function maskedList(metadata: unknown): unknown {
  if (!isRecord(metadata)) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).map(([name, field]) => {
      if (name === 'resourceVersion') return [name, /^\d+$/.test(String(field)) ? '<rv>' : field];
      if (name === 'continue' && field !== '') return [name, '<token>'];
      return [name, field];
    }),
  );
}
