import { createHmac, timingSafeEqual } from 'node:crypto';
import { TerminalError } from '../errors.ts';

/** What is signed: Standard Webhooks 1.0, `id.timestamp.rawBody`. */
export interface SignedContent {
  readonly id: string;
  /** Epoch seconds, as the header spells them. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/** The three headers, each exactly as often as it came. */
export interface SignatureHeaders {
  readonly id: readonly string[];
  readonly timestamp: readonly string[];
  readonly signature: readonly string[];
}

export interface Verification {
  readonly headers: SignatureHeaders;
  /** The body's bytes as received: what a parser makes of them is not what was signed. */
  readonly body: Uint8Array;
  /** The secret the URL's key id names; `undefined` for a key that is not active. */
  readonly secret: Uint8Array | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** How old and how far in the future a timestamp may be. */
export const AGE_MAX_SECONDS = 300;
export const AHEAD_MAX_SECONDS = 60;
const ID_CHARACTERS_MAX = 256;
const SIGNATURES_MAX = 10;
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
// The one spelling of 32 bytes in base64: 43 characters and the padding.
const MAC = /^v1,([A-Za-z0-9+/]{43}=)$/;
// Compared with when there is no secret, so that an unknown key takes as long as a known one.
const NO_SECRET = new Uint8Array(SECRET_BYTES_MIN);

/** The secret that `whsec_<base64>` spells. Throws TerminalError unless it has 24 to 64 bytes; the message holds none of it. */
export function parseSecret(text: string): Uint8Array {
  const encoded = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : '';
  const secret = Buffer.from(encoded, 'base64');
  const isSpelledRight = encoded !== '' && secret.toString('base64') === encoded;
  if (!isSpelledRight || secret.length < SECRET_BYTES_MIN || secret.length > SECRET_BYTES_MAX) {
    throw new TerminalError('a signing secret must be whsec_ and the base64 of 24 to 64 bytes');
  }
  return secret;
}

/** The signature header's value for `content`: `v1,<base64>`. */
export function sign(content: SignedContent, secret: Uint8Array): string {
  return `v1,${mac(content, secret).toString('base64')}`;
}

/** Why a request is refused, in one line; `undefined` when it is signed, in time and by a key that is active. */
export function refuseSignature(verification: Verification): string | undefined {
  const { headers, body, secret, now } = verification;
  const [id, timestamp, signature] = [only(headers.id), only(headers.timestamp), only(headers.signature)];
  if (id === undefined || timestamp === undefined || signature === undefined) return 'not signed';
  // A dot would let a part of the id pass for a timestamp.
  if (id === '' || id.length > ID_CHARACTERS_MAX || id.includes('.')) return 'webhook-id is malformed';
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is malformed';
  const ageSeconds = Math.floor(now / 1_000) - Number(timestamp);
  if (ageSeconds > AGE_MAX_SECONDS) return `signed more than ${AGE_MAX_SECONDS} s ago`;
  if (ageSeconds < -AHEAD_MAX_SECONDS) return `signed more than ${AHEAD_MAX_SECONDS} s in the future`;
  const right = mac({ id, timestamp, body }, secret ?? NO_SECRET);
  // Every one is compared: how long it takes does not tell which one fits.
  const fits = signature
    .split(' ', SIGNATURES_MAX)
    .map((entry) => isMac(entry, right))
    .includes(true);
  return fits && secret !== undefined ? undefined : 'no signature fits';
}

function isMac(entry: string, right: Buffer): boolean {
  const encoded = MAC.exec(entry)?.[1] ?? '';
  const given = Buffer.from(encoded, 'base64');
  // The last character can spell the same bytes in four ways: only one of them is ours.
  return (
    given.length === right.length && timingSafeEqual(given, right) && given.toString('base64') === encoded
  );
}

function mac({ id, timestamp, body }: SignedContent, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The header's value when it came exactly once. */
function only(values: readonly string[]): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}
