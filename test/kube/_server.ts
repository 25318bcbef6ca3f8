import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as the server saw it. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** 1 for the first request of its connection. */
  readonly ofConnection: number;
}

export interface TestServer {
  readonly url: string;
  readonly requests: readonly Seen[];
  readonly connections: () => number;
  /** The next request that nobody has asked for yet, as soon as it is there. */
  next(): Promise<Seen>;
}

type Respond = (response: ServerResponse, request: Seen, index: number) => void;

/** A server on a free port whose answers are `respond`'s business. It ends with the test. */
export async function serve(respond: Respond): Promise<TestServer> {
  const requests: Seen[] = [];
  const perConnection = new WeakMap<object, number>();
  let connections = 0;
  let asked = 0;
  let waiters: (() => void)[] = [];
  const server = createServer((request, response) => {
    const ofConnection = (perConnection.get(request.socket) ?? 0) + 1;
    perConnection.set(request.socket, ofConnection);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://test');
      const seen: Seen = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        ofConnection,
      };
      requests.push(seen);
      respond(response, seen, requests.length - 1);
      const waiting = waiters;
      waiters = [];
      for (const wake of waiting) wake();
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    async next() {
      for (;;) {
        const seen = requests[asked];
        if (seen !== undefined) {
          asked += 1;
          return seen;
        }
        await new Promise<void>((wake) => waiters.push(wake));
      }
    },
  };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A failed request's Status, as a real server writes it. */
export function status(
  code: number,
  reason: string,
  message: string,
  details: unknown = {},
): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details,
    code,
  };
}
