import { systemClock } from '../../src/clock.ts';
import type { Commit } from '../../src/embedded/types.ts';
import type { KubeApi, KubeObject, Outcome, Resource } from '../../src/kube/api.ts';
import { SESSIONS } from '../../src/platform/theia-cloud/resources.ts';
import type { Violation } from '../../src/pool/invariants.ts';
import type { Mirror, Teller, View } from '../real-cluster/mirror.ts';

/**
 * Sees what Everwarm sends to a real server. It judges less than the simulator's watcher, which knows the world at the very
 * moment of each request: that nothing is deleted without a guard, and nothing of an instance that a user holds.
 */
export interface Witness {
  readonly violations: readonly Violation[];
  /** Write requests of Everwarm so far, refused ones included. */
  writes(): number;
  /** When Everwarm last asked or was answered anything, epoch ms. */
  calledAt(): number;
  beginPass(pool: string): { readonly user: string; judge(api: KubeApi): KubeApi };
  stop(): void;
}

export function createWitness(mirror: Mirror, view: View, namespace: string): Witness {
  const violations: Violation[] = [];
  let passes = 0;
  let writes = 0;
  let calledAt = 0;
  const heard = async <T>(send: () => Promise<T>): Promise<T> => {
    calledAt = systemClock.now();
    const answer = await send();
    calledAt = systemClock.now();
    return answer;
  };
  const written = <T>(send: () => Promise<T>): Promise<T> => {
    writes += 1;
    return heard(send);
  };
  const report = (name: Violation['name'], message: string) => violations.push({ name, message });
  const stop = view.onCommit((commit) => {
    const robbed = commit.request.user.startsWith('everwarm/') ? robbedOf(commit, view) : undefined;
    if (robbed !== undefined) report('S1', `${commit.object.metadata.name} of ${robbed} was taken away`);
  });
  const judge = (api: KubeApi, user: string): KubeApi =>
    attributed(
      {
        ...api,
        get: async (resource, place) => {
          const outcome = await heard(() => api.get(resource, place));
          if (outcome.kind === 'ok') mirror.see(resource, [outcome.value]);
          return outcome;
        },
        list: async (resource, options) => {
          const outcome = await heard(() => api.list(resource, options));
          if (outcome.kind === 'ok') mirror.see(resource, outcome.value.items);
          return outcome;
        },
        create: (...args) => written(() => api.create(...args)),
        patch: (...args) => written(() => api.patch(...args)),
        delete: (resource, place, options) => {
          if (options.preconditions?.uid === undefined) report('S2', `${place.name} deleted without its uid`);
          return written(() => api.delete(resource, place, options));
        },
      },
      { mirror, namespace, user },
    );
  return {
    violations,
    writes: () => writes,
    calledAt: () => calledAt,
    beginPass: (pool) => {
      passes += 1;
      const user = `everwarm/${pool}/${passes}`;
      return { user, judge: (api) => judge(api, user) };
    },
    stop,
  };
}

/** What is written through it in `namespace` is told as `user`'s: the watch does not say who it was. */
export function attributed(
  api: KubeApi,
  { mirror, namespace, user }: { mirror: Mirror; namespace: string; user: string },
): KubeApi {
  const during = <T>(resource: Resource, name: string, teller: Omit<Teller, 'user'>, send: Send<T>) =>
    mirror.during(resource, { namespace, name }, { ...teller, user }, send);
  return {
    ...api,
    create: (resource, where, body) => {
      const { name } = (body as KubeObject).metadata;
      return during(resource, name, { verb: 'create', body }, () => api.create(resource, where, body));
    },
    patch: (resource, place, patch) => {
      const teller = { verb: 'patch', patchType: patch.type, body: patch.patch } as const;
      const sub = place.subresource === undefined ? {} : { subresource: place.subresource };
      return during(resource, place.name, { ...teller, ...sub }, () => api.patch(resource, place, patch));
    },
    delete: (resource, place, options) =>
      during(resource, place.name, { verb: 'delete', options }, () => api.delete(resource, place, options)),
  };
}

type Send<T> = () => Promise<Outcome<T>>;

/** The Session that holds what was deleted, if one does. */
function robbedOf({ type, object, previous }: Commit, view: View): string | undefined {
  const isGoing = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
  if (!isGoing || object.kind === 'Session') return undefined;
  const holders =
    (previous ?? object).metadata.ownerReferences?.filter(({ kind }) => kind === 'Session') ?? [];
  const held = holders.find(({ uid }) =>
    view
      .list(SESSIONS)
      .some(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp === undefined),
  );
  return held?.name;
}
