/**
 * The Kubernetes API as Everwarm uses it: a few calls, raw JSON in and out, and a typed outcome instead of an exception.
 * The network client (`client.ts`), the embedded cluster's direct port and the simulator all implement it.
 */

/** A kind of object, as its URL names it. `group` is `''` for the core group. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** Any object, as the server sent it. Unknown fields are kept. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Where one object lives. */
export interface Place {
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: 'status';
}

export type JsonPatch = readonly JsonPatchOperation[];
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A patch and the media type it travels under. */
export type Patch =
  | { readonly type: 'json'; readonly patch: JsonPatch }
  | { readonly type: 'merge'; readonly patch: Readonly<Record<string, unknown>> };

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions {
  readonly preconditions?: Preconditions;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * What a call came to (P4). `unknown` means the request may have happened: a time-out, a reset, a 5xx.
 * `message` is one line, safe to log: it never holds a body, a header or a token.
 */
export type Outcome<T> =
  | {
      readonly kind: 'ok';
      readonly value: T /** The server's `Date`, epoch ms. */;
      readonly serverTime: number;
    }
  | Failure;

export type Failure =
  | {
      readonly kind: FailureKind;
      readonly message: string;
      readonly reason?: string;
      readonly causes?: readonly Cause[];
    }
  | { readonly kind: 'throttled'; readonly message: string; readonly retryAfterMs: number };

/** `unauthorized`: 401, after one refresh of the token. `expired`: 410, list again. */
export type FailureKind =
  | 'conflict'
  | 'notFound'
  | 'exists'
  | 'invalid'
  | 'forbidden'
  | 'unauthorized'
  | 'expired'
  | 'unknown';

/** One cause of a Status error. */
export interface Cause {
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Ask for metadata alone (PartialObjectMetadata). */
  readonly metadataOnly?: boolean;
}

export interface List {
  readonly resourceVersion: string;
  readonly items: readonly KubeObject[];
}

export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }
  | { readonly type: 'ERROR'; readonly code: number; readonly message: string };

export interface KubeApi {
  get(resource: Resource, place: Place): Promise<Outcome<KubeObject>>;
  /** A consistent list: no resourceVersion is sent, all pages are read; one torn by 410 is started again. */
  list(resource: Resource, options: ListOptions): Promise<Outcome<List>>;
  /** Yields events until the stream ends or `signal` aborts; rejects with WatchError on anything else. Sends bookmarks. */
  watch(resource: Resource, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent>;
  create(resource: Resource, namespace: string | undefined, body: unknown): Promise<Outcome<KubeObject>>;
  patch(resource: Resource, place: Place, patch: Patch): Promise<Outcome<KubeObject>>;
  /** `ok` for a request that was accepted: the object may still be there with a deletionTimestamp. */
  delete(resource: Resource, place: Place, options: DeleteOptions): Promise<Outcome<void>>;
}
