import type { IncomingMessage } from 'node:http';
import { notImplemented } from '../status.ts';
import type { EmbeddedStore } from '../store.ts';
import { type Answer, jsonAnswer, NOT_FOUND } from './answer.ts';
import { coreVersions, groupList, groupOf, resourceList, VERSION } from './discovery.ts';
import { hashOf, openApiDocument, openApiIndex } from './openapi.ts';
import type { Route } from './path.ts';

const PLAIN = 'text/plain; charset=utf-8';

/** Answers what is asked about the server itself: discovery, version, OpenAPI, health. */
export function about(
  store: EmbeddedStore,
  route: Exclude<Route, { kind: 'resource' }>,
  url: URL,
  message: IncomingMessage,
): Answer {
  if (route.kind === 'groupVersion') return found(resourceList(store, route.group, route.version));
  if (route.kind === 'group') return found(groupOf(store, route.group));
  switch (route.path) {
    case '/':
      return jsonAnswer(200, { paths: ['/api', '/apis', '/healthz', '/openapi/v3', '/version'] });
    case '/api':
      return jsonAnswer(200, coreVersions(message.headers.host ?? url.host));
    case '/apis':
      return jsonAnswer(200, groupList(store));
    case '/version':
      return jsonAnswer(200, VERSION);
    case '/healthz':
    case '/livez':
    case '/readyz':
      return { code: 200, contentType: PLAIN, body: 'ok' };
    case '/openapi/v2':
      throw notImplemented('OpenAPI v2');
    default:
      return openApi(store, route.path, message);
  }
}

function found(body: unknown): Answer {
  return body === undefined ? NOT_FOUND : jsonAnswer(200, body);
}

/** Documents carry their hash as ETag, so that a client asks for each once. */
function openApi(store: EmbeddedStore, path: string, message: IncomingMessage): Answer {
  const document = path === '/openapi/v3' ? openApiIndex(store) : documentAt(store, path);
  if (document === undefined) return NOT_FOUND;
  const body = JSON.stringify(document);
  const etag = `"${hashOf(body)}"`;
  const headers = { ETag: etag, Vary: 'Accept' };
  if (message.headers['if-none-match'] === etag)
    return { code: 304, contentType: 'application/json', body: '', headers };
  return { code: 200, contentType: 'application/json', body, headers };
}

function documentAt(store: EmbeddedStore, path: string): unknown {
  const match = /^\/openapi\/v3\/(?:api\/([^/]+)|apis\/([^/]+)\/([^/]+))$/.exec(path);
  if (match === null) return undefined;
  const [, coreVersion, group = '', version] = match;
  return openApiDocument(store, group, coreVersion ?? version ?? '');
}
