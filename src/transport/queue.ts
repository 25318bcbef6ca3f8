import type { PoolKey } from '../pool/key.ts';
import type { Notice, NoticeObject, NoticeReason } from './notice.ts';

/** What woke a key up: for the log line of the pass, never for its decisions. */
export interface Trigger {
  readonly reason: NoticeReason;
  readonly object?: NoticeObject;
  /** Epoch ms. */
  readonly observedAt: number;
  /** Tells the same request from another one: what is added twice with the same `once` may have one pass for both. */
  readonly once?: string;
}

/** A notice as the trigger of the pass that it leads to. */
export function triggerOf({ source, data }: Notice): Trigger {
  const { reason, object, observedAt, epoch, seq } = data;
  // The sender's count, not the object's version: a second notice about one state of an object is a second request.
  return { reason, object, observedAt: Date.parse(observedAt), once: `${source}/${epoch}/${seq}` };
}

/** Where keys wait for their pass. A key waits once, however often it is added. */
export interface Queue {
  /** The key gets a pass that begins after this call. */
  add(key: PoolKey, trigger?: Trigger): Promise<void>;
  /** The key gets a pass no sooner than `delayMs` from now; the earliest of several wins. */
  addAfter(key: PoolKey, delayMs: number): Promise<void>;
}

/** What a pass asks for when it is done. */
export interface PassResult {
  readonly requeueAfterMs?: number;
}

/** One pass over one key. `triggers` are the latest that led to it; none for a requeue. A rejection is tried again later. */
export type Consumer = (key: PoolKey, triggers: readonly Trigger[]) => Promise<PassResult>;
