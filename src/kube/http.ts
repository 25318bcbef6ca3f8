import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Cluster } from './auth/cluster.ts';
import type { Answer } from './outcome.ts';

/** One HTTP request. `path` is below the server's URL, query included. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether sending it twice comes to the same: only then is it repeated after a dead idle socket. */
  readonly repeatable: boolean;
}

/** Requests to one server over one pool of kept connections. Redirects are answers like any other: not followed. */
export interface Http {
  /** The whole answer, within `deadlineMs`. Rejects with ConnectionError. */
  send(request: HttpRequest, deadlineMs: number): Promise<Answer>;
  /**
   * The head of a 200 answer within `deadlineMs`, its body still to be read until `signal` aborts; any other answer
   * whole. Rejects with ConnectionError.
   */
  open(request: HttpRequest, deadlineMs: number, signal: AbortSignal): Promise<IncomingMessage | Answer>;
  /** Drops the idle connections. */
  close(): void;
}

/** No answer, or half of one. `code` is Node's or one of ours; it holds nothing of what was sent. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;
  /** The request went out on a kept connection that the server had already given up, and no byte came back. */
  readonly deadIdleSocket: boolean;

  constructor(code: string, deadIdleSocket = false) {
    super(code);
    this.code = code;
    this.deadIdleSocket = deadIdleSocket;
  }
}

const IDLE_SOCKETS_MAX = 16;
const TCP_KEEP_ALIVE_MS = 30_000;
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Node's own client, not undici: it says whether a request went out on a reused socket, which is what tells a dead
 * idle connection from a request that was lost half way, and it costs a function's cold start nothing.
 */
export function createHttp(cluster: Cluster, clock: Clock): Http {
  if (!URL.canParse(cluster.server)) throw new TerminalError("the API server's address is no URL");
  const server = new URL(cluster.server);
  if (server.protocol !== 'https:' && !(server.protocol === 'http:' && LOOPBACK.has(server.hostname))) {
    throw new TerminalError('the API server must be https (or http on the loopback address)');
  }
  const agent = createAgent(server, cluster);
  const base = {
    hostname: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port,
    agent,
  };
  const prefix = server.pathname.replace(/\/$/, '');
  const start = (request: HttpRequest, signal: AbortSignal): ClientRequest => {
    const headers = { ...request.headers, ...contentLength(request.body) };
    const options: RequestOptions = {
      ...base,
      method: request.method,
      path: prefix + request.path,
      headers,
      signal,
    };
    return server.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
  };
  const open = async (request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    try {
      return await head(start(request, signal), request.body);
    } catch (error) {
      const isDead = error instanceof ConnectionError && error.deadIdleSocket && !signal.aborted;
      if (!isDead || !request.repeatable) throw error;
      // The idle connections share the fate of this one (a frozen process, a restarted server): take a new one.
      dropIdle(agent);
      return await head(start(request, signal), request.body);
    }
  };
  return {
    send: (request, deadlineMs) =>
      within(clock, deadlineMs, undefined, async (signal) => answerOf(await open(request, signal))),
    open: (request, deadlineMs, signal) =>
      within(clock, deadlineMs, signal, async (both) => {
        const message = await open(request, both);
        return message.statusCode === 200 ? message : await answerOf(message);
      }),
    close: () => dropIdle(agent),
  };
}

/** Resolves with the answer's head. */
function head(request: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays for good: an error after the head is the body reader's business and must not end the process.
    request.on('error', (error) => {
      const code = codeOf(error);
      reject(new ConnectionError(code, request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')));
    });
    request.end(body);
  });
}

async function answerOf(message: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = message;
  return { status, headers, body: await readBody(message) };
}

/** The whole body as text. Rejects with ConnectionError when it breaks off or is too large. */
async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message) {
      const buffer: Buffer = chunk;
      bytes += buffer.length;
      if (bytes > ANSWER_BYTES_MAX) throw new ConnectionError('answer too large');
      chunks.push(buffer);
    }
  } catch (error) {
    throw error instanceof ConnectionError ? error : new ConnectionError(codeOf(error));
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Runs `work` under a signal that aborts at the deadline or with `outer`; what it was doing then fails as a time-out. */
async function within<T>(
  clock: Clock,
  deadlineMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const cancel = clock.after(deadlineMs, () => deadline.abort());
  const signal = outer === undefined ? deadline.signal : AbortSignal.any([deadline.signal, outer]);
  try {
    return await work(signal);
  } catch (error) {
    throw deadline.signal.aborted ? new ConnectionError(`no answer within ${deadlineMs} ms`) : error;
  } finally {
    cancel();
  }
}

/** Node's code for an error: its message may hold an address, and nobody promises that it holds no more. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'connection failed';
}

function createAgent(server: URL, cluster: Cluster): HttpAgent {
  const pool = {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEP_ALIVE_MS,
    maxFreeSockets: IDLE_SOCKETS_MAX,
    scheduling: 'lifo' as const,
  };
  if (server.protocol === 'http:') return new HttpAgent(pool);
  const { ca, cert, key, serverName, skipTlsVerify } = cluster;
  return new HttpsAgent({
    ...pool,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(skipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  });
}

function dropIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

function contentLength(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
}
