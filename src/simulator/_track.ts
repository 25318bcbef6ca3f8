import type { EmbeddedStore } from '../embedded/store.ts';
import type { Commit, StoreRequest } from '../embedded/types.ts';
import type { JsonPatch, KubeObject, Resource } from '../kube/api.ts';
import { SESSIONS } from '../platform/theia-cloud/resources.ts';
import type { PartKind, ReadObject, Sight } from '../pool/invariants.ts';

/** What is known of one pass: what it read, what it saw, what it wrote. */
export interface Track {
  readonly pool: string;
  /** Kinds in the order in which this look read them. */
  reads: string[];
  began: number;
  /** What this look read of each kind, as it stood in that moment. */
  seen: Map<string, ReadonlyMap<string, KubeObject>>;
  /** The most slots that it saw. */
  slots: number;
  sight: (Sight & { readonly revision: number }) | undefined;
  allowed: number;
  writes: number;
  /** Something may not be read: what is then said of the pool is that, and nothing of its instances. */
  barred: boolean;
  readonly fenced: Set<string>;
  readonly read: Map<string, ReadObject>;
}

/** The patch changes labels and nothing else. */
export function isLabelling(patch: unknown): boolean {
  return (patch as JsonPatch).every(({ op, path }) => op === 'test' || path.startsWith('/metadata/labels'));
}

/** What is in the store already, as if it had just come. */
export function standing(store: EmbeddedStore): readonly Commit[] {
  return store.kinds().flatMap(({ resource }) => {
    const request: StoreRequest = { verb: 'list', resource, user: 'watcher' };
    const items = store.execute(request).body['items'] as readonly KubeObject[];
    return items.map((object): Commit => ({ type: 'ADDED', resource, object, request, resourceVersion: 0 }));
  });
}

/** Others' writes after which an instance may have come, gone, been claimed or been released. */
export function movesInstances({ type, resource, object, previous }: Commit): boolean {
  if (resource.plural === SESSIONS.plural || resource.plural === 'appdefinitions') return true;
  if (!['services', 'deployments', 'configmaps'].includes(resource.plural)) return false;
  return type !== 'MODIFIED' || object.metadata.ownerReferences !== previous?.metadata.ownerReferences;
}

/** The pass has seen the object in this version. */
export function remember(track: Track, { plural }: Resource, { metadata }: KubeObject): void {
  const { name, uid = '', resourceVersion = '' } = metadata;
  const key = `${plural}/${name}`;
  const known = track.read.get(key);
  const versions = known?.uid === uid ? [...known.versions, resourceVersion] : [resourceVersion];
  track.read.set(key, { uid, versions });
}

/** Which part of an instance or pool a name of that kind is. */
export function partOf({ plural }: Resource, name: string, subresource: string | undefined): PartKind {
  switch (plural) {
    case 'services':
      return name.endsWith('-int') ? 'companion' : 'anchor';
    case 'deployments':
      return 'workload';
    case 'configmaps':
      return 'config';
    case 'warmpools':
      return subresource === 'status' ? 'memory' : 'policy';
    default:
      return 'other';
  }
}
