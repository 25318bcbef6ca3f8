import type { IncomingMessage } from 'node:http';
import { badRequest, notImplemented, StatusError } from '../status.ts';
import type { StoreRequest } from '../types.ts';
import { parseProtobuf } from './protobuf.ts';

const BODY_BYTES_MAX = 3_145_728;

/** Reads a request's body to its end; 413 for more than 3 MiB. */
export async function readBytes(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    const buffer: Buffer = chunk;
    bytes += buffer.length;
    // The rest is read and thrown away, so that the client gets to see the answer.
    if (bytes <= BODY_BYTES_MAX) chunks.push(buffer);
  }
  if (bytes <= BODY_BYTES_MAX) return Buffer.concat(chunks);
  const text = `Request entity too large: limit is ${BODY_BYTES_MAX}`;
  throw new StatusError(413, 'RequestEntityTooLarge', text);
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The object in the body of a POST, PUT or DELETE; 415 or 501 for a form that cannot be read. */
export function parseObject(bytes: Buffer, contentType: string | undefined, kind: string): unknown {
  const type = mediaType(contentType);
  if (type === '' || type === 'application/json') return parseJson(bytes, kind);
  if (type === PROTOBUF) return parseProtobuf(bytes);
  if (type === 'application/yaml') throw notImplemented('request bodies in YAML');
  throw unsupportedMedia(['application/json', 'application/yaml', PROTOBUF]);
}

const PATCH_TYPES: Readonly<Record<string, NonNullable<StoreRequest['patchType']>>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};
const APPLY = 'application/apply-patch+yaml';

/** The kind of patch that a Content-Type names. */
export function patchTypeOf(
  contentType: string | undefined,
  custom: boolean,
): NonNullable<StoreRequest['patchType']> {
  const type = mediaType(contentType);
  if (type === APPLY) throw notImplemented('server-side apply');
  const patchType = PATCH_TYPES[type];
  if (patchType !== undefined && !(custom && patchType === 'strategic')) return patchType;
  if (!custom) {
    throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
  }
  const accepted = Object.keys(PATCH_TYPES).filter((name) => PATCH_TYPES[name] !== 'strategic');
  throw unsupportedMedia([...accepted, APPLY]);
}

function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function unsupportedMedia(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** The patch in a body; 400 in the words of its kind when it is none. */
export function parsePatch(bytes: Buffer, patchType: NonNullable<StoreRequest['patchType']>): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    const prefix = patchType === 'strategic' ? '' : 'error decoding patch: ';
    throw badRequest(`${prefix}${jsonProblem(text)}`);
  }
}

/** The JSON in a body; 400 in the server's words when it is none. */
function parseJson(bytes: Buffer, kind: string): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${jsonProblem(text)} (${text === '' ? '<empty>' : text.slice(0, 200)})`,
    );
  }
}

function jsonProblem(text: string): string {
  return /[}\]"\w]\s*$/.test(text) && text.trim() !== '' && balanced(text)
    ? 'invalid character in JSON input'
    : 'unexpected end of JSON input';
}

function balanced(text: string): boolean {
  return text.split(/[{[]/).length === text.split(/[}\]]/).length;
}
