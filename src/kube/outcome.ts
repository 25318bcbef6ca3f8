import type { IncomingHttpHeaders } from 'node:http';
import type { Cause, Failure, FailureKind } from './api.ts';
import { type Call, describeCall } from './call.ts';
import { isRecord, parseRecord } from './json.ts';
import { publicMessage, type Redaction } from './redact.ts';

/** An HTTP answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The parts of a Status body that decide the outcome. A 429 and some 404s have none: they are plain text. */
interface Status {
  readonly message: string;
  readonly reason?: string;
  readonly causes: readonly Cause[];
}

const CAUSES_MAX = 10;
const RETRY_AFTER_DEFAULT_MS = 1_000;
const NO_STATUS: Status = { message: '', causes: [] };

/** What an answer that is no success came to. Its message repeats no body, header or token. */
export function failureOf(call: Call, answer: Answer): Failure {
  const status = readStatus(call, answer);
  const parts = [
    describeCall(call),
    [answer.status, status.reason].filter(Boolean).join(' '),
    status.message,
  ];
  const message = parts.filter((part) => part !== '').join(': ');
  if (answer.status === 429 || (answer.status === 503 && answer.headers['retry-after'] !== undefined)) {
    return { kind: 'throttled', message, retryAfterMs: retryAfterMs(answer.headers) };
  }
  return {
    kind: kindOf(answer.status, status.reason),
    message,
    ...(status.reason === undefined ? {} : { reason: status.reason }),
    ...(status.causes.length === 0 ? {} : { causes: status.causes }),
  };
}

/** A call whose fate nobody knows: it may have happened. `why` must hold nothing of a body or a header. */
export function unknownFailure(call: Call, why: string): Failure {
  return { kind: 'unknown', message: `${describeCall(call)}: ${why}` };
}

/** The server's clock when it answered, epoch ms; `fallback` when it does not say. */
export function serverTimeOf(headers: IncomingHttpHeaders, fallback: number): number {
  const at = headers.date === undefined ? Number.NaN : Date.parse(headers.date);
  return Number.isNaN(at) ? fallback : at;
}

function kindOf(code: number, reason: string | undefined): FailureKind {
  switch (code) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'notFound';
    case 408:
      return 'unknown';
    case 409:
      return reason === 'AlreadyExists' ? 'exists' : 'conflict';
    case 410:
      return 'expired';
    case 501:
      // The server does not know how: nothing happened, and asking again will not help.
      return 'invalid';
    default:
      return code >= 400 && code < 500 ? 'invalid' : 'unknown';
  }
}

/** `Retry-After` is a number of seconds or a date; the date is read against the server's own clock. */
function retryAfterMs(headers: IncomingHttpHeaders): number {
  const text = headers['retry-after'] ?? '';
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const ms = Date.parse(text) - Date.parse(headers.date ?? '');
  return Number.isNaN(ms) ? RETRY_AFTER_DEFAULT_MS : Math.max(0, ms);
}

function readStatus(call: Call, answer: Answer): Status {
  const body = parseRecord(answer.body);
  if (body === undefined || body['kind'] !== 'Status') return NO_STATUS;
  const redaction = redactionFor(call, answer.status);
  const { message, reason, details } = body;
  const causes = isRecord(details) && Array.isArray(details['causes']) ? details['causes'] : [];
  return {
    message: typeof message === 'string' ? publicMessage(message, redaction) : '',
    ...(typeof reason === 'string' && /^\w{1,64}$/.test(reason) ? { reason } : {}),
    causes: causes
      .filter(isRecord)
      .slice(0, CAUSES_MAX)
      .map((cause) => readCause(cause, redaction)),
  };
}

function readCause(cause: Record<string, unknown>, redaction: Redaction): Cause {
  const { field, reason, message } = cause;
  return {
    ...(typeof field === 'string' ? { field: publicMessage(field, redaction) } : {}),
    ...(typeof reason === 'string' ? { reason: publicMessage(reason, redaction) } : {}),
    ...(typeof message === 'string' ? { message: publicMessage(message, redaction) } : {}),
  };
}

/**
 * Validation and decoding errors quote what was sent, and so may any other. A 403 is spared, because what it quotes is
 * what one must know to grant it; not for the two kinds that are all values.
 */
function redactionFor(call: Call, code: number): Redaction {
  const { plural, kind, group } = call.resource;
  const isSecret = group === '' && (plural === 'secrets' || plural === 'configmaps');
  const names = [call.name, call.namespace, plural, kind].filter((name) => name !== undefined);
  return { quotes: isSecret || code !== 403, names };
}
