import type { KubeObject, Resource } from '../kube/api.ts';
import { createWorkList } from './_work-list.ts';
import { list, record } from './json.ts';
import { pluralName } from './status.ts';
import type { EmbeddedStore } from './store.ts';
import type { Actor, StoreRequest } from './types.ts';

export interface NamespaceControllerOptions {
  /** Epoch ms. */
  readonly now: () => number;
  /** How long the contents of a terminating namespace are left alone; 5 s when not given. */
  readonly delayMs?: number;
}

const DELAY_MS = 5_000;
/** How soon the controller looks again after something in the namespace has gone. */
const LOOK_AGAIN_MS = 1_000;
const USER = 'system:serviceaccount:kube-system:namespace-controller';
const NAMESPACES = { group: '', version: 'v1', plural: 'namespaces' };

/** Empties terminating namespaces, one object a unit, and removes them when nothing is left. */
export function createNamespaceController(store: EmbeddedStore, options: NamespaceControllerOptions): Actor {
  const { now, delayMs = DELAY_MS } = options;
  const work = createWorkList();
  const terminating = new Set<string>();
  const note = (object: KubeObject, at: number) => {
    const { name } = object.metadata;
    if (object.metadata.deletionTimestamp === undefined || terminating.has(name)) return;
    terminating.add(name);
    work.add(name, at);
  };
  const namespaces = store.execute({ verb: 'list', resource: NAMESPACES, user: USER }).body['items'];
  for (const object of namespaces as readonly KubeObject[]) note(object, now() + delayMs);
  store.onCommit(({ type, resource, object }) => {
    if (resource.group === '' && resource.plural === 'namespaces') {
      if (type !== 'DELETED') return note(object, now() + delayMs);
      terminating.delete(object.metadata.name);
      work.drop(object.metadata.name);
    } else if (type === 'DELETED' && terminating.has(object.metadata.namespace ?? '')) {
      work.add(object.metadata.namespace ?? '', now() + LOOK_AGAIN_MS);
    }
  });
  return {
    name: 'namespace-controller',
    dueAt: () => work.dueAt(),
    run: () => {
      const name = work.take(now());
      if (name !== undefined && terminating.has(name) && step(store, name)) work.add(name, now());
    },
  };
}

interface Content {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** One request for one namespace; `true` when there is more to do at once. */
function step(store: EmbeddedStore, namespace: string): boolean {
  const contents = contentsOf(store, namespace);
  const next = contents.find(({ object }) => object.metadata.deletionTimestamp === undefined);
  if (next !== undefined) {
    const { name, uid } = next.object.metadata;
    const options = uid === undefined ? {} : { preconditions: { uid } };
    store.execute({ verb: 'delete', resource: next.resource, namespace, name, options, user: USER });
    return true;
  }
  if (contents.length > 0) {
    report(store, namespace, contents);
    return false;
  }
  const current = store.execute({ verb: 'get', resource: NAMESPACES, name: namespace, user: USER });
  const body = { ...current.body, spec: { ...record(current.body['spec']), finalizers: [] } };
  const request = { verb: 'update', resource: NAMESPACES, name: namespace, user: USER } as const;
  store.execute({ ...request, subresource: 'finalize', body });
  return false;
}

function contentsOf(store: EmbeddedStore, namespace: string): readonly Content[] {
  return store
    .kinds()
    .filter(({ resource }) => resource.namespaced)
    .flatMap(({ resource }) => {
      const request: StoreRequest = { verb: 'list', resource, namespace, user: USER };
      const items = list(store.execute(request).body['items']) as readonly KubeObject[];
      return items.map((object) => ({ resource, object }));
    });
}

/** Says in the namespace's status what it waits for. */
function report(store: EmbeddedStore, namespace: string, contents: readonly Content[]): void {
  const finalizers = new Map<string, number>();
  const kinds = new Map<string, number>();
  for (const { resource, object } of contents) {
    const plural = pluralName(resource);
    kinds.set(plural, (kinds.get(plural) ?? 0) + 1);
    for (const each of object.metadata.finalizers ?? [])
      finalizers.set(each, (finalizers.get(each) ?? 0) + 1);
  }
  const remaining = [...kinds]
    .map(([plural, count]) => `${plural} has ${count} resource instances`)
    .join(', ');
  const held = [...finalizers].map(([each, count]) => `${each} in ${count} resource instances`).join(', ');
  const conditions = [
    condition(
      'NamespaceContentRemaining',
      'SomeResourcesRemain',
      `Some resources are remaining: ${remaining}`,
    ),
    condition(
      'NamespaceFinalizersRemaining',
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${held}`,
    ),
  ];
  const body = {
    status: { phase: 'Terminating', conditions: finalizers.size === 0 ? conditions.slice(0, 1) : conditions },
  };
  const request = {
    verb: 'patch',
    resource: NAMESPACES,
    name: namespace,
    user: USER,
    patchType: 'merge',
  } as const;
  store.execute({ ...request, subresource: 'status', body });
}

function condition(type: string, reason: string, message: string) {
  return { type, status: 'True', reason, message };
}
