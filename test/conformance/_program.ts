/**
 * A program: requests in order, in a namespace of its own. Its strings may hold what only a server knows, as it was seen
 * last: `{ns}`, `{uid:configmaps/a}`, `{rv:configmaps/a}`, `{rv0:configmaps/a}` (the first seen), `{continue}`, `{listrv}`.
 */
export interface Program {
  readonly name: string;
  readonly steps: readonly Step[];
}

export type Step = Send | Wait | OpenWatch | CloseWatch;

/** One request, whose answer is compared. */
export interface Send {
  readonly do: 'send';
  /** What it is in the words of RBAC, for the table. */
  readonly verb: Verb;
  /** Plural, with the subresource. */
  readonly kind: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON; a string is sent as it is. */
  readonly body?: unknown;
  /** The body is the object that was seen last, `body` merged into it. */
  readonly basedOn?: string;
  readonly as?: Caller;
}

/** Everybody but the administrator. */
export type Caller = 'anonymous' | 'impostor' | 'nobody';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Waits, by watching, for what a controller does. The state in the end is compared. */
export interface Wait {
  readonly do: 'wait';
  readonly kind: string;
  /** The collection in which the object is. */
  readonly path: string;
  readonly name: string;
  readonly until: 'gone' | 'terminating' | 'one owner' | 'no owner' | 'established';
}

/** Opens a watch. */
export interface OpenWatch {
  readonly do: 'open';
  readonly kind: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Compares what the watch that was opened last for this path has told, up to an object of that name or to its end. */
export interface CloseWatch {
  readonly do: 'close';
  readonly kind: string;
  readonly path: string;
  /** An event about this object is the last; without it the server ends the stream. */
  readonly until?: string;
}

/** One step in words, as a person would type it. */
export function told(step: Step): string {
  if (step.do !== 'send') {
    const { do: what, path, ...more } = step;
    return `${what} ${path} ${JSON.stringify(more)}`;
  }
  const { verb, path, headers, body, basedOn, as } = step;
  const parts = [METHODS[verb], path];
  if (as !== undefined) parts.push(`as ${as}`);
  if (headers !== undefined) parts.push(JSON.stringify(headers));
  if (basedOn !== undefined) parts.push(`${basedOn} and`);
  if (body !== undefined) parts.push(typeof body === 'string' ? body : JSON.stringify(body));
  return parts.join(' ');
}

export const METHODS: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
