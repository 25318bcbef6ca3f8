import type { KubeApi, KubeObject, Resource, WatchEvent } from '../../kube/api.ts';
import { HandlerError, type Hands, KilledError } from './operator-hands.ts';

/** Reconnects without a single event after which the operator gives up. */
const RECONNECTS_MAX = 10;
const RECONNECT_MS = 1_000;

/** One thing that the operator hears. `source`: from its list at the start, or from its watch. */
export interface Heard {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  readonly source: 'list' | 'watch';
}

/** Decides what becomes of one event on its way: dropped, doubled, held back for later, or turned into another. */
export type Deliver = (event: Heard) => readonly Heard[];

export interface Feed {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly hands: Hands;
  readonly deliver: Deliver;
  /** Whether an event with a version that was seen already is handled once more. */
  readonly hearsTwice: boolean;
}

/**
 * Hears of one kind: a list whose objects are replayed as ADDED, then a watch that begins with no resourceVersion and so
 * delivers every object as ADDED **again**. Only events strictly older than what was seen are dropped; DELETED comes
 * with the object as last seen. `replayed` is called between the two. Rejects when the operator would end itself.
 */
export async function follow(
  feed: Feed,
  resource: Resource,
  handle: (event: Heard) => Promise<void> | void,
  replayed: () => void,
): Promise<void> {
  const seen = new Map<string, KubeObject>();
  const hear = async (event: Heard): Promise<void> => {
    for (const delivered of feed.deliver(event)) {
      const current = remember(seen, delivered, feed.hearsTwice);
      if (current !== undefined) await handle(current);
    }
  };
  for (const object of await feed.hands.list(resource)) await hear({ type: 'ADDED', object, source: 'list' });
  replayed();

  // '0' is what the server takes a missing resourceVersion for: everything that is there, then what changes.
  const place: WatchPlace = { resource, resourceVersion: '0' };
  for (let silent = 0; silent < RECONNECTS_MAX; silent += 1) {
    if (await watchOnce(feed, place, hear)) silent = 0;
    await feed.hands.sleep(RECONNECT_MS);
  }
  throw new HandlerError(`watching ${resource.plural}: ${RECONNECTS_MAX} reconnects without an event`);
}

interface WatchPlace {
  readonly resource: Resource;
  /** Where the next stream begins. */
  resourceVersion: string;
}

/** Hears one stream to its end, whatever ended it; tells whether it brought anything. */
async function watchOnce(
  { api, namespace, hands }: Feed,
  place: WatchPlace,
  hear: (event: Heard) => Promise<void>,
): Promise<boolean> {
  const { resource, resourceVersion } = place;
  let heard = false;
  try {
    for await (const event of api.watch(resource, { namespace, resourceVersion }, hands.signal)) {
      if (hands.signal.aborted) throw new KilledError();
      if (event.type === 'ERROR') throw new HandlerError(`watching ${resource.plural}: ${event.message}`);
      heard = true;
      place.resourceVersion = versionIn(event) ?? place.resourceVersion;
      if (event.type !== 'BOOKMARK') await hear({ type: event.type, object: event.object, source: 'watch' });
    }
  } catch (error) {
    // A broken stream is opened again; what a handler threw is not the stream's.
    if (error instanceof HandlerError || error instanceof KilledError) throw error;
  }
  return heard;
}

const versionIn = (event: Exclude<WatchEvent, { type: 'ERROR' }>): string | undefined =>
  event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;

function remember(seen: Map<string, KubeObject>, event: Heard, hearsTwice: boolean): Heard | undefined {
  const uid = event.object.metadata.uid ?? '';
  const known = seen.get(uid);
  if (event.type === 'DELETED') {
    seen.delete(uid);
    return { ...event, object: known ?? event.object };
  }
  if (known !== undefined && versionOf(event.object) < versionOf(known)) return undefined;
  if (!hearsTwice && known !== undefined && versionOf(event.object) === versionOf(known)) return undefined;
  seen.set(uid, event.object);
  return event;
}

const versionOf = ({ metadata }: KubeObject): bigint => BigInt(metadata.resourceVersion ?? '0');
