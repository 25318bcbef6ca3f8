import { Worker } from 'node:worker_threads';
import type { WireAnswer, WireOptions } from '../real-cluster/wire.ts';

/** A request of somebody who waits for the answer and does nothing else, as a person with kubectl does. */
export type SyncSend = (method: string, path: string, body?: unknown, mediaType?: string) => WireAnswer;

export interface SyncOptions extends WireOptions {
  readonly memory: SharedArrayBuffer;
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Before the answer's bytes: whether it is there, its status, its length. */
export const HEAD_BYTES = 12;
const ANSWER_WITHIN_MS = 30_000;

/** Requests as one user whose answer is there when the call returns: another thread sends them. */
export function createSyncSend(options: WireOptions): SyncSend {
  const memory = new SharedArrayBuffer(HEAD_BYTES + ANSWER_BYTES_MAX);
  const head = new Int32Array(memory, 0, 3);
  const workerData: SyncOptions = { ...options, memory };
  const worker = new Worker(new URL('_sync-worker.ts', import.meta.url), { workerData });
  worker.unref();
  return (...request) => {
    Atomics.store(head, 0, 0);
    worker.postMessage(request);
    if (Atomics.wait(head, 0, 0, ANSWER_WITHIN_MS) === 'timed-out')
      throw new Error(`no answer to ${request[0]} ${request[1]}`);
    const [, status = 0, length = 0] = head;
    return { status, text: Buffer.from(new Uint8Array(memory, HEAD_BYTES, length).slice()).toString('utf8') };
  };
}
