import type { Commit } from '../embedded/types.ts';
import type { KubeObject, Resource } from '../kube/api.ts';
import { type InstanceNames, instanceNames, podSelector } from '../platform/theia-cloud/names.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  OPERATOR_LEASE_NAME,
  PODS,
  SERVICES,
  SESSIONS,
  WARM_POOLS,
} from '../platform/theia-cloud/resources.ts';
import type { Standing, Truth } from '../pool/invariants.ts';

/** What a hand puts into a proxy's configuration when it edits it. */
export const HAND_MARK = 'edited by hand';
const LABEL = 'theia-cloud.io/appdefinition-generation';
const CLAIM_LABELS = ['theia-cloud.io/user', 'theia-cloud.io/session', 'theia-cloud.io/session-uuid'];

/** Kinds of which a truth is made. */
const TOLD_FROM: ReadonlySet<string> = new Set(
  [APP_DEFINITIONS_V1BETA11, WARM_POOLS, SESSIONS, SERVICES, DEPLOYMENTS, CONFIG_MAPS, PODS, NAMESPACES].map(
    ({ plural }) => plural,
  ),
);

type Objects = ReadonlyMap<string, KubeObject>;

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
  /** A Session of the pool got no answer yet and is younger than 30 s, and the operator lives to give one. */
  hasUnsettled(pool: string, now: number): boolean;
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
    hasUnsettled: (pool, now) =>
      isLed(of(LEASES).get(OPERATOR_LEASE_NAME), now) &&
      [...of(SESSIONS).values()].some((session) => {
        const status = text(session, 'status', 'operatorStatus');
        const age = now - Date.parse(session.metadata.creationTimestamp ?? '');
        const mine = text(session, 'spec', 'appDefinition') === pool;
        return mine && status !== 'HANDLED' && status !== 'ERROR' && age < 30_000;
      }),
  };
  return reader;
}

type Kinds = (resource: Pick<Resource, 'plural'>) => Objects;

function truthOf(pool: string, of: Kinds): Truth {
  const source = of(APP_DEFINITIONS_V1BETA11).get(pool);
  const warmPool = of(WARM_POOLS).get(pool);
  const policy = (warmPool?.['spec'] ?? {}) as Policy;
  const base = {
    maxUnavailable: policy.rollout?.maxUnavailable ?? '25%',
    leaving: policy.mode === 'observe',
  };
  if (source === undefined)
    return { ...base, alive: false, definition: '', replicas: 0, slots: new Map<string, Standing>() };
  const namespace = of(NAMESPACES).get(source.metadata.namespace ?? '');
  const replicas = Number((source['spec'] as { minInstances?: number }).minInstances ?? 0);
  const slots = new Map<string, Standing>();
  for (const slot of slotsOf(source, replicas, of)) {
    slots.set(String(slot), standingOf({ source, warmPool, slot, replicas, of }));
  }
  return {
    ...base,
    alive: !isGoing(source) && namespace !== undefined && !isGoing(namespace),
    definition: `${source.metadata.uid}/${source.metadata.generation}`,
    replicas,
    slots,
  };
}

interface Policy {
  readonly mode?: string;
  readonly staleness?: string;
  readonly rollout?: { readonly maxUnavailable?: number | string };
}

function slotsOf(source: KubeObject, replicas: number, of: Kinds): ReadonlySet<number> {
  const suffix = (source.metadata.uid ?? '').slice(-12);
  const slots = new Set(Array.from({ length: replicas }, (_, at) => at + 1));
  for (const resource of [SERVICES, DEPLOYMENTS, CONFIG_MAPS]) {
    for (const name of of(resource).keys()) {
      const slot = name.includes(suffix) ? numberIn(name) : undefined;
      if (slot !== undefined) slots.add(slot);
    }
  }
  return slots;
}

function numberIn(name: string): number | undefined {
  const found = /^instance-([1-9][0-9]*)-/.exec(name)?.[1];
  return found === undefined ? undefined : Number(found);
}

function slotNamed(name: string, sources: Objects): { pool: string; slot: string } | undefined {
  const slot = numberIn(name);
  if (slot === undefined) return undefined;
  for (const [pool, { metadata }] of sources) {
    if (name.includes((metadata.uid ?? '?').slice(-12))) return { pool, slot: String(slot) };
  }
  return undefined;
}

interface SlotInput {
  readonly source: KubeObject;
  readonly warmPool: KubeObject | undefined;
  readonly slot: number;
  readonly replicas: number;
  readonly of: Kinds;
}

/** The objects under the names of one slot. */
type Parts = Readonly<Record<keyof InstanceNames, KubeObject | undefined>>;

function standingOf(input: SlotInput): Standing {
  const { source, warmPool, slot, replicas, of } = input;
  const parts = partsOf(source, slot, of);
  const { externalService, internalService, deployment } = parts;
  const standing = Object.values(parts).filter((part) => part !== undefined);
  const claimedBy = claimOf(input, parts);
  const owners = externalService?.metadata.ownerReferences ?? [];
  const pods = podsOf(source, slot, of);
  return {
    slot: String(slot),
    target: slot <= replicas,
    exists: standing.length > 0,
    anchored: externalService !== undefined && !isGoing(externalService),
    withdrawn: owners.some(({ uid }) => uid === warmPool?.metadata.uid),
    ...(claimedBy === undefined ? {} : { claimedBy }),
    complete: standing.length === partsWanted(parts) && !standing.some(isGoing),
    ready: deployment !== undefined && isAvailable(deployment),
    stale: isStale(parts, input),
    clean: isClean(parts, pods),
    claimable: [externalService, internalService].every((service) => isFree(service, source)),
    noRoom: deployment !== undefined && !isAvailable(deployment) && lacksRoom(deployment, pods),
    foreign: standing.some((part) => isForeign(part, source, warmPool)),
    refresh: isAskedFor(warmPool, slot, deployment),
    ...(deployment?.metadata.uid === undefined ? {} : { workload: deployment.metadata.uid }),
  };
}

/** As the operator tells it: owned by the AppDefinition and nobody else. */
function isFree(service: KubeObject | undefined, source: KubeObject): boolean {
  const owners = service?.metadata.ownerReferences ?? [];
  return owners.length === 1 && owners[0]?.uid === source.metadata.uid;
}

function isLed(lease: KubeObject | undefined, now: number): boolean {
  const spec = (lease?.['spec'] ?? {}) as Lease;
  const isHeld = (spec.holderIdentity ?? '') !== '';
  return isHeld && Date.parse(spec.renewTime ?? '') + (spec.leaseDurationSeconds ?? 0) * 1_000 > now;
}

interface Lease {
  readonly holderIdentity?: string;
  readonly renewTime?: string;
  readonly leaseDurationSeconds?: number;
}

/** Neither the pool's, nor ours, nor any user's. */
function isForeign({ metadata }: KubeObject, source: KubeObject, warmPool: KubeObject | undefined): boolean {
  const lords = [source.metadata.uid, warmPool?.metadata.uid];
  return !(metadata.ownerReferences ?? []).some(({ kind, uid }) => kind === 'Session' || lords.includes(uid));
}

/** All five with logins, three without: told by whether the Deployment runs a proxy. */
function partsWanted({ deployment, proxyConfigMap, emailConfigMap }: Parts): number {
  const proxied = deployment === undefined || containersOf(deployment).length > 1;
  return proxied || proxyConfigMap !== undefined || emailConfigMap !== undefined ? 5 : 3;
}

function partsOf(source: KubeObject, slot: number, of: Kinds): Parts {
  const names = instanceNames(named(source), slot);
  return {
    externalService: of(SERVICES).get(names.externalService),
    internalService: of(SERVICES).get(names.internalService),
    proxyConfigMap: of(CONFIG_MAPS).get(names.proxyConfigMap),
    emailConfigMap: of(CONFIG_MAPS).get(names.emailConfigMap),
    deployment: of(DEPLOYMENTS).get(names.deployment),
  };
}

function claimOf({ source, slot, of }: SlotInput, parts: Parts): string | undefined {
  const owning = [parts.externalService, parts.internalService, parts.deployment].flatMap((part) =>
    claimsOn(part, of),
  );
  if (owning[0] !== undefined) return owning[0];
  for (const session of of(SESSIONS).values()) {
    const named = session.metadata.annotations?.['theia-cloud.io/instance-id'] === String(slot);
    const mine = text(session, 'spec', 'appDefinition') === source.metadata.name;
    if (named && mine && !isGoing(session) && text(session, 'status', 'operatorStatus') !== 'ERROR')
      return session.metadata.uid;
  }
  return undefined;
}

function claimsOn(object: KubeObject | undefined, of: Kinds): readonly string[] {
  const owners = (object?.metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'Session');
  if (owners.length === 0) return [];
  const live = new Set(
    [...of(SESSIONS).values()].filter((session) => !isGoing(session)).map(({ metadata }) => metadata.uid),
  );
  return owners.filter(({ uid }) => live.has(uid)).map(({ uid }) => uid);
}

function podsOf(source: KubeObject, slot: number, of: Kinds): readonly KubeObject[] {
  const app = podSelector(named(source), slot);
  return [...of(PODS).values()].filter((pod) => pod.metadata.labels?.['app'] === app);
}

function named({ metadata }: KubeObject): { metadata: { uid: string }; spec: { name: string } } {
  return { metadata: { uid: metadata.uid ?? '' }, spec: { name: metadata.name } };
}

function isStale(
  { deployment, proxyConfigMap, emailConfigMap }: Parts,
  { source, warmPool }: SlotInput,
): boolean {
  const { staleness } = (warmPool?.['spec'] ?? {}) as Policy;
  const image = text(source, 'spec', 'image');
  const judged = [deployment, proxyConfigMap, emailConfigMap].filter(
    (part) => part !== undefined && !isGoing(part),
  ) as readonly KubeObject[];
  return judged.some((part) => {
    const label = part.metadata.labels?.[LABEL] ?? '';
    if (!/^[0-9]{1,15}$/.test(label)) return true;
    if (staleness === 'generation') return label !== String(source.metadata.generation);
    if (part === deployment) {
      const { replicas } = part['spec'] as { replicas?: number };
      return replicas !== 1 || !containersOf(part).some((container) => container.image === image);
    }
    return part === proxyConfigMap && (text(part, 'data', 'oauth2-proxy.cfg') ?? '').includes(HAND_MARK);
  });
}

function isClean(parts: Parts, pods: readonly KubeObject[]): boolean {
  const { emailConfigMap, deployment } = parts;
  const open = emailConfigMap !== undefined && !isGoing(emailConfigMap);
  if (open && (text(emailConfigMap, 'data', 'authenticated-emails-list') ?? '') !== '') return false;
  if (deployment === undefined || isGoing(deployment)) return true;
  const used = pods.some(
    (pod) => !isGoing(pod) && pod.metadata.annotations?.['theia-cloud.io/eager-start-refresh'] !== undefined,
  );
  const labelled = [parts.externalService, parts.internalService].some((service) =>
    CLAIM_LABELS.some((label) => service?.metadata.labels?.[label] !== undefined),
  );
  return !used && !labelled;
}

function lacksRoom(deployment: KubeObject, pods: readonly KubeObject[]): boolean {
  const refused = conditionsOf(deployment).some(
    (c) => c.type === 'ReplicaFailure' && c.status === 'True' && (c.message ?? '').includes('exceeded quota'),
  );
  return (
    refused ||
    pods.some((pod) => !isGoing(pod) && conditionsOf(pod).some((c) => c.reason === 'Unschedulable'))
  );
}

function isAskedFor(
  warmPool: KubeObject | undefined,
  slot: number,
  deployment: KubeObject | undefined,
): boolean {
  const annotations = warmPool?.metadata.annotations ?? {};
  const times = ['everwarm.dev/refresh', `everwarm.dev/refresh-${slot}`].map((name) =>
    Date.parse(annotations[name] ?? ''),
  );
  const made = Date.parse(deployment?.metadata.creationTimestamp ?? '');
  return times.some((time) => made < time);
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return ((object['status'] ?? {}) as { conditions?: readonly Condition[] }).conditions ?? [];
}

function isAvailable(deployment: KubeObject): boolean {
  const status = (deployment['status'] ?? {}) as { observedGeneration?: number; availableReplicas?: number };
  const available = conditionsOf(deployment).some((c) => c.type === 'Available' && c.status === 'True');
  const generation = deployment.metadata.generation ?? 0;
  return available && (status.availableReplicas ?? 0) >= 1 && (status.observedGeneration ?? 0) >= generation;
}

function containersOf(deployment: KubeObject): readonly { readonly image?: string }[] {
  const { spec } = deployment as unknown as {
    spec?: { template?: { spec?: { containers?: readonly { image?: string }[] } } };
  };
  return spec?.template?.spec?.containers ?? [];
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function text(object: KubeObject, parent: string, name: string): string | undefined {
  const value = object[parent];
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : undefined;
}
