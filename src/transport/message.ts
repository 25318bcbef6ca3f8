import { TerminalError } from '../errors.ts';
import type { PoolKey } from '../pool/key.ts';
import { HEARTBEAT_TYPE, type Heartbeat, readHeartbeat } from './heartbeat.ts';
import { type ParsedNotice, readNotice } from './notice.ts';
import { parseStrictJson } from './strict-json.ts';

/** What a forwarder says: that something concerns a pool, or that it is alive. */
export type Message =
  | ({ readonly kind: 'notice'; readonly cluster: string } & ParsedNotice)
  | { readonly kind: 'heartbeat'; readonly cluster: string; readonly heartbeat: Heartbeat };

/** Which pools a door serves. */
export type Serves = (key: Pick<PoolKey, 'cluster' | 'platform' | 'namespace'>) => boolean;

/** The message that `text` spells. Throws TerminalError with a one-line reason that repeats nothing of the text. */
export function parseMessage(text: string): Message {
  const json = parseStrictJson(text);
  if ('problem' in json) throw new TerminalError(`no notice: ${json.problem}`);
  return readMessage(json.value);
}

/** The message that a value is, as `parseMessage` says. */
export function readMessage(value: unknown): Message {
  const isHeartbeat =
    typeof value === 'object' && value !== null && 'type' in value && value.type === HEARTBEAT_TYPE;
  if (isHeartbeat) return { kind: 'heartbeat', ...readHeartbeat(value) };
  const parsed = readNotice(value);
  return { kind: 'notice', cluster: parsed.key.cluster, ...parsed };
}
