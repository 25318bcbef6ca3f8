import { request } from 'node:https';
import { systemClock, systemRandom } from '../../src/clock.ts';
import {
  type EmbeddedServer,
  type RequestLogged,
  type ServeOptions,
  serve,
} from '../../src/embedded/http.ts';
import type { StoreOptions } from '../../src/embedded/store.ts';
import { type Api, openApi } from './_api.ts';

export const TOKEN = 'test-token';

/** A served cluster, and raw requests to it. */
export interface Served {
  readonly api: Api;
  readonly server: EmbeddedServer;
  /** All requests so far. */
  readonly log: readonly RequestLogged[];
  send(method: string, path: string, more?: Sent): Promise<Received>;
  /** Reads the lines of a watch until there are `count`, then breaks it off. */
  watch(path: string, count: number, accept?: string): Promise<readonly unknown[]>;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** `null` sends none. */
  readonly token?: string | null;
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  json(): Record<string, unknown>;
}

export async function serveApi(
  options: Partial<ServeOptions> = {},
  storeOptions: Partial<StoreOptions> = {},
): Promise<Served> {
  const api = openApi(storeOptions);
  const log: RequestLogged[] = [];
  const server = await serve(api.store, {
    clock: systemClock,
    random: systemRandom,
    tokens: { [TOKEN]: 'admin' },
    onRequest: (entry) => log.push(entry),
    ...options,
  });
  return {
    api,
    server,
    log,
    send: (method, path, more = {}) => send(server, method, path, more),
    watch: (path, count, accept) => watch(server, path, count, accept),
  };
}

function headersOf({ headers, token = TOKEN, body }: Sent): Record<string, string> {
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
}

function send(server: EmbeddedServer, method: string, path: string, more: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const body = typeof more.body === 'string' ? more.body : (JSON.stringify(more.body) ?? '');
    const headers = { ...headersOf(more), 'content-length': String(Buffer.byteLength(body)) };
    const options = { method, ca: server.caPem, headers, agent: false };
    const outgoing = request(new URL(path, server.url), options, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('error', reject);
      message.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0 } = message;
        resolve({ status, headers: message.headers, text, json: () => JSON.parse(text) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function watch(
  server: EmbeddedServer,
  path: string,
  count: number,
  accept = 'application/json',
): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    const options = { ca: server.caPem, headers: headersOf({ headers: { accept } }), agent: false };
    const outgoing = request(new URL(path, server.url), options, (message) => {
      let text = '';
      const finish = () => {
        resolve(
          text
            .split('\n')
            .filter((line) => line !== '')
            .map((line): unknown => JSON.parse(line)),
        );
        outgoing.destroy();
      };
      message.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split('\n').length > count) finish();
      });
      message.on('end', finish);
      message.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
