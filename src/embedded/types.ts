import type { DeleteOptions, KubeObject, Resource } from '../kube/api.ts';

/** What a request may carry besides its body: the query parameters, parsed. */
export interface RequestOptions extends DeleteOptions {
  readonly dryRun?: boolean;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly gracePeriodSeconds?: number;
}

/** One API request, after the URL and the headers were read. */
export interface StoreRequest {
  readonly verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  /** Group, version and plural as the URL has them. */
  readonly resource: Pick<Resource, 'group' | 'version' | 'plural'>;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly body?: unknown;
  readonly patchType?: 'json' | 'merge' | 'strategic';
  readonly options?: RequestOptions;
  /** Who asks: for the log, and for rules that treat the garbage collector apart. */
  readonly user: string;
}

/** The answer: an object, a list or a Status, deep-frozen. */
export interface StoreResponse {
  readonly code: number;
  readonly body: KubeObject;
  readonly warnings?: readonly string[];
}

/** One committed change. `object` is the new state (for DELETED the last one, with the delete's resourceVersion). */
export interface Commit {
  readonly resourceVersion: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly previous?: KubeObject;
  readonly request: StoreRequest;
}

/** The in-memory API server's heart: pure, synchronous, no sockets, no timers. */
export interface Store {
  /** Executes one request atomically. Never throws for a client's mistake: that is a Status with its code. */
  execute(request: StoreRequest): StoreResponse;
  /** Calls `listener` for every committed change, in order, synchronously; returns the way to stop. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** The newest resourceVersion. */
  revision(): number;
  /** Every kind served now, built-in and custom. */
  resources(): readonly Resource[];
}

/** Something that works inside the cluster (garbage collector, Deployment controller, kubelet), one unit of work at a time. */
export interface Actor {
  readonly name: string;
  /** Epoch ms at which the next unit is due; `undefined` while there is nothing to do. */
  dueAt(): number | undefined;
  /** Does one unit of work (about one commit) that is due. */
  run(): void;
}
