/** What the processes of an end-to-end run say to each other, and the names that they share. */

export const CLUSTER = 'dev';
/** Of the first story; one that shares its API server with another has one of its own. */
export const NAMESPACE = 'theia';
/** As the saved sample events name it. */
export const POOL = 'java-17';
/** One of them is held by a user, the highest one is replaced first. */
export const INSTANCES = 4;
/** How many of those that nobody holds may be away at one moment. */
export const AWAY_MAX = 2;
export const NEW = 'registry.example.org/ide/java-17:2.0.0';

/** A question to the cluster's process. */
export type Question =
  /** The operator makes the pool and hands an instance to a user. Then it is gone, as during an upgrade of it. */
  | { readonly ask: 'fill' }
  /** Ends the process `pid` right after the `at`-th write of Everwarm from now on, before that write is answered. */
  | { readonly ask: 'arm'; readonly at: number; readonly pid: number }
  /** The definition names another image while no operator runs; the next one finds it like that and lets it be. */
  | { readonly ask: 'release'; readonly image: string }
  /** Somebody deletes the Deployment of an instance that nobody holds. */
  | { readonly ask: 'break' }
  | { readonly ask: 'state' };

export type Asked = Question & { readonly id: number };

/** What a process says by itself, or answers. */
export type Said =
  | { readonly type: 'ready'; readonly value: string }
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

/** The pool as its objects tell; nothing of what Everwarm believes goes into it but where its status is named. */
export interface State {
  /** Writes of Everwarm since it was armed or since the start, Events aside. */
  readonly writes: number;
  /** Everwarm has written a status of the pool. */
  readonly isKnown: boolean;
  /** What is not yet as it should be, in words; nothing is left of it when the pool is whole and its status says so. */
  readonly flaws: readonly string[];
  /** What Everwarm did to an instance while a user held it, beyond its metadata. */
  readonly harm: readonly string[];
  /** The fewest instances that could have been handed out at any moment since the release. */
  readonly fewest: number;
  /** The end state without what differs from run to run. */
  readonly portrait: readonly string[];
}
