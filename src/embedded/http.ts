import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock, Random } from '../clock.ts';
import type { Answer } from './http/answer.ts';
import { makeIdentity } from './http/certificate.ts';
import { type Asked, answer, ask, type HandlerContext, refusal } from './http/handler.ts';
import { kubeconfigOf } from './http/kubeconfig.ts';
import type { EmbeddedStore } from './store.ts';

/** A request as the log has it. */
interface RequestSeen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly user: string;
  readonly verb: Asked['verb'];
}

/** A request and what was answered; a watch is logged when it opens. */
export interface RequestLogged extends RequestSeen {
  readonly code: number;
}

/** A scripted fault. `cut` breaks the connection: before the request is done, or after it, unanswered. */
export interface Fault {
  readonly delayMs?: number;
  readonly cut?: 'before' | 'after';
  readonly answer?: Answer;
}

export interface ServeOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Who each bearer token is. All of them may do everything. */
  readonly tokens: Readonly<Record<string, string>>;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly host?: string;
  readonly onRequest?: (request: RequestLogged) => void;
  readonly fault?: (request: RequestSeen) => Fault | undefined;
}

export interface EmbeddedServer {
  readonly url: string;
  readonly caPem: string;
  readonly port: number;
  /** A kubeconfig for one of the tokens, as JSON. */
  kubeconfig(token: string, namespace: string): string;
  /** Ends the open watches and stops listening. */
  close(): Promise<void>;
}

/** Serves a store over TLS with the wire protocol of the Kubernetes API. */
export async function serve(store: EmbeddedStore, options: ServeOptions): Promise<EmbeddedServer> {
  const { clock, random, host = '127.0.0.1' } = options;
  const identity = makeIdentity();
  const streams = new Set<() => void>();
  const tokens = new Map(Object.entries(options.tokens));
  const context: HandlerContext = { store, clock, random, tokens, streams };
  const server = createServer({ key: identity.keyPem, cert: identity.certPem }, (message, response) => {
    respond(context, options, message, response).catch(() => {
      // The client has gone away in the middle of its own request; there is nobody to tell.
      response.destroy();
    });
  });
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  const url = `https://${host}:${port}`;
  return {
    url,
    port,
    caPem: identity.caPem,
    kubeconfig: (token, namespace) => kubeconfigOf({ url, caPem: identity.caPem, token, namespace }),
    close: () => close(server, streams),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server, streams: ReadonlySet<() => void>): Promise<void> {
  for (const end of [...streams]) end();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // What is still being answered is done within the request's own turn; nothing else holds the server open.
    server.closeAllConnections();
  });
}

async function respond(
  context: HandlerContext,
  options: ServeOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  setHeaders(context, response);
  const log = (asked: Pick<Asked, 'user' | 'verb'>, code: number) =>
    options.onRequest?.({ ...seen(message, asked), code });
  let asked: Asked;
  try {
    asked = ask(context, message);
  } catch (error) {
    const refused = refusal(error);
    message.resume();
    send(response, refused);
    return log({ user: '', verb: 'get' }, refused.code);
  }
  const fault = options.fault?.(seen(message, asked));
  if (fault?.delayMs !== undefined) await context.clock.sleep(fault.delayMs);
  if (fault?.cut === 'before') return void message.socket.destroy();
  if (fault?.answer !== undefined) {
    message.resume();
    send(response, fault.answer);
    return log(asked, fault.answer.code);
  }
  const answered = await answer(context, asked, response).catch(refusal);
  log(asked, answered?.code ?? 200);
  if (fault?.cut === 'after') return void message.socket.destroy();
  if (answered !== undefined) send(response, answered);
}

function seen(message: IncomingMessage, { user, verb }: Pick<Asked, 'user' | 'verb'>): RequestSeen {
  return { method: message.method ?? '', path: message.url ?? '', user, verb };
}

const FLOW_HEADERS = ['X-Kubernetes-Pf-Flowschema-Uid', 'X-Kubernetes-Pf-Prioritylevel-Uid'];
const FLOW = '00000000-0000-4000-8000-000000000001';

function setHeaders({ clock, random }: HandlerContext, response: ServerResponse): void {
  response.sendDate = false;
  response.setHeader('Date', new Date(clock.now()).toUTCString());
  response.setHeader('Audit-Id', auditId(random));
  response.setHeader('Cache-Control', 'no-cache, private');
  for (const name of FLOW_HEADERS) response.setHeader(name, FLOW);
}

function auditId(random: Random): string {
  const word = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c] = [word(), word(), word() + word()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}`;
}

function send(response: ServerResponse, answered: Answer): void {
  const { code, contentType, body, headers = {} } = answered;
  // Where nobody was recognised, nobody's flow is counted.
  if (code === 401) for (const name of FLOW_HEADERS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  response.statusMessage = STATUS_CODES[code] ?? '';
  // Bytes and not text: a text would be joined with the head, and a list is half a megabyte.
  const bytes = Buffer.from(body);
  response.writeHead(code, { 'Content-Type': contentType, 'Content-Length': bytes.length });
  response.end(bytes);
}
