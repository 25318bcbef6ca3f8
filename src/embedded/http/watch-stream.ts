import type { ServerResponse } from 'node:http';
import type { Target } from '../core.ts';
import { unknownResource } from '../status.ts';
import { openWatch, type StreamEvent, type WatchParameters } from '../watch.ts';
import { type Form, formOf } from './accept.ts';
import { objectText } from './answer.ts';
import type { Asked, HandlerContext, ResourceRoute } from './handler.ts';
import { isSet, parseInteger, readOptions } from './query.ts';
import type { Included } from './table.ts';

/** A watcher that does not read is cut off before it fills the memory. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024;

/** Opens a watch and writes its events, one JSON line each, until it ends on either side. */
export function streamWatch(
  context: HandlerContext,
  asked: Asked,
  route: ResourceRoute,
  response: ServerResponse,
): void {
  const { store, clock, random, streams } = context;
  const form = formOf(asked.message.headers.accept);
  const parameters = parametersOf(asked, route);
  const target = store.target({ ...parameters, verb: 'list' });
  if (target === undefined) throw unknownResource();
  const included = (asked.url.searchParams.get('includeObject') ?? 'Metadata') as Included;
  const lines: string[] = [];
  let opened = false;
  let titled = true;
  let finished = false;
  const send = (line: string) => {
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
    else response.write(line);
  };
  const sink = {
    event: (event: StreamEvent) => {
      const line = `${eventText(target, event, form, included, store.now(), titled)}\n`;
      titled = false;
      // Until the request has proved sound nothing may be sent.
      if (opened) send(line);
      else lines.push(line);
    },
    end: () => {
      finished = true;
      if (opened) response.end();
    },
  };
  const stop = openWatch(store, parameters, sink, { clock, random });
  opened = true;
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.flushHeaders();
  const stream = () => {
    stop();
    response.end();
  };
  streams.add(stream);
  response.on('close', () => {
    stop();
    streams.delete(stream);
  });
  // The list's header on a watch is a mistake that the real server answers with an empty stream.
  if (form === 'PartialObjectMetadataList') stream();
  else for (const line of lines) send(line);
  if (finished) response.end();
}

function parametersOf({ url, user }: Asked, { resource, namespace }: ResourceRoute): WatchParameters {
  const query = url.searchParams;
  const { limit: _, ...options } = readOptions('list', query);
  const [initial, timeout] = [query.get('sendInitialEvents'), query.get('timeoutSeconds')];
  return {
    resource,
    user,
    options,
    ...(namespace === undefined ? {} : { namespace }),
    allowWatchBookmarks: isSet(query, 'allowWatchBookmarks'),
    ...(initial === null ? {} : { sendInitialEvents: isSet(query, 'sendInitialEvents') }),
    ...(timeout === null ? {} : { timeoutSeconds: parseInteger(timeout) }),
  };
}

function eventText(
  target: Target,
  event: StreamEvent,
  form: Form,
  included: Included,
  now: number,
  titled: boolean,
): string {
  const { type, object } = event;
  const text =
    type === 'ERROR' || (type === 'BOOKMARK' && form !== 'PartialObjectMetadata')
      ? JSON.stringify(object)
      : objectText(target, object, form, included, now, titled);
  return `{"type":"${type}","object":${text}}`;
}
