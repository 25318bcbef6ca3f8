import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Random } from '../../clock.ts';
import type { Kind } from '../kind.ts';
import { fieldForbidden } from '../schema/field-error.ts';
import { invalidOptions, methodNotAllowed, StatusError, unknownResource } from '../status.ts';
import type { EmbeddedStore } from '../store.ts';
import type { StoreRequest } from '../types.ts';
import { about } from './about.ts';
import { formOf } from './accept.ts';
import { type Answer, answerOf, jsonAnswer, NOT_FOUND } from './answer.ts';
import { isServed } from './discovery.ts';
import { ANONYMOUS, authorize, Forbidden } from './forbidden.ts';
import { parseObject, parsePatch, patchTypeOf, readBytes } from './media.ts';
import { parsePath, type Route } from './path.ts';
import { isSet, readOptions } from './query.ts';
import type { Included } from './table.ts';
import { streamWatch } from './watch-stream.ts';

export interface HandlerContext {
  readonly store: EmbeddedStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Who a bearer token is. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Open watches, to be ended when the server closes. */
  readonly streams: Set<() => void>;
}

export type ResourceRoute = Extract<Route, { kind: 'resource' }>;
type Verb = StoreRequest['verb'] | 'watch';

/** One request: who asks for what, before anything is done. */
export interface Asked {
  readonly message: IncomingMessage;
  readonly url: URL;
  readonly user: string;
  readonly route: Route | undefined;
  readonly verb: Verb;
}

/** Reads the request line and the headers; throws 401 and 403. */
export function ask(context: HandlerContext, message: IncomingMessage): Asked {
  const url = new URL(message.url ?? '/', 'https://localhost');
  const user = userOf(context.tokens, message.headers.authorization);
  const route = parsePath(url.pathname);
  const verb = verbOf(message.method ?? 'GET', route, url.searchParams);
  authorize(user, verb, route, url.pathname);
  return { message, url, user, route, verb };
}

function userOf(tokens: ReadonlyMap<string, string>, authorization: string | undefined): string {
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return ANONYMOUS;
  const user = tokens.get(token);
  if (user === undefined) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
  return user;
}

function verbOf(method: string, route: Route | undefined, query: URLSearchParams): Verb {
  const named = route?.kind === 'resource' && route.name !== undefined;
  switch (method) {
    case 'GET':
      if (named || route?.kind !== 'resource') return 'get';
      return isSet(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      throw methodNotAllowed();
  }
}

/** Answers a request; `undefined` when a watch has taken the response over. */
export async function answer(
  context: HandlerContext,
  asked: Asked,
  response: ServerResponse,
): Promise<Answer | undefined> {
  const { route, message } = asked;
  if (route === undefined) return NOT_FOUND;
  if (route.kind !== 'resource') {
    if (message.method !== 'GET') throw methodNotAllowed();
    return about(context.store, route, asked.url, message);
  }
  const misplaced = checkPlace(context.store, route, message.method ?? 'GET');
  if (misplaced !== undefined) return misplaced;
  const bytes = await readBytes(message);
  if (asked.verb === 'watch') {
    streamWatch(context, asked, route, response);
    return undefined;
  }
  return execute(context, asked, route, asked.verb, bytes);
}

/** The paths that exist: by group and version, and by the scope of the kind. */
function checkPlace(store: EmbeddedStore, route: ResourceRoute, method: string): Answer | undefined {
  const { resource, namespace, name } = route;
  if (!isServed(store, resource)) return NOT_FOUND;
  const kind = store.kinds().find((each) => isOf(each, route));
  if (kind === undefined || !kind.versions.some((version) => version.name === resource.version)) {
    if (resource.plural === 'selfsubjectaccessreviews') return undefined;
    // A group that definitions have made has no path for what is not defined.
    if (store.kinds().some((each) => each.traits.custom && each.resource.group === resource.group))
      return NOT_FOUND;
    throw unknownResource();
  }
  if (!kind.resource.namespaced) return namespace === undefined ? undefined : NOT_FOUND;
  if (namespace !== undefined) return undefined;
  if (name !== undefined) return NOT_FOUND;
  if (method === 'GET') return undefined;
  if (kind.traits.custom && method === 'POST') return NOT_FOUND;
  throw methodNotAllowed();
}

async function execute(
  context: HandlerContext,
  asked: Asked,
  route: ResourceRoute,
  verb: StoreRequest['verb'],
  bytes: Buffer,
): Promise<Answer> {
  const { store, clock } = context;
  const { message, url } = asked;
  const query = url.searchParams;
  const kind = store.kinds().find((each) => isOf(each, route));
  const form = formOf(message.headers.accept, {
    custom: kind?.traits.custom === true,
    list: route.name === undefined && verb === 'list',
  });
  if (verb === 'list' && query.has('sendInitialEvents')) throw initialEventsForbidden();
  const request = requestOf(store, asked, route, verb, bytes);
  let response = store.execute(request);
  if (response.code === 504 && response.body['reason'] === 'Timeout') {
    // A resourceVersion of the future may become the present.
    await clock.sleep(FUTURE_WAIT_MS);
    response = store.execute(request);
  }
  const included = (query.get('includeObject') ?? 'Metadata') as Included;
  const target = request.subresource === 'scale' ? undefined : store.target(request);
  const answered = answerOf(target, response, form, included, store.now());
  const pretty =
    query.get('pretty') === 'true' || message.headers['user-agent']?.startsWith('curl/') === true;
  return pretty ? { ...answered, body: `${JSON.stringify(JSON.parse(answered.body), null, 2)}\n` } : answered;
}

function isOf({ resource }: Kind, route: ResourceRoute): boolean {
  return resource.group === route.resource.group && resource.plural === route.resource.plural;
}

function initialEventsForbidden(): StatusError {
  const error = fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  return invalidOptions('ListOptions', error);
}

const FUTURE_WAIT_MS = 3_000;

function requestOf(
  store: EmbeddedStore,
  { message, url, user }: Asked,
  route: ResourceRoute,
  verb: StoreRequest['verb'],
  bytes: Buffer,
): StoreRequest {
  const { resource, namespace, name, subresource } = route;
  const contentType = message.headers['content-type'];
  const base: StoreRequest = {
    verb,
    resource,
    user,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  const kind = store.target(base)?.kind;
  const options = (body?: unknown) => readOptions(verb, url.searchParams, body);
  const kindName = kind?.resource.kind ?? resource.plural;
  switch (verb) {
    case 'get':
    case 'list':
      return { ...base, options: options() };
    case 'patch': {
      const patchType = patchTypeOf(contentType, kind?.traits.custom === true);
      // An object that is not there is missed before its patch is read.
      const found = store.execute({ ...base, verb: 'get' });
      if (found.code === 404) return { ...base, patchType, options: options() };
      return { ...base, patchType, options: options(), body: parsePatch(bytes, patchType) };
    }
    case 'delete':
    case 'deletecollection': {
      if (bytes.length === 0) return { ...base, options: options() };
      return { ...base, options: options(parseObject(bytes, contentType, 'DeleteOptions')) };
    }
    default:
      return { ...base, options: options(), body: parseObject(bytes, contentType, kindName) };
  }
}

/** A refusal as an answer. Anything else is a defect of this server, which says so and goes on serving. */
export function refusal(error: unknown): Answer {
  if (!(error instanceof StatusError)) {
    const text = error instanceof Error ? error.message : String(error);
    return refusal(new StatusError(500, 'InternalError', `Internal error occurred: ${text}`));
  }
  const answered = jsonAnswer(error.code, error.body);
  if (error instanceof Forbidden) return { ...answered, headers: { 'X-Content-Type-Options': 'nosniff' } };
  return error.code === 504 ? { ...answered, headers: { 'Retry-After': '1' } } : answered;
}
