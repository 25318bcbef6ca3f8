import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { Caller } from './_program.ts';

/** A server under test: where it is, and the tokens of its administrator and of somebody without rights. */
export interface Endpoint {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly nobody: string;
}

/** A request as it goes over the wire. */
interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The administrator when not given. */
  readonly as?: Caller;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An open watch, whose lines are read as they come. */
export interface Watching {
  readonly reply: Omit<Reply, 'text'>;
  /** The lines so far and to come, up to the first that `isLast` or the end of the stream. */
  until(isLast: (line: string) => boolean): Promise<readonly string[]>;
  close(): void;
}

/** Keeps connections open to one server. */
export interface Wire {
  send(outgoing: Outgoing): Promise<Reply>;
  watch(outgoing: Outgoing): Promise<Watching>;
  close(): void;
}

export function connect(endpoint: Endpoint): Wire {
  const agent = new Agent({ keepAlive: true, ca: endpoint.caPem, maxSockets: 64 });
  return {
    send: async (outgoing) => {
      const message = await start(endpoint, agent, outgoing);
      return { status: message.statusCode ?? 0, headers: message.headers, text: await textOf(message) };
    },
    watch: async (outgoing) => watching(await start(endpoint, agent, outgoing)),
    close: () => agent.destroy(),
  };
}

function tokenOf({ token, nobody }: Endpoint, caller: Caller | undefined): string {
  switch (caller) {
    case undefined:
      return token;
    case 'nobody':
      return nobody;
    case 'impostor':
      return 'nobody-has-this-token';
    case 'anonymous':
      return '';
  }
}

function start(endpoint: Endpoint, agent: Agent, outgoing: Outgoing): Promise<IncomingMessage> {
  const { method, path, headers = {}, body } = outgoing;
  const token = tokenOf(endpoint, outgoing.as);
  const all: Record<string, string> = {
    'user-agent': 'conformance/1',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, endpoint.url), { method, agent, headers: all }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function watching(message: IncomingMessage): Watching {
  const lines: string[] = [];
  const waiters = new Set<() => void>();
  const tell = () => {
    for (const waiter of waiters) waiter();
  };
  let rest = '';
  let ended = false;
  const end = () => {
    if (rest !== '') lines.push(rest);
    rest = '';
    ended = true;
    tell();
  };
  message.setEncoding('utf8');
  message.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    tell();
  });
  message.on('end', end);
  // A stream that was closed from here ends with an error that says nothing.
  message.on('error', end);
  return {
    reply: { status: message.statusCode ?? 0, headers: message.headers },
    until: (isLast) =>
      new Promise((resolve) => {
        const look = () => {
          const last = lines.findIndex(isLast);
          if (last < 0 && !ended) return;
          waiters.delete(look);
          resolve(last < 0 ? [...lines] : lines.slice(0, last + 1));
        };
        waiters.add(look);
        look();
      }),
    close: () => message.destroy(),
  };
}
