import type { Commit } from '../embedded/types.ts';
import type { KubeObject, Resource } from '../kube/api.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  OPERATOR_LEASE_NAME,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  SERVICES,
  SESSIONS,
} from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Truth } from '../pool/invariants.ts';
import { type Objects, text } from './_fields.ts';
import { claimsOn, isLed, partsOf, slotNamed, truthOf } from './_standing.ts';

/** Kinds of which a truth is made. */
const TOLD_FROM: ReadonlySet<string> = new Set(
  [
    APP_DEFINITIONS_V1BETA11,
    WARM_POOLS,
    SESSIONS,
    SERVICES,
    DEPLOYMENTS,
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    NAMESPACES,
  ].map(({ plural }) => plural),
);

/** The world as it is, told from the committed objects alone: nothing of what Everwarm believes goes into it. */
export interface TruthReader {
  /** Every commit, in order, must be told. */
  apply(commit: Commit): void;
  /** The pools that have a definition, by name. */
  pools(): readonly string[];
  truth(pool: string): Truth;
  /** The same, told from what was read of some kinds at earlier moments. */
  truthOf(pool: string, read: ReadonlyMap<string, Objects>): Truth;
  /** All objects of a kind as they stand now, to be kept. */
  snapshot(plural: string): Objects;
  /** Pool and slot of an object by its name, whoever owns it. */
  slotOf(name: string): { readonly pool: string; readonly slot: string } | undefined;
  object(resource: Pick<Resource, 'plural'>, name: string): KubeObject | undefined;
  objects(resource: Pick<Resource, 'plural'>): Objects;
  workloadOf(pool: string, slot: string): KubeObject | undefined;
  /** Name of a Session by its uid. */
  sessionName(uid: string): string | undefined;
  /** uids of Sessions that stand and are not going, among the owners of `object`. */
  claimsOn(object: KubeObject | undefined): readonly string[];
  /**
   * A Session of the pool got no answer yet and is younger than 30 s, and the operator lived to give one when its Lease was
   * read: who takes it between that and the next read cannot be known of.
   */
  hasUnsettled(pool: string, now: number, read: ReadonlyMap<string, Objects>): boolean;
}

/** Knows nothing yet: must be told of every commit from the first on. */
export function createTruthReader(): TruthReader {
  const kinds = new Map<string, Map<string, KubeObject>>();
  // No two kinds of a simulated cluster share their plural.
  const of = ({ plural }: Pick<Resource, 'plural'>): Map<string, KubeObject> => {
    const known = kinds.get(plural);
    if (known !== undefined) return known;
    const fresh = new Map<string, KubeObject>();
    kinds.set(plural, fresh);
    return fresh;
  };
  const known = new Map<string, Truth>();
  const reader: TruthReader = {
    apply: ({ type, resource, object }) => {
      if (TOLD_FROM.has(resource.plural)) known.clear();
      const objects = of(resource);
      if (type === 'DELETED') objects.delete(object.metadata.name);
      else objects.set(object.metadata.name, object);
    },
    pools: () => [...of(APP_DEFINITIONS_V1BETA11).keys()],
    truth: (pool) => {
      const truth = known.get(pool) ?? truthOf(pool, of);
      known.set(pool, truth);
      return truth;
    },
    truthOf: (pool, read) => truthOf(pool, (resource) => read.get(resource.plural) ?? of(resource)),
    snapshot: (plural) => new Map(of({ plural })),
    slotOf: (name) => slotNamed(name, of(APP_DEFINITIONS_V1BETA11)),
    object: (resource, name) => of(resource).get(name),
    objects: of,
    workloadOf: (pool, slot) => {
      const source = of(APP_DEFINITIONS_V1BETA11).get(pool);
      return source === undefined ? undefined : partsOf(source, Number(slot), of).deployment;
    },
    sessionName: (uid) =>
      [...of(SESSIONS).values()].find(({ metadata }) => metadata.uid === uid)?.metadata.name,
    claimsOn: (object) => claimsOn(object, of),
    hasUnsettled: (pool, now, read) =>
      isLed((read.get(LEASES.plural) ?? of(LEASES)).get(OPERATOR_LEASE_NAME), now) &&
      [...of(SESSIONS).values()].some((session) => {
        const status = text(session, 'status', 'operatorStatus');
        const age = now - Date.parse(session.metadata.creationTimestamp ?? '');
        const mine = text(session, 'spec', 'appDefinition') === pool;
        return mine && status !== 'HANDLED' && status !== 'ERROR' && age < 30_000;
      }),
  };
  return reader;
}
