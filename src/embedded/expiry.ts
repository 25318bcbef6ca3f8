import type { KubeObject } from '../kube/api.ts';
import { createWorkList } from './_work-list.ts';
import { list } from './json.ts';
import type { EmbeddedStore } from './store.ts';
import type { Actor } from './types.ts';

interface EventExpiryOptions {
  /** Epoch ms. */
  readonly now: () => number;
  /** How long an Event stands after its last write; an hour when not given, as on a real server. */
  readonly ttlMs?: number;
}

const TTL_MS = 3_600_000;
const USER = 'system:apiserver';
const EVENTS = { group: '', version: 'v1', plural: 'events' };

/** Removes Events whose time is over; a write on one gives it another whole term. */
export function createEventExpiry(store: EmbeddedStore, { now, ttlMs = TTL_MS }: EventExpiryOptions): Actor {
  const work = createWorkList();
  const endsAt = new Map<string, number>();
  const note = ({ metadata: { namespace, name } }: KubeObject) => {
    const key = `${namespace}/${name}`;
    endsAt.set(key, now() + ttlMs);
    work.add(key, now() + ttlMs);
  };
  const standing = store.execute({ verb: 'list', resource: EVENTS, user: USER });
  for (const event of list(standing.body['items'])) note(event as KubeObject);
  store.onCommit(({ type, resource, object }) => {
    if (resource.group !== EVENTS.group || resource.plural !== EVENTS.plural) return;
    if (type !== 'DELETED') return note(object);
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    endsAt.delete(key);
    work.drop(key);
  });
  return {
    name: 'event-expiry',
    dueAt: () => work.dueAt(),
    run: () => {
      const key = work.take(now());
      const end = key === undefined ? undefined : endsAt.get(key);
      if (key === undefined || end === undefined) return;
      if (end > now()) return work.add(key, end);
      const [namespace = '', name = ''] = key.split('/');
      store.execute({ verb: 'delete', resource: EVENTS, namespace, name, user: USER });
    },
  };
}
