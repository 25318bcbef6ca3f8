import type { EmbeddedStore } from '../embedded/store.ts';
import type { Commit, StoreRequest } from '../embedded/types.ts';
import type { KubeObject, Resource } from '../kube/api.ts';
import { SESSIONS } from '../platform/theia-cloud/resources.ts';
import type { Change, PartKind, ReadObject, Sight } from '../pool/invariants.ts';

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
  /** Writes of Events, which are no writes on the pool. */
  told: number;
  /** Something may not be read: what is then said of the pool is that, and nothing of its instances. */
  barred: boolean;
  readonly fenced: Set<string>;
  readonly read: Map<string, ReadObject>;
}

const ENTRY = 'authenticated-emails-list';

/** What is another than before. */
export function changesOf(object: KubeObject, previous: KubeObject | undefined): readonly Change[] {
  if (previous === undefined) return [];
  const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  const { metadata: now, data, ...rest } = object;
  const { metadata: then, data: dataThen, ...restThen } = previous;
  const { [ENTRY]: entry, ...others } = (data ?? {}) as Record<string, unknown>;
  const { [ENTRY]: entryThen, ...othersThen } = (dataThen ?? {}) as Record<string, unknown>;
  const isOther = differ([rest, others], [restThen, othersThen]);
  return [
    ...(differ(now.labels, then.labels) ? ['labels' as const] : []),
    ...(differ(now.annotations, then.annotations) ? ['annotations' as const] : []),
    ...(differ(now.ownerReferences, then.ownerReferences) ? ['owners' as const] : []),
    ...(differ(entry, entryThen) ? ['entry' as const] : []),
    ...(isOther ? ['rest' as const] : []),
  ];
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
  if (!PARTS_OF.has(resource.plural)) return false;
  return type !== 'MODIFIED' || object.metadata.ownerReferences !== previous?.metadata.ownerReferences;
}

/** Kinds that an instance is made of. */
const PARTS_OF: ReadonlySet<string> = new Set([
  'services',
  'deployments',
  'configmaps',
  'persistentvolumeclaims',
]);

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
    case 'persistentvolumeclaims':
      return 'config';
    case 'httproutes':
      return 'route';
    case 'warmpools':
      return subresource === 'status' ? 'memory' : 'policy';
    default:
      return 'other';
  }
}
