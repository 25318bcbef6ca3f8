import type { Clock } from '../../src/clock.ts';
import { applyMergePatch } from '../../src/embedded/patch.ts';
import { isRecord, Memory } from './_mask.ts';
import { METHODS, type Program, type Send, type Step, type Wait } from './_program.ts';
import type { Reply, Watching, Wire } from './_wire.ts';

/** What a server said to one step, masked: the same on two servers that agree. */
export interface Said {
  readonly code: number;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Longer than any controller takes; what has not happened then is a difference of its own. */
const PATIENCE_MS = 45_000;

/** Makes the namespace of a program. */
export async function makeNamespace(wire: Wire, name: string): Promise<void> {
  const made = await wire.send({
    method: 'POST',
    path: '/api/v1/namespaces',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  });
  if (made.status !== 201) throw new Error(`making the namespace ${name}: ${made.status} ${made.text}`);
}

/** Runs a program in `namespace`, which has been made for it. One answer a step. */
export async function run(
  wire: Wire,
  clock: Clock,
  program: Program,
  namespace: string,
): Promise<readonly Said[]> {
  const runner = new Runner(wire, clock, namespace);
  try {
    await runner.prepare();
    const said: Said[] = [];
    for (const step of program.steps) said.push(await runner.take(step));
    return said;
  } finally {
    runner.close();
  }
}

class Runner {
  readonly #wire: Wire;
  readonly #clock: Clock;
  readonly #namespace: string;
  readonly #memory: Memory;
  readonly #watches = new Map<string, Watching>();

  constructor(wire: Wire, clock: Clock, namespace: string) {
    this.#wire = wire;
    this.#clock = clock;
    this.#namespace = namespace;
    this.#memory = new Memory(namespace);
  }

  async prepare(): Promise<void> {
    const found = await this.#wire.send({ method: 'GET', path: `/api/v1/namespaces/${this.#namespace}` });
    this.#memory.note('namespaces', parsed(found.text));
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
  }

  take(step: Step): Promise<Said> {
    switch (step.do) {
      case 'send':
        return this.#send(step);
      case 'wait':
        return this.#wait(step);
      case 'open':
        return this.#open(step.path, step.headers);
      case 'close':
        return this.#finish(step.path, step.kind, step.until);
    }
  }

  async #send(step: Send): Promise<Said> {
    const body = this.#body(step);
    const headers: Record<string, string> = {
      ...(body === undefined ? {} : { 'content-type': contentType(step) }),
      ...step.headers,
    };
    if (headers['content-type'] === '') delete headers['content-type'];
    const reply = await this.#wire.send({
      method: METHODS[step.verb],
      path: this.#memory.fill(step.path),
      headers,
      ...(body === undefined ? {} : { body }),
      ...(step.as === undefined ? {} : { as: step.as }),
    });
    const dry = /dryRun/.test(`${step.path} ${body ?? ''}`);
    return this.#said(step.kind, reply, dry);
  }

  #body({ body, basedOn }: Send): string | undefined {
    if (basedOn !== undefined) {
      const filled: unknown = JSON.parse(this.#memory.fill(JSON.stringify(body ?? {})));
      return JSON.stringify(applyMergePatch(this.#memory.object(basedOn), filled));
    }
    if (body === undefined) return undefined;
    return this.#memory.fill(typeof body === 'string' ? body : JSON.stringify(body));
  }

  #said(kind: string, reply: Reply, dry: boolean): Said {
    const plural = kind.split('/')[0] ?? kind;
    return {
      code: reply.status,
      headers: headersOf(reply),
      body: this.#memory.mask(plural, parsed(reply.text), !dry),
    };
  }

  async #open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Said> {
    const filled = this.#memory.fill(path);
    const watch = await this.#wire.watch({ method: 'GET', path: filled, headers });
    const { status } = watch.reply;
    if (status === 200) this.#watches.set(path, watch);
    // The mark that ends the replay may come after changes that are made meanwhile; here it comes before them.
    const marked = path.includes('sendInitialEvents=true') && path.includes('allowWatchBookmarks');
    if (status === 200 && marked)
      await this.#soon(watch.until((line) => line.includes('initial-events-end')));
    const text = status === 200 ? '' : (await watch.until(() => false)).join('\n');
    return { code: status, headers: headersOf(watch.reply), body: this.#memory.mask('', parsed(text)) };
  }

  async #finish(path: string, kind: string, until: string | undefined): Promise<Said> {
    const watch = this.#watches.get(path);
    if (watch === undefined) return { code: 0, body: 'no watch' };
    const isLast = (line: string) => until !== undefined && nameIn(line) === until;
    const lines = await this.#soon(watch.until(isLast));
    watch.close();
    if (lines === undefined) return { code: 0, body: `nothing about ${until} came` };
    // Marks in between come when the server likes.
    const told = lines.filter((line) => !line.includes('"BOOKMARK"') || line.includes('initial-events-end'));
    const events = told.map((line) => {
      const event = parsed(line);
      if (!isRecord(event)) return event;
      const mark = event['type'] === 'BOOKMARK' || event['type'] === 'ERROR';
      return { ...event, object: this.#memory.mask(mark ? 'bookmarks' : kind, event['object'], !mark) };
    });
    return { code: 200, body: events };
  }

  /** What comes of a promise, unless it takes too long. */
  async #soon<T>(promise: Promise<T>): Promise<T | undefined> {
    const patience = new AbortController();
    const late = this.#clock.sleep(PATIENCE_MS, patience.signal).then(() => undefined);
    const first = await Promise.race([promise, late]);
    patience.abort();
    return first;
  }

  async #wait({ kind, path, name, until }: Wait): Promise<Said> {
    const place = this.#memory.fill(path);
    const selection = `fieldSelector=metadata.name%3D${this.#memory.fill(name)}`;
    const { text } = await this.#wire.send({ method: 'GET', path: `${place}?${selection}` });
    const { metadata, items } = parsed(text) as {
      readonly metadata: Listed;
      readonly items: readonly unknown[];
    };
    const [object] = items;
    if (object === undefined) return { code: 200, body: until === 'gone' };
    if (holds(until, { type: 'ADDED', object })) return { code: 200, body: true };
    const from = `${place}?watch=1&${selection}&resourceVersion=${metadata.resourceVersion}`;
    const watch = await this.#wire.watch({ method: 'GET', path: from });
    const lines = await this.#soon(watch.until((line) => holds(until, parsed(line))));
    watch.close();
    const last = lines?.at(-1);
    if (last === undefined) return { code: 0, body: `${kind}/${name} is still not ${until}` };
    return { code: 200, body: holds(until, parsed(last)) };
  }
}

interface Listed {
  readonly resourceVersion: string;
}

function contentType({ verb }: Send): string {
  return verb === 'patch' ? 'application/merge-patch+json' : 'application/json';
}

const COMPARED = [
  'content-type',
  'warning',
  'retry-after',
  'cache-control',
  'www-authenticate',
  'x-content-type-options',
  'allow',
];
const PRESENT = ['audit-id', 'date', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'];

function headersOf({ headers }: Pick<Reply, 'headers'>): Readonly<Record<string, unknown>> {
  return {
    ...Object.fromEntries(COMPARED.map((name) => [name, headers[name]])),
    ...Object.fromEntries(PRESENT.map((name) => [name, headers[name] !== undefined])),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The object that a line of a watch is about, whatever its form. */
function nameIn(line: string): unknown {
  const event = parsed(line);
  if (!isRecord(event) || !isRecord(event['object'])) return undefined;
  const object = event['object'];
  const [row] = Array.isArray(object['rows']) ? object['rows'] : [];
  const shown = isRecord(row) && isRecord(row['object']) ? row['object'] : object;
  return isRecord(shown['metadata']) ? shown['metadata']['name'] : undefined;
}

function holds(until: Wait['until'], event: unknown): boolean {
  if (!isRecord(event) || !isRecord(event['object'])) return false;
  const { metadata, status } = event['object'];
  if (!isRecord(metadata)) return false;
  const owners = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'].length : 0;
  const conditions = isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  switch (until) {
    case 'gone':
      return event['type'] === 'DELETED';
    case 'terminating':
      return metadata['deletionTimestamp'] !== undefined;
    case 'one owner':
      return owners === 1;
    case 'no owner':
      return owners === 0;
    case 'established':
      return conditions.some(
        (each) => isRecord(each) && each['type'] === 'Established' && each['status'] === 'True',
      );
  }
}
