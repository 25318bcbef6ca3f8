/** Something that happened, for whoever listens. */
export interface BusEvent {
  /** A word of a closed set: `PoolConverged`. */
  readonly type: string;
  /** The pool it is about, as a key. */
  readonly pool: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Where outcomes are told. */
export interface Bus {
  /** Resolves when every event was taken, or given up, logged and counted. Never rejects. */
  put(events: readonly BusEvent[]): Promise<void>;
}
