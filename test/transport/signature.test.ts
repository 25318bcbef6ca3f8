import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import { parseSecret, refuseSignature, type SignatureHeaders, sign } from '../../src/transport/signature.ts';
import { OTHER_SECRET, SECRET, SECRET_TEXT } from './_world.ts';

// The published example of Standard Webhooks: made by other hands than ours.
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const SIGNED_AT = 1_614_265_330;
const BODY = '{"test": 2432232314}';
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

const headers: SignatureHeaders = { id: [ID], timestamp: [String(SIGNED_AT)], signature: [SIGNATURE] };
const refused = (more: {
  headers?: Partial<SignatureHeaders>;
  body?: string;
  secret?: Uint8Array | undefined;
  ageSeconds?: number;
}): string | undefined =>
  refuseSignature({
    headers: { ...headers, ...more.headers },
    body: Buffer.from(more.body ?? BODY),
    secret: 'secret' in more ? more.secret : SECRET,
    now: (SIGNED_AT + (more.ageSeconds ?? 0)) * 1_000,
  });

describe('a signature', () => {
  it('is what every other implementation makes', () => {
    expect(sign({ id: ID, timestamp: String(SIGNED_AT), body: BODY }, SECRET)).toBe(SIGNATURE);
    expect(refused({})).toBeUndefined();
  });

  it('may stand among others while keys change', () => {
    const other = sign({ id: ID, timestamp: String(SIGNED_AT), body: BODY }, OTHER_SECRET);
    expect(refused({ headers: { signature: [`v1a,AAAA ${other} ${SIGNATURE}`] } })).toBeUndefined();
    expect(refused({ headers: { signature: [other] } })).toBe('no signature fits');
  });

  it.each([
    { title: 'five minutes old', ageSeconds: 300, answer: undefined },
    { title: 'a second older', ageSeconds: 301, answer: 'signed more than 300 s ago' },
    { title: 'a minute ahead', ageSeconds: -60, answer: undefined },
    { title: 'a second further', ageSeconds: -61, answer: 'signed more than 60 s in the future' },
  ])('that is $title: $answer', ({ ageSeconds, answer }) => {
    expect(refused({ ageSeconds })).toBe(answer);
  });

  it('made with nothing opens no door whose key is not active', () => {
    const signature = sign({ id: ID, timestamp: String(SIGNED_AT), body: BODY }, new Uint8Array(24));
    expect(refused({ secret: undefined, headers: { signature: [signature] } })).toBe('no signature fits');
  });

  it('of an empty body is a signature too', () => {
    const signature = sign({ id: ID, timestamp: String(SIGNED_AT), body: '' }, SECRET);
    expect(refused({ body: '', headers: { signature: [signature] } })).toBeUndefined();
    expect(refused({ body: '' })).toBe('no signature fits');
  });

  it.each([
    { title: 'by a key that is not active', change: { secret: undefined } },
    { title: 'by another key', change: { secret: OTHER_SECRET } },
    { title: 'of the same document spelled differently', change: { body: JSON.stringify(JSON.parse(BODY)) } },
    { title: 'for another id', change: { headers: { id: ['msg_other'] } } },
    { title: 'for another second', change: { headers: { timestamp: [String(SIGNED_AT + 1)] } } },
    { title: 'cut short', change: { headers: { signature: [SIGNATURE.slice(0, -5)] } } },
    { title: 'without its padding', change: { headers: { signature: [SIGNATURE.slice(0, -1)] } } },
    {
      title: 'in the other base64',
      change: { headers: { signature: [SIGNATURE.replace('+', '-').replace('/', '_')] } },
    },
    {
      title: 'whose last bits are spelled another way',
      change: { headers: { signature: [SIGNATURE.replace('E=', 'F=')] } },
    },
    { title: 'of another version', change: { headers: { signature: [SIGNATURE.replace('v1', 'v2')] } } },
    { title: 'in no list', change: { headers: { signature: [''] } } },
  ])('$title does not fit', ({ change }) => {
    expect(refused(change)).toBe('no signature fits');
  });

  it.each([
    { title: 'without a signature', change: { signature: [] } },
    { title: 'without an id', change: { id: [] } },
    { title: 'with two ids', change: { id: [ID, ID] } },
    { title: 'with two signatures in two headers', change: { signature: [SIGNATURE, SIGNATURE] } },
  ])('$title is none', ({ change }) => {
    expect(refused({ headers: change })).toBe('not signed');
  });

  it.each([
    { change: { id: [`${ID}.1`] }, answer: 'webhook-id is malformed' },
    { change: { id: [''] }, answer: 'webhook-id is malformed' },
    { change: { timestamp: ['1614265330.5'] }, answer: 'webhook-timestamp is malformed' },
    { change: { timestamp: ['-1'] }, answer: 'webhook-timestamp is malformed' },
    { change: { timestamp: ['1e9'] }, answer: 'webhook-timestamp is malformed' },
  ])('with odd headers is refused: $answer', ({ change, answer }) => {
    expect(refused({ headers: change })).toBe(answer);
  });
});

describe('a secret', () => {
  it('has 24 to 64 bytes', () => {
    expect(parseSecret(SECRET_TEXT)).toHaveLength(24);
    const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
    expect(parseSecret(of(64))).toHaveLength(64);
    for (const text of [of(23), of(65), of(0), SECRET_TEXT.slice(6), `${SECRET_TEXT}!`, 'whsec_canary']) {
      expect(() => parseSecret(text)).toThrow(TerminalError);
    }
  });

  it('is not in the message that refuses it', () => {
    expect(() => parseSecret('whsec_canary')).toThrow(
      /^a signing secret must be whsec_ and the base64 of 24 to 64 bytes$/,
    );
  });
});
