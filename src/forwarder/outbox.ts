import type { Clock } from '../clock.ts';
import {
  makeNotice,
  type Notice,
  type NoticeParts,
  type NoticeReason,
  subjectOf,
} from '../transport/notice.ts';

/** A change, as far as the pool it concerns needs to hear of it. */
export interface News extends Pick<NoticeParts, 'key' | 'object' | 'reason'> {
  /** Not to be held back: a user waits, or something is gone. */
  readonly urgent: boolean;
}

/** What waits to be sent: at most one notice a key. */
export interface Outbox {
  add(news: News): void;
  /** Keys that wait or are being sent. */
  size(): number;
  /** How many changes were added, and how many of them another one's notice stands for. */
  counts(): { readonly added: number; readonly coalesced: number };
  /** Resolves when everything that was added before is sent. */
  flushed(): Promise<void>;
  /** Lets everything that waits go at once. */
  hurry(): void;
  /** Forgets what waits; what is being sent is the sender's to end. */
  stop(): void;
}

export interface OutboxOptions {
  readonly clock: Clock;
  /** Names this start of the process. */
  readonly epoch: string;
  /** Sends one notice and resolves when that is over, for better or worse. Must not reject. */
  readonly send: (notice: Notice) => Promise<unknown>;
}

interface Entry {
  news: News;
  coalesced: number;
  readonly firstAt: number;
  lastAt: number;
  due: boolean;
  cancel: () => void;
}

const DEBOUNCE_MS = 250;
const HELD_MAX_MS = 2_000;
const SENDS_MAX = 16;
// When several changes become one notice, it names the one that says most.
const WEIGHT: Readonly<Record<NoticeReason, number>> = {
  deleted: 3,
  manual: 3,
  changed: 2,
  resync: 1,
  sync: 1,
};

/**
 * An outbox: news of one key become one notice, 250 ms after the last and at most 2 s after the first of them; urgent
 * ones go at once. While a key's notice is on its way, later news of it wait: nothing overtakes.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  return new KeyOutbox(options);
}

class KeyOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<string, Entry>();
  readonly #sending = new Set<string>();
  #seq = 0;
  #added = 0;
  #coalesced = 0;
  #flushWaiters: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  add(news: News): void {
    const now = this.#options.clock.now();
    const name = subjectOf(news.key);
    const known = this.#waiting.get(name);
    this.#added += 1;
    const entry = known ?? newEntry(news, now);
    if (known === undefined) this.#waiting.set(name, entry);
    else {
      this.#coalesced += 1;
      entry.coalesced += 1;
      if (WEIGHT[news.reason] >= WEIGHT[entry.news.reason]) entry.news = news;
    }
    entry.lastAt = now;
    if (news.urgent) entry.due = true;
    this.#schedule(entry, now);
    this.#sendDue();
  }

  size(): number {
    return new Set([...this.#waiting.keys(), ...this.#sending]).size;
  }

  counts(): { readonly added: number; readonly coalesced: number } {
    return { added: this.#added, coalesced: this.#coalesced };
  }

  hurry(): void {
    for (const entry of this.#waiting.values()) {
      entry.cancel();
      entry.due = true;
    }
    this.#sendDue();
  }

  flushed(): Promise<void> {
    if (this.size() === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#flushWaiters.push(resolve);
    });
  }

  stop(): void {
    for (const entry of this.#waiting.values()) entry.cancel();
    this.#waiting.clear();
    this.#resolveFlushed();
  }

  #schedule(entry: Entry, now: number): void {
    entry.cancel();
    if (entry.due) return;
    const dueAt = Math.min(entry.lastAt + DEBOUNCE_MS, entry.firstAt + HELD_MAX_MS);
    entry.cancel = this.#options.clock.after(Math.max(0, dueAt - now), () => {
      entry.due = true;
      this.#sendDue();
    });
  }

  /** Sends what is due, oldest first, as far as there is room. */
  #sendDue(): void {
    for (const [name, entry] of this.#waiting) {
      if (this.#sending.size >= SENDS_MAX) return;
      if (entry.due && !this.#sending.has(name)) this.#sendOne(name, entry);
    }
  }

  #sendOne(name: string, entry: Entry): void {
    this.#waiting.delete(name);
    this.#sending.add(name);
    const { key, object, reason } = entry.news;
    const { epoch, send } = this.#options;
    const { coalesced, firstAt } = entry;
    this.#seq += 1;
    // `observedAt` is the first change's time: what waits longest is what a late notice is late for.
    const notice = makeNotice({ key, object, reason, observedAt: firstAt, coalesced, epoch, seq: this.#seq });
    void send(notice).finally(() => {
      this.#sending.delete(name);
      this.#sendDue();
      this.#resolveFlushed();
    });
  }

  #resolveFlushed(): void {
    if (this.size() > 0) return;
    const waiters = this.#flushWaiters;
    this.#flushWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

function newEntry(news: News, now: number): Entry {
  return { news, coalesced: 1, firstAt: now, lastAt: now, due: false, cancel: () => {} };
}
