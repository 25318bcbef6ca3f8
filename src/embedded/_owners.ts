import type { KubeObject, OwnerReference, Resource } from '../kube/api.ts';
import type { EmbeddedStore } from './store.ts';
import type { Commit } from './types.ts';

/** A live object and where it is. */
export interface Owned {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** What stands behind an ownerReference: an owner that lives, one that waits for its dependents to go, or nobody. */
export type Standing = 'solid' | 'waiting' | 'absent';

/** The graph of owners and dependents, kept up to date from the store's commits. */
export class OwnerGraph {
  readonly #store: EmbeddedStore;
  readonly #objects = new Map<string, Owned>();
  readonly #dependents = new Map<string, Set<string>>();

  constructor(store: EmbeddedStore) {
    this.#store = store;
  }

  apply({ type, resource, object, previous }: Commit): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    if (type === 'DELETED') this.#objects.delete(uid);
    else this.#objects.set(uid, { resource, object });
    const before = previous?.metadata.ownerReferences ?? [];
    const after = type === 'DELETED' ? [] : (object.metadata.ownerReferences ?? []);
    if (before === after) return;
    for (const owner of before) this.#dependents.get(owner.uid)?.delete(uid);
    for (const owner of after) this.#link(owner.uid, uid);
  }

  #link(owner: string, dependent: string): void {
    const known = this.#dependents.get(owner);
    if (known === undefined) this.#dependents.set(owner, new Set([dependent]));
    else known.add(dependent);
  }

  get(uid: string): Owned | undefined {
    return this.#objects.get(uid);
  }

  dependentsOf(uid: string): readonly Owned[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#objects.get(dependent) ?? []);
  }

  /** Whether anything names `uid` as its owner. */
  hasDependents(uid: string): boolean {
    return (this.#dependents.get(uid)?.size ?? 0) > 0;
  }

  /** Looks the owner up by kind, namespace and name, as the real collector does; its uid must match. */
  standing({ object }: Owned, reference: OwnerReference): Standing {
    const slash = reference.apiVersion.indexOf('/');
    const [group, version] = [
      reference.apiVersion.slice(0, Math.max(0, slash)),
      reference.apiVersion.slice(slash + 1),
    ];
    const kind = this.#store
      .kinds()
      .find(
        (candidate) =>
          candidate.resource.group === group &&
          candidate.resource.kind === reference.kind &&
          candidate.versions.some(({ name }) => name === version),
      );
    // A kind nobody serves may come yet, and a cluster-scoped object cannot have a namespaced owner: both stay.
    if (kind === undefined) return 'solid';
    const { namespace } = object.metadata;
    if (kind.resource.namespaced && namespace === undefined) return 'solid';
    const owner = this.#objects.get(reference.uid);
    if (owner === undefined || owner.object.metadata.name !== reference.name) return 'absent';
    if (owner.resource.kind !== reference.kind || owner.resource.group !== group) return 'absent';
    if (kind.resource.namespaced && owner.object.metadata.namespace !== namespace) return 'absent';
    return isWaiting(owner.object) ? 'waiting' : 'solid';
  }
}

/** Whether an object is being deleted in the foreground: it goes after its dependents. */
export function isWaiting({ metadata }: KubeObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('foregroundDeletion') === true
  );
}

/** Whether an object is being deleted without its dependents. */
export function isOrphaning({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('orphan') === true;
}
