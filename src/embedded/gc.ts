import type { KubeObject, OwnerReference } from '../kube/api.ts';
import { isOrphaning, isWaiting, type Owned, OwnerGraph, type Standing } from './_owners.ts';
import { createWorkList, type WorkList } from './_work-list.ts';
import type { EmbeddedStore } from './store.ts';
import type { Actor, Commit, StoreRequest } from './types.ts';

export interface GarbageCollectorOptions {
  /** Epoch ms. */
  readonly now: () => number;
  /** How long after a change the collector looks at it; 20 ms when not given. */
  readonly lagMs?: number | (() => number);
}

const LAG_MS = 20;
/** The name under which the collector makes its requests. */
export const GARBAGE_COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';

/**
 * The garbage collector: deletes objects whose owners are gone, strips dead references of objects that have another owner,
 * and works off the finalizers of foreground and orphaning deletes. One request a unit.
 */
export function createGarbageCollector(store: EmbeddedStore, options: GarbageCollectorOptions): Actor {
  const { now, lagMs = LAG_MS } = options;
  const graph = new OwnerGraph(store);
  const work = createWorkList();
  const lag = typeof lagMs === 'number' ? () => lagMs : lagMs;
  for (const commit of present(store)) note(graph, work, commit, now() + lag());
  store.onCommit((commit) => note(graph, work, commit, now() + lag()));
  return {
    name: 'garbage-collector',
    dueAt: () => work.dueAt(),
    run: () => {
      const uid = work.take(now());
      const owned = uid === undefined ? undefined : graph.get(uid);
      // More than one request may be needed; the commit of each brings the object back onto the list.
      if (owned !== undefined) collect(store, graph, owned);
    },
  };
}

/** The objects that are there already, as if they had just come. */
function present(store: EmbeddedStore): readonly Commit[] {
  return store.kinds().flatMap(({ resource }) => {
    const request: StoreRequest = { verb: 'list', resource, user: GARBAGE_COLLECTOR };
    const items = store.execute(request).body['items'] as readonly KubeObject[];
    return items.map((object): Commit => {
      return { resourceVersion: store.revision(), type: 'ADDED', resource, object, request };
    });
  });
}

/** Puts onto the list whatever a change may concern. */
function note(graph: OwnerGraph, work: WorkList, commit: Commit, at: number): void {
  graph.apply(commit);
  for (const uid of concerned(graph, commit)) work.add(uid, at);
}

function concerned(graph: OwnerGraph, { type, object, previous }: Commit): readonly string[] {
  const { uid = '', ownerReferences = [] } = object.metadata;
  const dependents = () => graph.dependentsOf(uid).map((dependent) => dependent.object.metadata.uid ?? '');
  // An owner may have waited for this dependent.
  if (type === 'DELETED') return [...dependents(), ...ownerReferences.map((owner) => owner.uid)];
  const before = previous?.metadata.ownerReferences ?? [];
  const moved =
    previous?.metadata.ownerReferences === object.metadata.ownerReferences
      ? []
      : [uid, ...before.map((owner) => owner.uid)];
  if (isOrphaning(object)) return [...moved, uid];
  if (!isWaiting(object)) return moved;
  const begun = previous === undefined || !isWaiting(previous);
  return [...moved, uid, ...(begun ? dependents() : [])];
}

function collect(store: EmbeddedStore, graph: OwnerGraph, owned: Owned): void {
  if (isOrphaning(owned.object)) orphan(store, graph, owned);
  else if (isWaiting(owned.object)) finishForeground(store, graph, owned);
  else if (owned.object.metadata.deletionTimestamp === undefined) judge(store, graph, owned);
}

/** Takes the owner off one dependent; that brings the owner back here, until none is left and it may go. */
function orphan(store: EmbeddedStore, graph: OwnerGraph, owner: Owned): void {
  const uid = owner.object.metadata.uid ?? '';
  const [dependent] = graph.dependentsOf(uid);
  if (dependent === undefined) dropFinalizer(store, owner, 'orphan');
  else {
    const references = dependent.object.metadata.ownerReferences ?? [];
    strip(
      store,
      dependent,
      references.filter((reference) => reference.uid !== uid),
    );
  }
}

/** A foreground delete ends when no dependent is left that blocks it. */
function finishForeground(store: EmbeddedStore, graph: OwnerGraph, owner: Owned): void {
  const uid = owner.object.metadata.uid ?? '';
  const isBlocking = ({ object }: Owned) =>
    object.metadata.ownerReferences?.some(
      (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
    ) === true;
  if (!graph.dependentsOf(uid).some(isBlocking)) dropFinalizer(store, owner, 'foregroundDeletion');
}

/** Looks at the owners of one object and does what follows for it. */
function judge(store: EmbeddedStore, graph: OwnerGraph, owned: Owned): void {
  const references = owned.object.metadata.ownerReferences ?? [];
  if (references.length === 0) return;
  const standings = references.map((reference): [OwnerReference, Standing] => [
    reference,
    graph.standing(owned, reference),
  ]);
  const solid = standings.filter(([, standing]) => standing === 'solid').map(([reference]) => reference);
  if (solid.length === references.length) return;
  if (solid.length > 0) strip(store, owned, solid);
  else discard(store, graph, owned, standings);
}

function discard(
  store: EmbeddedStore,
  graph: OwnerGraph,
  owned: Owned,
  standings: readonly (readonly [OwnerReference, Standing])[],
): void {
  const waits = standings.some(([, standing]) => standing === 'waiting');
  const foreground = waits && graph.hasDependents(owned.object.metadata.uid ?? '');
  store.execute({
    ...place(owned),
    verb: 'delete',
    options: {
      preconditions: preconditions(owned),
      propagation: foreground ? 'Foreground' : 'Background',
    },
  });
}

function preconditions({ object }: Owned) {
  const { uid } = object.metadata;
  return uid === undefined ? {} : { uid };
}

function place({ resource, object }: Owned): Omit<StoreRequest, 'verb'> {
  const { namespace, name } = object.metadata;
  return { resource, name, user: GARBAGE_COLLECTOR, ...(namespace === undefined ? {} : { namespace }) };
}

function strip(store: EmbeddedStore, owned: Owned, rest: readonly OwnerReference[]): void {
  patchMetadata(store, owned, { ownerReferences: rest.length === 0 ? null : rest });
}

function dropFinalizer(store: EmbeddedStore, owned: Owned, finalizer: string): void {
  const rest = (owned.object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  patchMetadata(store, owned, { finalizers: rest.length === 0 ? null : rest });
}

function patchMetadata(store: EmbeddedStore, owned: Owned, fields: Readonly<Record<string, unknown>>): void {
  // The graph is as new as the store, so that these guards hold; they are there because the real collector sends them.
  const { uid, resourceVersion } = owned.object.metadata;
  const body = { metadata: { uid, resourceVersion, ...fields } };
  store.execute({ ...place(owned), verb: 'patch', patchType: 'merge', body });
}
