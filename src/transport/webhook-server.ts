import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NO_METRICS } from '../telemetry/metrics.ts';
import { BODY_BYTES_MAX, createDoor, type Door, type DoorOptions, type Reply } from './door.ts';
import type { ParsedNotice } from './notice.ts';

export interface WebhookServerOptions extends Pick<DoorOptions, 'clock' | 'log'> {
  /** The secret of an active key of a cluster. */
  readonly secretOf: (cluster: string, keyId: string) => Uint8Array | undefined;
  /** Which pools are served; all of them unless said otherwise. */
  readonly serves?: DoorOptions['serves'];
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

// A refused body is read to this size, so that the sender sees the answer and not a broken connection.
const DRAIN_BYTES_MAX = 1_000_000;
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Listens for signed notices. The raw body is verified before anything reads it; an answer is 202 with the server's
 * clock, or a one-line reason: 401 not signed or not in time, 413 too large, 400 no notice.
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { clock, log, host = '127.0.0.1', port = 0, secretOf, serves = () => true } = options;
  const door = createDoor({
    clock,
    log,
    metrics: NO_METRICS,
    serves,
    secretOf: async (cluster, keyId) => secretOf(cluster, keyId),
    // Whoever runs in one process with the forwarder needs no sign of life from it.
    accept: async (message) => (message.kind === 'notice' ? await options.accept(message) : undefined),
  });
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answer(door, request)
      // A sender that went away while it was sending; nobody is left to answer.
      .catch(
        (): Reply => ({
          status: 400,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ error: 'the request broke off', now: clock.now() }),
        }),
      )
      .then((reply) => send(response, reply));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server that listens has one
  return { url: `http://${host}:${address.port}`, stop: () => stop(server) };
}

async function answer(door: Door, request: IncomingMessage): Promise<Reply> {
  const body = await readBody(request);
  const [path = ''] = (request.url ?? '').split('?', 1);
  const headers = {
    id: request.headersDistinct['webhook-id'] ?? [],
    timestamp: request.headersDistinct['webhook-timestamp'] ?? [],
    signature: request.headersDistinct['webhook-signature'] ?? [],
  };
  return await door.answer({ method: request.method ?? '', path, headers, body });
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

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
