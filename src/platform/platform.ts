import type { JsonPatch, KubeApi, KubeObject, OwnerReference, Resource } from '../kube/api.ts';
import type { PoolKey } from '../pool/key.ts';
import type { Action, Desired, Observed, Policy, Problem, Slot } from '../pool/types.ts';

/** A kind whose changes may concern a pool. */
export interface WatchSpec {
  readonly resource: Resource;
  /** The body is not needed: ask for metadata alone. */
  readonly metadataOnly: boolean;
  /** Forwarded at once instead of debounced. */
  readonly urgent: boolean;
  /** Equal fingerprints are no news; without it every change is. */
  readonly changed?: (object: KubeObject) => string;
}

/** Which pools to read: one, or all of a namespace. */
export interface Scope {
  readonly cluster: string;
  readonly namespace: string;
  readonly name?: string;
}

/** What a pass tells its reads: whether it was refused something for lack of quota. */
export interface Hints {
  readonly quota: boolean;
}

/** The kinds that may be deleted: the parts of an instance, but for its volume; of some platforms, what nobody is in. */
export type Disposable = Resource & {
  readonly kind: 'Service' | 'ConfigMap' | 'Deployment' | 'WorkshopEnvironment' | 'WorkshopSession';
};

/** How far a platform's requests reach where its instances are objects of kinds of its own. */
export interface Reach {
  /** Kinds that may be deleted, and what may be written in others: paths of a patch, by kind. */
  readonly deletes: ReadonlySet<string>;
  readonly patches: Readonly<Record<string, RegExp>>;
}

/**
 * One guarded request. There is no way to say more: no other kind, no collection, no user's storage, no finalizer (P12).
 * `resourceVersion` is the observed one: what tells a conflict from a refusal (P4).
 */
export type Request =
  | {
      readonly verb: 'create';
      readonly resource: Resource;
      readonly namespace: string;
      readonly body: KubeObject;
    }
  | {
      readonly verb: 'patch';
      readonly resource: Resource;
      readonly namespace: string;
      readonly name: string;
      readonly subresource?: 'status';
      readonly patch: JsonPatch;
      readonly resourceVersion: string;
    }
  | {
      readonly verb: 'delete';
      readonly resource: Disposable;
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion?: string;
      readonly propagation: 'Foreground' | 'Background';
    }
  /** The one volume that may go: that of a pool's own instance, with whatever a user left on it. */
  | {
      readonly verb: 'delete';
      readonly resource: Resource & { readonly kind: 'PersistentVolumeClaim' };
      readonly namespace: string;
      readonly name: `instance-${string}-pvc`;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly propagation: 'Background';
      /** uid of the pool's definition, as it stands among the claim's owners. */
      readonly ownedBy: string;
    };

/** The pool's own object in the cluster: its policy, and the memory of what was decided. */
export interface WarmPool {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** uids of its owners: the pool's source must be among them. */
  readonly owners: readonly string[];
}

/** What people are told of one slot beyond the planner's words. */
export interface SlotDetails {
  /** What it is made of; no secret is in them. */
  readonly objects: readonly KubeObject[];
  /** One sentence each. */
  readonly facts: readonly string[];
}

/** One pool as it is now, and the way to say each action about it as requests. */
export interface Observation {
  readonly key: PoolKey;
  /** The API server's clock, epoch ms. */
  readonly now: number;
  readonly desired: Desired;
  readonly observed: Omit<Observed, 'pass'>;
  readonly policy: Policy;
  /** `undefined`: not there yet, or its kind is not installed. */
  readonly warmPool: WarmPool | undefined;
  /** The definition of the pool: owner of the WarmPool. */
  readonly source: OwnerReference;
  /** What was found, in the platform's words: told beside what is planned. */
  readonly findings?: readonly (Problem & { readonly slot: Slot })[];
  /** What people are told of a slot, where the platform has its own words for it. */
  readonly detailsOf?: (slot: string) => SlotDetails | undefined;
  /** Absent: the parts of an instance are all that is written. */
  readonly reach?: Reach;
  /** The requests of `action`, in order; each is safe to send again. `pass` is the token to leave on the anchor. */
  requestsFor(action: Action, pass: string): readonly Request[];
}

/** What a platform teaches the core. One folder, one line in the registry. */
export interface Platform {
  readonly name: string;
  readonly watches: readonly WatchSpec[];
  /** Names of the pools in the object's namespace that it concerns; `*` for every pool known there. */
  keysOf(resource: Resource, object: KubeObject): readonly string[];
  /**
   * Of a platform whose definitions belong to no namespace: the one pool that `namespace` is for, where its WarmPool is;
   * `undefined` where there can be none. Without it every namespace may hold pools.
   */
  readonly poolIn?: (namespace: string) => string | undefined;
  /**
   * Reads pools fresh from the API, users' claims last; each kind once. A pool that is gone (or going) is left out.
   * Rejects with UnreadableError when the cluster cannot be read.
   */
  observe(api: KubeApi, scope: Scope, hints: Hints): Promise<readonly Observation[]>;
}
