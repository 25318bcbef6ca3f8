import { type Json, list, put, record } from '../json.ts';
import { badRequest, notImplemented } from '../status.ts';
import { ENVELOPE, type Field, KINDS, type Message } from './protobuf-messages.ts';

/**
 * Request bodies in protobuf, as `kubectl create namespace|configmap|secret|serviceaccount|deployment` and `kubectl auth
 * can-i` send them. Only the messages and fields that these commands fill are known; any other is refused by name.
 */
export function parseProtobuf(body: Buffer): unknown {
  if (body.subarray(0, MAGIC.length).compare(MAGIC) !== 0)
    throw badRequest('provided data does not appear to be a protobuf message');
  const envelope = decode(ENVELOPE, body.subarray(MAGIC.length), 'Unknown');
  const { apiVersion, kind } = envelope['typeMeta'] as { readonly apiVersion: string; readonly kind: string };
  const message = KINDS[kind];
  if (message === undefined) throw notImplemented(`request bodies in protobuf for ${kind}`);
  return { apiVersion, kind, ...decode(message, envelope['raw'] as Buffer, kind) };
}

const MAGIC = Buffer.from('k8s\0');

function decode(message: Message, bytes: Buffer, path: string): Json {
  const result: Record<string, unknown> = {};
  let offset = 0;
  while (offset < bytes.length) {
    const tag = varint(bytes, offset);
    const [number, wire] = [Math.floor(tag.value / 8), tag.value % 8];
    const field = message[number];
    if (field === undefined || (wire !== 0 && wire !== 2)) {
      throw notImplemented(`the protobuf field ${number} of ${path}`);
    }
    const head = varint(bytes, tag.next);
    const end = wire === 0 ? head.next : head.next + head.value;
    if (end > bytes.length) throw badRequest('proto: unexpected end of data');
    store(result, field, wire === 0 ? head.value : bytes.subarray(head.next, end), path);
    offset = end;
  }
  return result;
}

function store(
  result: Record<string, unknown>,
  [name, form, repeated]: Field,
  raw: number | Buffer,
  path: string,
): void {
  const value = typeof raw === 'number' ? plain(form, raw) : read(form, raw, `${path}.${name}`);
  if (value === undefined) return;
  const before = result[name];
  if (repeated === 'list') result[name] = [...list(before), value];
  else if (form === 'strings' || form === 'byteStrings')
    result[name] = { ...record(before), ...record(value) };
  else result[name] = value;
}

function plain(form: Field[1], raw: number): unknown {
  return form === 'flag' ? raw === 1 : raw;
}

function read(form: Field[1], raw: Buffer, path: string): unknown {
  if (typeof form === 'object') return decode(form, raw, path);
  switch (form) {
    case 'strings':
      return entry(decode({ 1: ['key', 'text'], 2: ['value', 'text'] }, raw, path));
    case 'byteStrings':
      return entry(decode({ 1: ['key', 'text'], 2: ['value', 'bytes'] }, raw, path));
    case 'time':
      // A client's time of creation means nothing.
      return undefined;
    case 'raw':
      return raw;
    case 'bytes':
      return raw.toString('base64');
    default:
      return raw.toString('utf8');
  }
}

function entry({ key, value }: Json): Json {
  const map: Record<string, unknown> = {};
  put(map, String(key ?? ''), value ?? '');
  return map;
}

function varint(bytes: Buffer, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  let factor = 1;
  for (let index = start; index < bytes.length && index < start + 10; index += 1) {
    const byte = bytes[index] ?? 0;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, next: index + 1 };
    factor *= 128;
  }
  throw badRequest('proto: unexpected end of data');
}
