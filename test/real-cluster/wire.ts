import { Agent, request } from 'node:https';

/** Plain HTTP to one server as one user, for what Everwarm's own client never sends. */
export interface Wire {
  /** The whole answer. A body is sent as JSON unless its media type is said. Rejects when there is no answer. */
  send(method: string, path: string, body?: unknown, mediaType?: string): Promise<WireAnswer>;
  close(): void;
}

export interface WireAnswer {
  readonly status: number;
  readonly text: string;
}

export interface WireOptions {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

/** Kept connections of its own to `server`. */
export function createWire({ server, caPem, token }: WireOptions): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca: caPem });
  const { hostname, port } = new URL(server);
  return {
    send: (method, path, body, mediaType = 'application/json') =>
      new Promise((resolve, reject) => {
        const data = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(data === undefined
            ? {}
            : { 'content-type': mediaType, 'content-length': Buffer.byteLength(data) }),
        };
        const sent = request({ hostname, port, agent, method, path, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk: string) => {
            text += chunk;
          });
          answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }));
          answer.once('error', reject);
        });
        sent.once('error', reject);
        sent.end(data);
      }),
    close: () => agent.destroy(),
  };
}
