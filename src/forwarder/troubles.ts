import type { Clock } from '../clock.ts';
import type { Trouble } from '../kube/reflector.ts';
import type { Log } from '../telemetry/log.ts';

/** What goes wrong with the watches, told to people: once for all kinds, and again ever more rarely. */
export interface Troubles {
  /** A round of this kind came to nothing. */
  add(kind: string, trouble: Trouble): void;
  /** This kind was heard of. */
  over(kind: string): void;
  stop(): void;
}

/** What befalls one kind mostly befalls the others a moment later. */
const GATHERED_MS = 2_000;
const REMINDER_FIRST_MS = 60_000;
const REMINDER_MAX_MS = 3_600_000;

/** Nothing is wrong yet. */
export function createTroubles(options: { readonly clock: Clock; readonly log: Log }): Troubles {
  return new Told(options.clock, options.log);
}

class Told implements Troubles {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Why, by kind. */
  readonly #open = new Map<string, string>();
  /** Kinds that are not served to us: said once, for it may be meant. */
  readonly #absent = new Set<string>();
  #sinceAt = 0;
  #remindMs = REMINDER_FIRST_MS;
  #wasTold = false;
  #cancel = (): void => {};

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  add(kind: string, { failure }: Trouble): void {
    if (failure?.kind === 'notFound' || failure?.kind === 'forbidden') {
      this.#close(kind);
      if (this.#absent.has(kind)) return;
      this.#absent.add(kind);
      this.#log.warn('watch.absent', { kind, why: failure.message });
      return;
    }
    if (this.#open.size === 0) {
      this.#sinceAt = this.#clock.now();
      this.#remindMs = REMINDER_FIRST_MS;
      this.#later(GATHERED_MS);
    }
    this.#open.set(kind, failure?.message ?? 'the watch does not last');
  }

  over(kind: string): void {
    if (this.#absent.delete(kind)) this.#log.info('watch.present', { kind });
    this.#close(kind);
  }

  stop(): void {
    this.#cancel();
  }

  #close(kind: string): void {
    if (!this.#open.delete(kind) || this.#open.size > 0) return;
    this.#cancel();
    const afterSeconds = Math.round((this.#clock.now() - this.#sinceAt) / 1_000);
    // Who was not told of its beginning need not hear of its end.
    if (this.#wasTold) this.#log.warn('watch.recovered', { afterSeconds });
    this.#wasTold = false;
  }

  #later(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#tell());
  }

  #tell(): void {
    this.#wasTold = true;
    const [why] = this.#open.values();
    const seconds = Math.round((this.#clock.now() - this.#sinceAt) / 1_000);
    const kinds = [...this.#open.keys()].sort().join(',');
    this.#log.warn('watch.trouble', { kinds, why, seconds });
    this.#later(this.#remindMs);
    this.#remindMs = Math.min(this.#remindMs * 2, REMINDER_MAX_MS);
  }
}
