import * as z from 'zod/mini';
import { TerminalError } from '../errors.ts';
import { type PoolKey, parseKey } from '../pool/key.ts';
import { type Message, readMessage } from './message.ts';

/** An event as a rule of the bus delivers it: the bus's own fields may be more than these. */
const EnvelopeSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(64)),
  'detail-type': z.string(),
  detail: z.unknown(),
});

const RequestSchema = z.strictObject({ key: z.string().check(z.maxLength(1_024)) });

const REQUEST_TYPE = 'dev.everwarm.request.v1';

/** What somebody put on the bus for us: a forwarder's message, or a person's wish for a pass. */
export type Incoming = Message | { readonly kind: 'request'; readonly id: string; readonly key: PoolKey };

/** What a bus's event says. Throws TerminalError with a one-line reason that repeats nothing of the event. */
export function readBusEvent(value: unknown): Incoming {
  const envelope = EnvelopeSchema.safeParse(value);
  if (!envelope.success) throw new TerminalError('no event of a bus');
  const { id, detail } = envelope.data;
  if (envelope.data['detail-type'] !== REQUEST_TYPE) return readMessage(detail);
  const request = RequestSchema.safeParse(detail);
  const key = request.success ? parseKey(request.data.key) : undefined;
  if (key === undefined)
    throw new TerminalError('no request: detail must be {"key": "cluster/platform/namespace/name"}');
  return { kind: 'request', id, key };
}
