import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TerminalError } from '../errors.ts';

/** What a kubelet and a Prometheus ask of a process. */
export interface Health {
  /** Why it should be started anew, in one line; `undefined` while it works. */
  readonly dead: () => string | undefined;
  /** Why it cannot do its work yet; `undefined` once it can. */
  readonly unready: () => string | undefined;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface HealthServer {
  /** `http://host:port`. */
  readonly url: string;
  stop(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** Answers /livez, /readyz and /metrics; everything else is 404. Rejects with TerminalError when the port is not to be had. */
export async function serveHealth(
  { host, port }: { readonly host: string; readonly port: number },
  health: Health,
): Promise<HealthServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, ({ method, url = '' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') return say(response, 405, 'only GET');
    const [path] = url.split('?', 1);
    switch (path) {
      case '/livez':
        return answer(response, health.dead());
      case '/readyz':
        return answer(response, health.unready());
      case '/metrics':
        return void expose(response, health);
      default:
        return say(response, 404, 'there are /livez, /readyz and /metrics');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const code = 'code' in error ? String(error.code) : 'unknown';
      reject(new TerminalError(`cannot listen on ${host}:${port}: ${code}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const { port: actual, family } = server.address() as AddressInfo; // a TCP server that listens has one
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return {
    url: `http://${family === 'IPv6' && name.includes(':') ? `[${name}]` : name}:${actual}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, problem: string | undefined): void {
  say(response, problem === undefined ? 200 : 503, problem ?? 'ok');
}

async function expose(response: ServerResponse, health: Health): Promise<void> {
  try {
    const { contentType, text } = await health.metrics();
    response.writeHead(200, { 'content-type': contentType }).end(text);
  } catch (error) {
    say(response, 500, error instanceof Error ? error.message : 'unknown');
  }
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
