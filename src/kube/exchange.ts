import type { IncomingMessage } from 'node:http';
import type { Clock, Random } from '../clock.ts';
import type { Outcome } from './api.ts';
import type { Cluster } from './auth/cluster.ts';
import { type Call, describeCall } from './call.ts';
import { ConnectionError, codeOf, createHttp, type HttpRequest } from './http.ts';
import { type Answer, failureOf, serverTimeOf, unknownFailure } from './outcome.ts';

/** A request before the client's own headers were added. */
export type PlainRequest = Omit<HttpRequest, 'headers'> & {
  readonly accept: string;
  readonly contentType?: string;
};

/** Requests with everything that is the same for all of them: the token, its one refresh, waits and deadlines. */
export interface Exchange {
  /** The body of a 2xx answer, or what became of the request. Never rejects. */
  send(call: Call, request: PlainRequest): Promise<Outcome<string>>;
  /** The head of a 200 answer, its body still to be read. Never waits: who reads a stream has its own back-off. */
  open(call: Call, request: PlainRequest, signal: AbortSignal): Promise<Outcome<IncomingMessage>>;
  /** Drops the idle connections. */
  close(): void;
}

export interface ExchangeOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** For one request, its answer's last byte included. */
  readonly deadlineMs: number;
}

const THROTTLE_WAITS_MAX = 3;
// A pass inside a function must not sleep longer than this: beyond it the queue waits instead.
const THROTTLE_WAIT_MAX_MS = 2_000;
/** Also where the server says that it may be asked again at once. */
const THROTTLE_WAIT_MIN_MS = 1_000;
const THROTTLE_SPREAD_MS = 250;
const USER_AGENT = 'everwarm';

/** An exchange with one cluster over one pool of connections. */
export function createExchange(options: ExchangeOptions): Exchange {
  const { cluster, clock, random, deadlineMs } = options;
  const http = createHttp(cluster, clock);

  /** One try. `refresh` asks for a new token. */
  async function attempt<T>(
    call: Call,
    request: PlainRequest,
    refresh: boolean,
    run: (request: HttpRequest) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    let token: string | undefined;
    try {
      token = await cluster.token(refresh);
    } catch (error) {
      // An exec plugin prints what it likes to its error output, and Node's messages quote it: the code alone is safe.
      return { kind: 'unauthorized', message: `${describeCall(call)}: no credentials (${codeOf(error)})` };
    }
    try {
      return await run({ ...request, headers: headersOf(request, token) });
    } catch (error) {
      return unknownFailure(call, error instanceof ConnectionError ? error.code : codeOf(error));
    }
  }

  /** A token that was refused is renewed once. */
  async function authorized<T>(
    call: Call,
    request: PlainRequest,
    run: (request: HttpRequest) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const first = await attempt(call, request, false, run);
    return first.kind === 'unauthorized' ? await attempt(call, request, true, run) : first;
  }

  return {
    async send(call, request) {
      for (let waits = 0; ; waits += 1) {
        const outcome = await authorized(call, request, async (full) =>
          bodyOf(call, await http.send(full, deadlineMs), clock),
        );
        if (outcome.kind !== 'throttled' || waits === THROTTLE_WAITS_MAX) return outcome;
        if (outcome.retryAfterMs > THROTTLE_WAIT_MAX_MS) return outcome;
        const waitMs = Math.max(outcome.retryAfterMs, THROTTLE_WAIT_MIN_MS);
        await clock.sleep(waitMs + random() * THROTTLE_SPREAD_MS);
      }
    },
    open: (call, request, signal) =>
      authorized(call, request, async (full) => {
        const opened = await http.open(full, deadlineMs, signal);
        if ('status' in opened) return failureOf(call, opened);
        return { kind: 'ok', value: opened, serverTime: serverTimeOf(opened.headers, clock.now()) };
      }),
    close: () => http.close(),
  };
}

function bodyOf(call: Call, answer: Answer, clock: Clock): Outcome<string> {
  const { status, headers, body } = answer;
  if (status < 200 || status > 299) return failureOf(call, answer);
  return { kind: 'ok', value: body, serverTime: serverTimeOf(headers, clock.now()) };
}

function headersOf(request: PlainRequest, token: string | undefined): Record<string, string> {
  return {
    accept: request.accept,
    'user-agent': USER_AGENT,
    ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}
