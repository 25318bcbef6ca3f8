import type { Clock, Random } from '../clock.ts';
import type { KubeApi, KubeObject, Resource } from '../kube/api.ts';
import { isSubdomain } from '../kube/names.ts';
import { type Change, createReflector, type Reflector } from '../kube/reflector.ts';
import type { Platform, WatchSpec } from '../platform/platform.ts';
import type { Log } from '../telemetry/log.ts';
import type { Notice, NoticeObject } from '../transport/notice.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createPoolNames, EVERY_POOL, type PoolNames } from './pool-names.ts';
import { createTroubles, type Troubles } from './troubles.ts';

export interface ForwarderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly platforms: readonly Pick<Platform, 'name' | 'watches' | 'keysOf' | 'poolIn'>[];
  readonly clusterId: string;
  readonly namespaces: readonly string[];
  /** Sends one notice and resolves when that is over; tries for ever on its own account. Must not reject. */
  readonly send: (notice: Notice) => Promise<unknown>;
  readonly log: Log;
}

/** One watched kind in one namespace, as it is now. */
export interface WatchedKind {
  readonly platform: string;
  readonly namespace: string;
  readonly kind: string;
  /** When the server last said something about it, epoch ms; `undefined` before it ever did. */
  readonly lastSeenAt: number | undefined;
  /** It is not served to us (404, 403). Asking goes on. */
  readonly isAbsent: boolean;
  readonly lists: number;
  readonly watches: number;
}

/** Watches one cluster and says which pools something happened to. */
export interface Forwarder {
  /** Resolves when every kind was listed once, or turned out not to be served to us. */
  readonly ready: Promise<void>;
  /** Every watch, with how it is. */
  kinds(): readonly WatchedKind[];
  /** Pools that a notice waits for or is on its way about; how many changes were seen, and how many shared a notice. */
  outbox(): { readonly size: number; readonly added: number; readonly coalesced: number };
  /** Resolves when everything seen so far is sent. */
  flushed(): Promise<void>;
  /** Ends all watches, and resolves when what was seen so far is sent, without waiting for more of it. */
  drain(): Promise<void>;
  /** Ends all watches. What waits to be sent is dropped: the next start tells of every object anew. */
  stop(): Promise<void>;
}

/** What is remembered of an object: the pools it concerns, and its fingerprint where the platform has one. */
interface Kept {
  readonly names: readonly string[];
  readonly fingerprint: string | undefined;
}

/** One kind in one namespace, for one platform. */
interface Beat {
  readonly platform: ForwarderOptions['platforms'][number];
  readonly spec: WatchSpec;
  readonly namespace: string;
}

/** Starts one reflector for every kind and namespace. Nothing that happens in the cluster stops it. */
export function startForwarder(options: ForwarderOptions): Forwarder {
  const { clock, random, platforms, namespaces, send } = options;
  const stopping = new AbortController();
  const outbox = createOutbox({ clock, epoch: newEpoch(random), send });
  const pools = createPoolNames();
  const troubles = createTroubles(options);
  const beats = platforms.flatMap((platform) =>
    platform.watches.flatMap((spec) =>
      namespaces
        .filter((namespace) => platform.poolIn === undefined || platform.poolIn(namespace) !== undefined)
        .map((namespace): Beat => ({ platform, spec, namespace })),
    ),
  );
  const followed = beats.map((beat) => ({
    beat,
    reflector: follow(options, beat, { pools, outbox, troubles }),
  }));
  const reflectors = followed.map(({ reflector }) => reflector);
  const runs = reflectors.map((reflector) => reflector.run(stopping.signal));
  const endWatches = (): void => {
    stopping.abort();
    troubles.stop();
  };
  return {
    ready: Promise.all(reflectors.map((reflector) => reflector.answered)).then(() => undefined),
    kinds: () => followed.map(watchedKind),
    outbox: () => ({ size: outbox.size(), ...outbox.counts() }),
    flushed: () => outbox.flushed(),
    async drain() {
      endWatches();
      await Promise.all(runs);
      outbox.hurry();
      await outbox.flushed();
    },
    async stop() {
      endWatches();
      outbox.stop();
      await Promise.all(runs);
    },
  };
}

/** What all kinds of a forwarder share. */
interface Common {
  readonly pools: PoolNames;
  readonly outbox: Outbox;
  readonly troubles: Troubles;
}

function follow(options: ForwarderOptions, beat: Beat, { pools, outbox, troubles }: Common): Reflector {
  const { api, clock, random, log, clusterId } = options;
  const { platform, spec, namespace } = beat;
  const scope = `${platform.name}/${namespace}`;
  // What belongs to no namespace is seen from every one: it is news only in that of its pool.
  const only = platform.poolIn?.(namespace);
  const name = options.namespaces.length > 1 ? `${namespace}/${spec.resource.kind}` : spec.resource.kind;
  return createReflector<Kept>({
    api,
    resource: spec.resource,
    list: { ...(spec.resource.namespaced ? { namespace } : {}), metadataOnly: spec.metadataOnly },
    clock,
    random,
    log,
    onTrouble: (trouble) => (trouble === undefined ? troubles.over(name) : troubles.add(name, trouble)),
    keep: (object) => ({
      // An object may claim to belong to anything: a name that no pool can have would only be refused at the door.
      names: platform
        .keysOf(spec.resource, object)
        .filter((name) => name === EVERY_POOL || (isSubdomain(name) && name === (only ?? name))),
      fingerprint: spec.changed?.(object),
    }),
    onChange(change) {
      pools.follow(scope, change);
      if (!isNews(change)) return;
      const object = identityOf(spec.resource, change.object, namespace);
      const urgent = change.type !== 'sync' && (spec.urgent || change.type === 'deleted');
      for (const name of pools.expand(scope, concerned(change))) {
        const key = { cluster: clusterId, platform: platform.name, namespace, name };
        outbox.add({ key, object, reason: change.type, urgent });
      }
    },
  });
}

/** A change that left the fingerprint and the pools as they were is no news. */
function isNews({ type, kept, before }: Change<Kept>): boolean {
  if (type !== 'changed' || before === undefined || kept.fingerprint === undefined) return true;
  return kept.fingerprint !== before.fingerprint || kept.names.join() !== before.names.join();
}

/** An object that moved from one pool to another concerns both. */
function concerned({ kept, before }: Change<Kept>): readonly string[] {
  return [...new Set([...kept.names, ...(before?.names ?? [])])];
}

function identityOf(resource: Resource, object: KubeObject, namespace: string): NoticeObject {
  const { name, uid = '', resourceVersion = '' } = object.metadata;
  return { group: resource.group, kind: resource.kind, namespace, name, uid, resourceVersion };
}

function watchedKind({ beat, reflector }: { beat: Beat; reflector: Reflector }): WatchedKind {
  return {
    platform: beat.platform.name,
    namespace: beat.namespace,
    kind: beat.spec.resource.kind,
    lastSeenAt: reflector.lastSeenAt(),
    isAbsent: reflector.isAbsent(),
    ...reflector.effort(),
  };
}

/** 16 hexadecimal digits: two starts of the forwarder never share one in practice. */
function newEpoch(random: Random): string {
  const part = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return part() + part();
}
