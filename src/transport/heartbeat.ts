import * as z from 'zod/mini';
import { TerminalError } from '../errors.ts';

/** A forwarder's sign of life, as it travels: a CloudEvents 1.0 JSON document. */
const HeartbeatSchema = z.strictObject({
  specversion: z.literal('1.0'),
  id: z.string().check(z.minLength(1), z.maxLength(129)),
  source: z.string().check(z.regex(/^\/clusters\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)),
  type: z.literal('dev.everwarm.heartbeat.v1'),
  data: z.strictObject({
    epoch: z.string().check(z.regex(/^[a-z0-9]{1,32}$/)),
    observedAt: z.iso.datetime(),
    sent: z.int().check(z.gte(0)),
  }),
});

/** "I am here, and have sent so many notices since my last sign of life": what was received beside it shows losses. */
export type Heartbeat = Readonly<z.infer<typeof HeartbeatSchema>>;

export const HEARTBEAT_TYPE = 'dev.everwarm.heartbeat.v1';

/** What a heartbeat is made of. */
export interface HeartbeatParts {
  readonly cluster: string;
  /** The sender's start, and the count of its heartbeats since. */
  readonly epoch: string;
  readonly beat: number;
  /** Epoch ms. */
  readonly observedAt: number;
  /** Notices that were sent since the last one. */
  readonly sent: number;
}

/** A heartbeat of these parts. */
export function makeHeartbeat({ cluster, epoch, beat, observedAt, sent }: HeartbeatParts): Heartbeat {
  return {
    specversion: '1.0',
    id: `${epoch}/${beat}`,
    source: `/clusters/${cluster}`,
    type: HEARTBEAT_TYPE,
    data: { epoch, observedAt: new Date(observedAt).toISOString(), sent },
  };
}

/** A heartbeat with the cluster it comes from. Throws TerminalError with a reason that repeats nothing of the value. */
export function readHeartbeat(value: unknown): { readonly heartbeat: Heartbeat; readonly cluster: string } {
  const result = HeartbeatSchema.safeParse(value);
  if (result.success) {
    return { heartbeat: result.data, cluster: result.data.source.slice('/clusters/'.length) };
  }
  const [issue] = result.error.issues;
  throw new TerminalError(
    `no heartbeat: ${issue?.path.join('.') || 'it'} is wrong (${issue?.code ?? 'unknown'})`,
  );
}
