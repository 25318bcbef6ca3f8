import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Message, parseMessage, type Serves } from './message.ts';
import { createReplays } from './replays.ts';
import { refuseSignature, type SignatureHeaders } from './signature.ts';

export interface DoorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The secret of an active key of a cluster. A rejection makes the sender try again. */
  readonly secretOf: (cluster: string, keyId: string) => Promise<Uint8Array | undefined>;
  readonly serves: Serves;
  /** Takes a message over; a rejection makes the sender try again. */
  readonly accept: (message: Message) => Promise<void>;
}

/** One request, before anything in it is believed. */
export interface Knock {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly headers: SignatureHeaders;
  /** The body's bytes; `undefined` when there are more than `BODY_BYTES_MAX`. */
  readonly body: Uint8Array | undefined;
}

/** An answer before it is sent: what a sender reads, on one line. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers knocks: 202, or a one-line reason, each with the server's clock. */
export interface Door {
  answer(knock: Knock): Promise<Reply>;
}

/** Why a knock is not let in. `label` is what it is counted under. */
interface Refusal {
  readonly status: number;
  readonly label: 'path' | 'method' | 'size' | 'signature' | 'replay' | 'content' | 'later';
  readonly error: string;
  readonly cluster?: string;
}

export const BODY_BYTES_MAX = 20_000;
const RETRY_AFTER_SECONDS = 1;
const PATH = /^\/v1\/notices\/([a-z0-9][-a-z0-9.]{0,252})\/([\w-]{1,64})$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The ingest door. The raw body is verified before anything reads it. */
export function createDoor(options: DoorOptions): Door {
  const { clock, log, metrics } = options;
  const replays = createReplays(clock);
  return {
    async answer(knock) {
      const refusal = await admit(options, knock, replays);
      if (refusal !== undefined) {
        const { label, error, cluster } = refusal;
        metrics.add('NoticesRefused', 1, { reason: label });
        log.warn('webhook.refused', { cluster, reason: error });
      }
      return replyOf(refusal, clock.now());
    },
  };
}

async function admit(
  options: DoorOptions,
  knock: Knock,
  replays: ReturnType<typeof createReplays>,
): Promise<Refusal | undefined> {
  const [, cluster, keyId] = PATH.exec(knock.path) ?? [];
  if (cluster === undefined || keyId === undefined)
    return { status: 404, label: 'path', error: 'no such door' };
  if (knock.method !== 'POST') return { status: 405, label: 'method', error: 'only POST' };
  const { body, headers } = knock;
  if (body === undefined || body.length > BODY_BYTES_MAX) {
    return { status: 413, label: 'size', error: `larger than ${BODY_BYTES_MAX} bytes` };
  }
  let secret: Uint8Array | undefined;
  try {
    secret = await options.secretOf(cluster, keyId);
  } catch (error) {
    return later(options, 'webhook.no-keys', cluster, error);
  }
  const refused = refuseSignature({ headers, body, secret, now: options.clock.now() });
  if (refused !== undefined) {
    // Nobody vouches for the path either: only a cluster that is known is named.
    return { status: 401, label: 'signature', error: refused, ...(secret === undefined ? {} : { cluster }) };
  }
  const signature = headers.signature.join();
  if (replays.has(signature))
    return { status: 401, label: 'replay', error: 'let in already: replayed', cluster };
  const refusal = await take(options, cluster, body);
  // Only what was taken: a sender that was told to come again may do so within the same second.
  if (refusal === undefined) replays.add(signature);
  return refusal;
}

async function take(options: DoorOptions, cluster: string, body: Uint8Array): Promise<Refusal | undefined> {
  const content = (error: string): Refusal => ({ status: 400, label: 'content', error, cluster });
  let message: Message;
  try {
    message = parseMessage(decode(body));
  } catch (error) {
    if (error instanceof TerminalError) return content(error.message);
    throw error;
  }
  if (message.cluster !== cluster) return content("the notice is another cluster's");
  if (message.kind === 'notice' && !options.serves(message.key)) {
    return content('its platform or namespace is not served');
  }
  try {
    await options.accept(message);
    return undefined;
  } catch (error) {
    return later(options, 'webhook.not-accepted', cluster, error);
  }
}

function decode(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw new TerminalError('no notice: not UTF-8');
  }
}

function later({ log }: DoorOptions, event: string, cluster: string, error: unknown): Refusal {
  log.error(event, { cluster, cause: error instanceof Error ? error.message : 'unknown' });
  return { status: 503, label: 'later', error: 'cannot take it now', cluster };
}

function replyOf(refusal: Refusal | undefined, now: number): Reply {
  const status = refusal?.status ?? 202;
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 405 ? { allow: 'POST' } : {}),
      ...(status === 503 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
    },
    body: JSON.stringify({ ...(refusal === undefined ? {} : { error: refusal.error }), now }),
  };
}
