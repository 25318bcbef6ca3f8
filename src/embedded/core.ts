import type { KubeObject, Resource } from '../kube/api.ts';
import type { Kind, KindVersion } from './kind.ts';
import type { Registry } from './registry.ts';
import type { Commit, StoreRequest } from './types.ts';

/** The state behind the store, as its operations see it. */
export interface Core {
  readonly registry: Registry;
  /** Epoch ms. */
  now(): number;
  /** Now, to the second, as Kubernetes writes it. */
  timestamp(): string;
  /** A UUID v4. */
  nextUid(): string;
  /** Five characters for generateName. */
  nextSuffix(): string;
  /** A cluster IP that no other Service has had. */
  nextClusterIp(): string;
  revision(): number;
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined;
  /** All objects of a kind, or those of one namespace, by key. The array is the caller's. */
  objects(kind: Kind, namespace?: string): KubeObject[];
  /** Stores (or, for DELETED, removes) `object` under the next resourceVersion and tells the listeners. Returns it frozen. */
  commit(type: Commit['type'], target: Target, object: KubeObject, previous?: KubeObject): KubeObject;
  /** The frozen objects of an earlier list, for its following pages. */
  readonly snapshots: Map<string, readonly KubeObject[]>;
}

/** What one request is about. */
export interface Target {
  readonly kind: Kind;
  /** The version in the URL. */
  readonly version: KindVersion;
  /** The kind's names with the version in the URL. */
  readonly resource: Resource;
  readonly request: StoreRequest;
}
