import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** A server's TLS identity and the certificate of the authority that vouches for it, made for one run. */
export interface TlsIdentity {
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * Makes a certificate authority and a certificate for 127.0.0.1 and localhost. Both are valid from 2000 to 2099: the
 * server's clock may be a virtual one, the client's is not.
 */
export function makeIdentity(): TlsIdentity {
  const ca = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const caName = 'everwarm embedded cluster CA';
  const caDer = certificate(
    { subject: caName, issuer: caName, publicKey: ca.publicKey, extensions: CA_EXTENSIONS },
    ca.privateKey,
  );
  const serverDer = certificate(
    { subject: 'localhost', issuer: caName, publicKey: server.publicKey, extensions: SERVER_EXTENSIONS },
    ca.privateKey,
  );
  return {
    caPem: pem(caDer),
    certPem: pem(serverDer),
    keyPem: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

interface CertificateFields {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly extensions: Buffer;
}

function certificate(fields: CertificateFields, signer: KeyObject): Buffer {
  const { subject, issuer, publicKey, extensions } = fields;
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    name(issuer),
    sequence(tagged(0x18, Buffer.from('20000101000000Z')), tagged(0x18, Buffer.from('20991231235959Z'))),
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, extensions),
  );
  const signature = createSign('SHA256').update(body).sign(signer);
  return sequence(body, ECDSA_WITH_SHA256, bitString(signature));
}

/** One DER element: tag, length, content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = length < 0x1_00 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(content: Buffer): Buffer {
  return tagged(0x02, content);
}

function bitString(content: Buffer, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), content);
}

function oid(...bytes: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes));
}

/** A distinguished name of a common name alone. */
function name(commonName: string): Buffer {
  const attribute = sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from(commonName)));
  return sequence(tagged(0x31, attribute));
}

function extension(id: Buffer, critical: boolean, content: Buffer): Buffer {
  const flag = critical ? [tagged(0x01, Buffer.from([0xff]))] : [];
  return sequence(id, ...flag, tagged(0x04, content));
}

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const BASIC_CONSTRAINTS = oid(0x55, 0x1d, 0x13);
const KEY_USAGE = oid(0x55, 0x1d, 0x0f);
const EXTENDED_KEY_USAGE = oid(0x55, 0x1d, 0x25);
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);
const SERVER_AUTH = oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01);

const CA_EXTENSIONS = sequence(
  extension(BASIC_CONSTRAINTS, true, sequence(tagged(0x01, Buffer.from([0xff])))),
  extension(KEY_USAGE, true, bitString(Buffer.from([0x06]), 1)),
);

const SERVER_EXTENSIONS = sequence(
  extension(KEY_USAGE, true, bitString(Buffer.from([0x80]), 7)),
  extension(EXTENDED_KEY_USAGE, false, sequence(SERVER_AUTH)),
  extension(
    SUBJECT_ALT_NAME,
    false,
    sequence(tagged(0x82, Buffer.from('localhost')), tagged(0x87, Buffer.from([127, 0, 0, 1]))),
  ),
);

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
