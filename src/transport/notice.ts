import * as z from 'zod/mini';
import { TerminalError } from '../errors.ts';
import { formatKey, type PoolKey, parseKey } from '../pool/key.ts';
import { parseStrictJson } from './strict-json.ts';

/** Why a notice was sent: for people and logs. No code path depends on it. */
export type NoticeReason = 'changed' | 'deleted' | 'sync' | 'manual' | 'resync';

/** An object as a notice names it. */
export const ObjectSchema = z.strictObject({
  group: z.string().check(z.regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$/)),
  kind: z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9]{0,62}$/)),
  namespace: z.string().check(z.regex(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/)),
  name: z.string().check(z.regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)),
  uid: z.string().check(z.regex(/^[\w-]{1,64}$/)),
  resourceVersion: z.string().check(z.regex(/^\w{1,64}$/)),
});

/** Notice v1, as it travels: a CloudEvents 1.0 JSON document that holds identities and nothing of an object's contents. */
const NoticeSchema = z.strictObject({
  specversion: z.literal('1.0'),
  id: z.string().check(z.minLength(1), z.maxLength(129)),
  source: z.string().check(z.regex(/^\/clusters\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)),
  type: z.literal('dev.everwarm.notice.v1'),
  subject: z.string().check(z.maxLength(1_024)),
  data: z.strictObject({
    key: z.string().check(z.maxLength(1_024)),
    object: ObjectSchema,
    reason: z.enum(['changed', 'deleted', 'sync', 'manual', 'resync']),
    observedAt: z.iso.datetime(),
    coalesced: z.int().check(z.gte(1)),
    epoch: z.string().check(z.regex(/^[a-z0-9]{1,32}$/)),
    seq: z.int().check(z.gte(0)),
  }),
});

/** "This object changed": identity, never orders. */
export type Notice = Readonly<z.infer<typeof NoticeSchema>>;

/** The object a notice is about: its address and which state of it was seen. */
export type NoticeObject = Readonly<z.infer<typeof ObjectSchema>>;

/** What a notice is made of. */
export interface NoticeParts {
  readonly key: PoolKey;
  readonly object: NoticeObject;
  readonly reason: NoticeReason;
  /** Epoch ms. */
  readonly observedAt: number;
  /** How many changes it stands for, itself included. */
  readonly coalesced: number;
  /** The sender's start, and the count of its notices since: together they tell a retry from a new notice. */
  readonly epoch: string;
  readonly seq: number;
}

/** The subject of every notice about this pool: its key as text. */
export function subjectOf(key: PoolKey): string {
  return formatKey(key);
}

/** A notice of these parts. */
export function makeNotice(parts: NoticeParts): Notice {
  const { key, object, reason, observedAt, coalesced, epoch, seq } = parts;
  const text = subjectOf(key);
  return {
    specversion: '1.0',
    id: `${object.uid}/${object.resourceVersion}`,
    source: `/clusters/${key.cluster}`,
    type: 'dev.everwarm.notice.v1',
    subject: text,
    data: {
      key: text,
      object,
      reason,
      observedAt: new Date(observedAt).toISOString(),
      coalesced,
      epoch,
      seq,
    },
  };
}

/** A notice with the key it carries. */
export interface ParsedNotice {
  readonly notice: Notice;
  readonly key: PoolKey;
}

/** The notice that `text` spells. Throws TerminalError with a one-line reason that repeats nothing of the text. */
export function parseNotice(text: string): ParsedNotice {
  const json = parseStrictJson(text);
  if ('problem' in json) throw new TerminalError(`no notice: ${json.problem}`);
  return readNotice(json.value);
}

/** The notice that a value is, as `parseNotice` says. */
export function readNotice(value: unknown): ParsedNotice {
  const result = NoticeSchema.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
    throw new TerminalError(`no notice: ${where} is wrong (${issue?.code ?? 'unknown'})`);
  }
  const notice = result.data;
  const { data } = notice;
  const key = parseKey(data.key);
  if (key === undefined) throw new TerminalError('no notice: data.key is no pool key');
  // Each of these says one thing twice; whoever reads either must get the same answer.
  if (notice.subject !== data.key) throw new TerminalError('no notice: subject is not data.key');
  if (notice.source !== `/clusters/${key.cluster}`)
    throw new TerminalError("no notice: source is not the key's");
  if (notice.id !== `${data.object.uid}/${data.object.resourceVersion}`) {
    throw new TerminalError("no notice: id is not the object's");
  }
  return { notice, key };
}
