import type { Clock, Random } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';
import type { Log } from '../telemetry/log.ts';
import type { Consumer, PassResult, Queue, Trigger } from './queue.ts';

/** A queue inside one process, with its consumer. */
export interface LocalQueue extends Queue {
  /** Resolves when no key waits for its turn or has its pass; keys that wait for a time do not count. */
  idle(): Promise<void>;
  /** Takes nothing more, lets what waits have its pass, forgets what waits for a time. Resolves when all is done. */
  stop(): Promise<void>;
}

export interface LocalQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How many keys may have their pass at once. */
  readonly concurrency: number;
  readonly consume: Consumer;
}

/** One key that waits, has its pass, or has failed before. */
interface Entry {
  readonly key: PoolKey;
  triggers: Trigger[];
  state: 'resting' | 'queued' | 'running' | 'running-dirty';
  failures: number;
  delay?: { readonly dueAt: number; readonly cancel: () => void; readonly byPass: boolean } | undefined;
}

const TRIGGERS_MAX = 8;
const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;

/**
 * The work queue of client-go in one process: a key waits once, has one pass at a time, and goes again when it was
 * added meanwhile; keys have their passes side by side. A pass that throws is repeated with a growing delay.
 */
export function createLocalQueue(options: LocalQueueOptions): LocalQueue {
  return new KeyQueue(options);
}

class KeyQueue implements LocalQueue {
  readonly #options: LocalQueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting: Entry[] = [];
  #running = 0;
  #isStopped = false;
  #idleWaiters: (() => void)[] = [];

  constructor(options: LocalQueueOptions) {
    this.#options = options;
  }

  async add(key: PoolKey, trigger?: Trigger): Promise<void> {
    if (this.#isStopped) return;
    const entry = this.#entryOf(key);
    if (trigger !== undefined) entry.triggers = [...entry.triggers, trigger].slice(-TRIGGERS_MAX);
    this.#enqueue(entry);
  }

  async addAfter(key: PoolKey, delayMs: number): Promise<void> {
    if (!this.#isStopped) this.#delay(this.#entryOf(key), delayMs, false);
  }

  idle(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { delay } of this.#entries.values()) delay?.cancel();
    await this.idle();
  }

  #entryOf(key: PoolKey): Entry {
    const text = formatKey(key);
    const known = this.#entries.get(text);
    if (known !== undefined) return known;
    const entry: Entry = { key, triggers: [], state: 'resting', failures: 0 };
    this.#entries.set(text, entry);
    return entry;
  }

  #enqueue(entry: Entry): void {
    if (entry.state === 'running') entry.state = 'running-dirty';
    if (entry.state !== 'resting') return;
    entry.state = 'queued';
    this.#waiting.push(entry);
    this.#startNext();
  }

  #delay(entry: Entry, delayMs: number, byPass: boolean): void {
    const { clock } = this.#options;
    const dueAt = clock.now() + delayMs;
    if (entry.delay !== undefined && entry.delay.dueAt <= dueAt) return;
    entry.delay?.cancel();
    const cancel = clock.after(delayMs, () => {
      entry.delay = undefined;
      this.#enqueue(entry);
    });
    entry.delay = { dueAt, cancel, byPass };
  }

  #startNext(): void {
    while (this.#running < this.#options.concurrency) {
      const entry = this.#waiting.shift();
      if (entry === undefined) break;
      this.#running += 1;
      entry.state = 'running';
      const { triggers } = entry;
      entry.triggers = [];
      void this.#pass(entry, triggers).then((result) => this.#finish(entry, result));
    }
    if (this.#running > 0 || this.#waiting.length > 0) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Never rejects: a failed pass is one with a delay of the queue's choice. */
  async #pass(entry: Entry, triggers: readonly Trigger[]): Promise<PassResult> {
    try {
      const result = await this.#options.consume(entry.key, triggers);
      entry.failures = 0;
      return result;
    } catch (error) {
      return this.#afterFailure(entry, error);
    }
  }

  #afterFailure(entry: Entry, error: unknown): PassResult {
    const { log, random } = this.#options;
    const pool = formatKey(entry.key);
    const cause = error instanceof Error ? error.message : 'unknown';
    if (error instanceof TerminalError) {
      log.error('queue.gave-up', { pool, cause });
      entry.failures = 0;
      return {};
    }
    const longest = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** entry.failures);
    entry.failures += 1;
    // Half of it for certain, so that the delay really grows; half by chance, so that pools do not march in step.
    const requeueAfterMs = Math.round(longest * (0.5 + random() / 2));
    log.warn('queue.retry', { pool, cause, failures: entry.failures, requeueAfterMs });
    return { requeueAfterMs };
  }

  #finish(entry: Entry, result: PassResult): void {
    this.#running -= 1;
    const isDirty = entry.state === 'running-dirty';
    entry.state = 'resting';
    // The newest pass knows best when the next one is due; a time that somebody else asked for stays.
    if (entry.delay?.byPass === true) {
      entry.delay.cancel();
      entry.delay = undefined;
    }
    if (result.requeueAfterMs !== undefined && !this.#isStopped) {
      this.#delay(entry, result.requeueAfterMs, true);
    }
    if (isDirty) this.#enqueue(entry);
    else if (entry.delay === undefined) this.#entries.delete(formatKey(entry.key));
    this.#startNext();
  }
}
