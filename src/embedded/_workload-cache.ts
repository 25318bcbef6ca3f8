import type { KubeObject, Resource } from '../kube/api.ts';
import { controllerOf, keyOf } from './_workloads.ts';
import { record } from './json.ts';
import type { Commit, Store } from './types.ts';

/** The objects of one kind as they are now, found by name or by the uid of their controller. */
export interface KindCache<T extends KubeObject> {
  get(key: string): T | undefined;
  all(): Iterable<T>;
  ownedBy(uid: string | undefined): readonly T[];
}

/**
 * Follows every commit of one kind, so that it is never older than the store itself. `changed` hears of each change
 * after the cache has it, and once of every object that is there already.
 */
export function cacheKind<T extends KubeObject>(
  store: Store,
  resource: Resource,
  changed: (object: T, commit?: Commit) => void,
): KindCache<T> {
  const objects = new Map<string, T>();
  const owned = new Map<string, Map<string, T>>();

  const put = (object: T): void => {
    remove(object);
    objects.set(keyOf(object), object);
    const uid = controllerOf(object)?.uid;
    if (uid === undefined) return;
    const siblings = owned.get(uid) ?? new Map<string, T>();
    owned.set(uid, siblings.set(keyOf(object), object));
  };
  const remove = (object: T): void => {
    const known = objects.get(keyOf(object));
    if (known === undefined) return;
    objects.delete(keyOf(object));
    const uid = controllerOf(known)?.uid ?? '';
    const siblings = owned.get(uid);
    siblings?.delete(keyOf(object));
    if (siblings?.size === 0) owned.delete(uid);
  };

  store.onCommit((commit) => {
    if (commit.resource.plural !== resource.plural || commit.resource.group !== resource.group) return;
    // The store validated the object against its kind: T says no more than that.
    const object = commit.object as T;
    if (commit.type === 'DELETED') remove(object);
    else put(object);
    changed(object, commit);
  });
  for (const object of listAll<T>(store, resource)) {
    put(object);
    changed(object);
  }

  return {
    get: (key) => objects.get(key),
    all: () => objects.values(),
    ownedBy: (uid) => [...(owned.get(uid ?? '')?.values() ?? [])],
  };
}

function listAll<T extends KubeObject>(store: Store, resource: Resource): readonly T[] {
  const { code, body } = store.execute({ verb: 'list', resource, user: 'system:kube-controller-manager' });
  if (code !== 200) return [];
  const kind = {
    apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind,
  };
  // Items of a built-in list carry no kind of their own.
  return (record(body)['items'] as readonly T[]).map((item) => ({ ...kind, ...item }));
}
