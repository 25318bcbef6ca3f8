import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import { type ParsedNotice, parseNotice } from './notice.ts';
import { refuseSignature } from './signature.ts';

export interface WebhookServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The secret of an active key of a cluster. */
  readonly secretOf: (cluster: string, keyId: string) => Uint8Array | undefined;
  /** Takes a notice over; a rejection makes the sender try again. */
  readonly accept: (parsed: ParsedNotice) => Promise<void>;
  /** 0 for a free one. */
  readonly port?: number;
  readonly host?: string;
}

/** The ingest door, listening. */
export interface WebhookServer {
  /** `http://host:port`; a cluster's door is `<url>/v1/notices/<cluster>/<keyId>`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** An answer before it is sent: what a sender reads, on one line. */
interface Reply {
  readonly status: number;
  readonly error?: string;
}

const BODY_BYTES_MAX = 20_000;
// A refused body is read to this size, so that the sender sees the answer and not a broken connection.
const DRAIN_BYTES_MAX = 1_000_000;
const REQUEST_TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;
const PATH = /^\/v1\/notices\/([a-z0-9][-a-z0-9.]{0,252})\/([\w-]{1,64})$/;

/**
 * Listens for signed notices. The raw body is verified before anything reads it; an answer is 202 with the server's
 * clock, or a one-line reason: 401 not signed or not in time, 413 too large, 400 no notice.
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { clock, host = '127.0.0.1', port = 0 } = options;
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answer(options, request)
      // A sender that went away while it was sending; nobody is left to answer.
      .catch((): Reply => ({ status: 400, error: 'the request broke off' }))
      .then((reply) => send(response, reply, clock.now()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server that listens has one
  return { url: `http://${host}:${address.port}`, stop: () => stop(server) };
}

async function answer(options: WebhookServerOptions, request: IncomingMessage): Promise<Reply> {
  const { clock, log, secretOf } = options;
  const body = await readBody(request);
  const [path = ''] = (request.url ?? '').split('?', 1);
  const [, cluster, keyId] = PATH.exec(path) ?? [];
  if (cluster === undefined || keyId === undefined) return { status: 404, error: 'no such door' };
  if (request.method !== 'POST') return { status: 405, error: 'only POST' };
  if (body === undefined) return { status: 413, error: `larger than ${BODY_BYTES_MAX} bytes` };
  const headers = {
    id: request.headersDistinct['webhook-id'] ?? [],
    timestamp: request.headersDistinct['webhook-timestamp'] ?? [],
    signature: request.headersDistinct['webhook-signature'] ?? [],
  };
  const refused = refuseSignature({ headers, body, secret: secretOf(cluster, keyId), now: clock.now() });
  if (refused !== undefined) {
    log.warn('webhook.refused', { cluster, reason: refused });
    return { status: 401, error: refused };
  }
  return await take(options, cluster, body.toString('utf8'));
}

async function take(options: WebhookServerOptions, cluster: string, text: string): Promise<Reply> {
  const { log, accept } = options;
  let parsed: ParsedNotice;
  try {
    parsed = parseNotice(text);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    log.warn('webhook.malformed', { cluster, reason: error.message });
    return { status: 400, error: error.message };
  }
  if (parsed.key.cluster !== cluster) return { status: 400, error: "the notice is another cluster's" };
  try {
    await accept(parsed);
  } catch (error) {
    log.error('webhook.not-accepted', { cluster, cause: error instanceof Error ? error.message : 'unknown' });
    return { status: 503, error: 'cannot take it now' };
  }
  return { status: 202 };
}

/** The body's bytes; `undefined` when there are too many. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer: Buffer = chunk;
    bytes += buffer.length;
    if (bytes > DRAIN_BYTES_MAX) return undefined;
    if (bytes <= BODY_BYTES_MAX) chunks.push(buffer);
  }
  return bytes > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks);
}

function send(response: ServerResponse, reply: Reply, now: number): void {
  const body = JSON.stringify({ ...(reply.error === undefined ? {} : { error: reply.error }), now });
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(reply.status === 405 ? { allow: 'POST' } : {}),
    ...(reply.status === 503 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
  });
  response.end(body);
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
