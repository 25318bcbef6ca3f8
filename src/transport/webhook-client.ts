import type { Clock, Random } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Notice } from './notice.ts';
import { sign } from './signature.ts';

/** Sends notices, and signs of life, to the ingest door. */
export interface WebhookClient {
  /**
   * Sends until the door takes it: `accepted`. `refused` when it says that this message can never be taken (400, 413);
   * `stopped` when the client's signal aborted. Never rejects.
   */
  send(message: Notice | Heartbeat): Promise<'accepted' | 'refused' | 'stopped'>;
}

/** Who counts what the client goes through. */
interface WebhookObserver {
  /** A try failed, and there will be another one. */
  retried(): void;
  /** The door answered with its clock: how far ours is ahead of it. */
  replied(skewMs: number): void;
}

export interface WebhookClientOptions {
  /** The cluster's door, key id included. */
  readonly url: string;
  readonly secret: Uint8Array;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly observer?: WebhookObserver;
}

/** What one try came to. */
type Attempt =
  | { readonly kind: 'accepted' | 'refused' }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number };

const DEADLINE_MS = 10_000;
const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MAX_MS = 30_000;
const RETRY_AFTER_MAX_MS = 300_000;
const SKEW_WARN_MS = 60_000;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A client for one door. Throws TerminalError for a URL that is neither https nor on the loopback address. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  if (!URL.canParse(options.url)) throw new TerminalError('the webhook is no URL');
  const url = new URL(options.url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.has(url.hostname))) {
    throw new TerminalError('the webhook must be https (or http on the loopback address)');
  }
  return { send: (message) => sendUntilTaken(options, url, message) };
}

async function sendUntilTaken(
  options: WebhookClientOptions,
  url: URL,
  message: Notice | Heartbeat,
): ReturnType<WebhookClient['send']> {
  const { clock, random, log, signal } = options;
  const body = JSON.stringify(message);
  const what = 'subject' in message ? { pool: message.subject } : {};
  for (let failures = 1; !signal.aborted; failures += 1) {
    const attempt = await post(options, url, message.id, body);
    if (attempt.kind === 'refused') log.error('webhook.refused', what);
    if (attempt.kind !== 'failed') return attempt.kind;
    if (signal.aborted) break;
    const longest = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(failures - 1, 10));
    const waitMs = Math.round(attempt.retryAfterMs + random() * longest);
    complain(options, { ...what, why: attempt.why, failures, waitMs });
    await clock.sleep(waitMs, signal);
  }
  return 'stopped';
}

/** The 1st, 2nd, 4th, 8th … time: a door that is closed for a night does not fill the log. */
function complain(
  { log, observer }: WebhookClientOptions,
  fields: { readonly failures: number } & Parameters<Log['warn']>[1],
): void {
  observer?.retried();
  if (Number.isInteger(Math.log2(fields.failures))) log.warn('webhook.retry', fields);
}

/** One signed POST. It is signed anew at each try: an old signature would be refused as replayed. */
async function post(options: WebhookClientOptions, url: URL, id: string, body: string): Promise<Attempt> {
  const { clock, secret, signal } = options;
  const deadline = new AbortController();
  const cancel = clock.after(DEADLINE_MS, () => deadline.abort());
  const timestamp = String(Math.floor(clock.now() / 1_000));
  try {
    const response = await fetch(url, {
      method: 'POST',
      // A redirect would carry the signed body to whoever was named.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': sign({ id, timestamp, body }, secret),
      },
      body,
      signal: AbortSignal.any([deadline.signal, signal]),
    });
    learnSkew(await response.text(), options);
    return readAttempt(response);
  } catch {
    // Its message may hold the URL, and the URL the key's id: whether it was slow is all that is worth saying.
    const why = deadline.signal.aborted ? `no answer within ${DEADLINE_MS} ms` : 'no connection';
    return { kind: 'failed', why, retryAfterMs: 0 };
  } finally {
    cancel();
  }
}

function readAttempt({ status, headers }: Response): Attempt {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 400 || status === 413) return { kind: 'refused' };
  const seconds = headers.get('retry-after') ?? '';
  const retryAfterMs = /^\d{1,6}$/.test(seconds) ? Math.min(Number(seconds) * 1_000, RETRY_AFTER_MAX_MS) : 0;
  return { kind: 'failed', why: `status ${status}`, retryAfterMs };
}

/** The door says what time it is: beyond its tolerance it will refuse us, and somebody should know why. */
function learnSkew(reply: string, { clock, log, observer }: WebhookClientOptions): void {
  const theirs = /"now":(\d{1,16})\}?$/.exec(reply.slice(0, 1_000))?.[1];
  if (theirs === undefined) return;
  const skewMs = clock.now() - Number(theirs);
  observer?.replied(skewMs);
  if (Math.abs(skewMs) > SKEW_WARN_MS) log.warn('webhook.clock-skew', { skewMs });
}
