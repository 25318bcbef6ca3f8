import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { Resource, WatchEvent } from './api.ts';
import type { Call } from './call.ts';
import { WatchError } from './errors.ts';
import { codeOf } from './http.ts';
import { isRecord, parseRecord } from './json.ts';
import { asObject } from './objects.ts';
import { failureOf, unknownFailure } from './outcome.ts';

const LINE_CHARACTERS_MAX = 8 * 1024 * 1024;

/** The events of an open watch until it ends or `signal` aborts. Rejects with WatchError when it breaks off. */
export async function* readWatch(
  call: Call,
  message: IncomingMessage,
  signal: AbortSignal,
): AsyncIterable<WatchEvent> {
  try {
    // Leaving the loop early, whoever does it, ends the message and with it the connection.
    for await (const line of readLines(call, message)) {
      if (signal.aborted) return;
      if (line.trim() !== '') yield readEvent(call, line);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof WatchError ? error : new WatchError(unknownFailure(call, codeOf(error)));
  }
}

async function* readLines(call: Call, message: IncomingMessage): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of message) {
    const buffer: Buffer = chunk;
    const lines = (rest + decoder.write(buffer)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) throw new WatchError(unknownFailure(call, 'a line is too long'));
    yield* lines;
  }
  if (rest.trim() !== '') throw new WatchError(unknownFailure(call, 'cut off within a line'));
}

function readEvent(call: Call, line: string): WatchEvent {
  const event = parseRecord(line);
  const read = event === undefined ? undefined : toEvent(call, call.resource, event);
  if (read === undefined) throw new WatchError(unknownFailure(call, 'a line is no watch event'));
  return read;
}

function toEvent(call: Call, resource: Resource, event: Record<string, unknown>): WatchEvent | undefined {
  const { type, object } = event;
  if (type === 'ERROR') return errorEvent(call, object);
  if (type === 'BOOKMARK') {
    const metadata = isRecord(object) ? object['metadata'] : undefined;
    const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
    return typeof version === 'string' ? { type, resourceVersion: version } : undefined;
  }
  const read = asObject(resource, object);
  if (read === undefined || (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED')) return undefined;
  return { type, object: read };
}

/** An error inside the stream is a Status, as the answer's body would have been. */
function errorEvent(call: Call, status: unknown): WatchEvent {
  const code = isRecord(status) && typeof status['code'] === 'number' ? status['code'] : 500;
  const { message } = failureOf(call, { status: code, headers: {}, body: JSON.stringify(status) ?? '' });
  return { type: 'ERROR', code, message };
}
