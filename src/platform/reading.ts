import type { Failure, KubeApi, KubeObject, ListOptions, Outcome, Place, Resource } from '../kube/api.ts';

/** The cluster could not be read: nothing is known, so nothing may be decided. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  readonly failure: Failure;

  constructor(what: string, failure: Failure) {
    super(`reading ${what}: ${failure.kind}, ${failure.message}`);
    this.failure = failure;
  }
}

/** Reads one after the other and remembers the latest clock of the server. */
export class Reader {
  readonly #api: KubeApi;
  #now = 0;

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** The server's clock at the latest read, epoch ms. */
  get now(): number {
    return this.#now;
  }

  async list(resource: Resource, options: ListOptions): Promise<readonly KubeObject[]> {
    const outcome = this.#noted(await this.#api.list(resource, options));
    if (outcome.kind !== 'ok') throw new UnreadableError(resource.plural, outcome);
    return outcome.value.items;
  }

  /** The list, or nothing where the kind is not served. */
  async listIfServed(resource: Resource, options: ListOptions): Promise<readonly KubeObject[] | undefined> {
    const outcome = this.#noted(await this.#api.list(resource, options));
    if (outcome.kind === 'notFound') return undefined;
    if (outcome.kind !== 'ok') throw new UnreadableError(resource.plural, outcome);
    return outcome.value.items;
  }

  /** The list, or nothing where the kind is not served or may not be read. */
  async listIfAllowed(resource: Resource, options: ListOptions): Promise<readonly KubeObject[] | undefined> {
    const outcome = this.#noted(await this.#api.list(resource, options));
    if (outcome.kind === 'notFound' || outcome.kind === 'forbidden') return undefined;
    if (outcome.kind !== 'ok') throw new UnreadableError(resource.plural, outcome);
    return outcome.value.items;
  }

  /** The object, or `undefined` when it (or its kind) is not there. */
  async get(resource: Resource, place: Place): Promise<KubeObject | undefined> {
    const outcome = this.#noted(await this.#api.get(resource, place));
    if (outcome.kind === 'notFound') return undefined;
    if (outcome.kind !== 'ok') throw new UnreadableError(`${resource.plural}/${place.name}`, outcome);
    return outcome.value;
  }

  #noted<T>(outcome: Outcome<T>): Outcome<T> {
    if (outcome.kind === 'ok') this.#now = Math.max(this.#now, outcome.serverTime);
    return outcome;
  }
}
