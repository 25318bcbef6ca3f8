import type { KubeObject, Resource } from '../kube/api.ts';
import { type InstanceNames, instanceNames, podSelector } from '../platform/theia-cloud/names.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICES,
  SESSIONS,
} from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Standing, Truth } from '../pool/invariants.ts';

/** What a hand puts into a proxy's configuration when it edits it. */
export const HAND_MARK = 'edited by hand';
const LABEL = 'theia-cloud.io/appdefinition-generation';
const CLAIM_LABELS = ['theia-cloud.io/user', 'theia-cloud.io/session', 'theia-cloud.io/session-uuid'];

export type Objects = ReadonlyMap<string, KubeObject>;
/** The objects of a kind, by name. */
export type Kinds = (resource: Pick<Resource, 'plural'>) => Objects;

/** One pool as its objects tell. */
export function truthOf(pool: string, of: Kinds): Truth {
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

/** Pool and slot that a name belongs to, if it is one of an instance. */
export function slotNamed(name: string, sources: Objects): { pool: string; slot: string } | undefined {
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

/** Somebody holds the operator's Lease now. */
export function isLed(lease: KubeObject | undefined, now: number): boolean {
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

/** What stands under the names of one slot. */
export function partsOf(source: KubeObject, slot: number, of: Kinds): Parts {
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

/** uids of the Sessions that stand and are not going, among the owners. */
export function claimsOn(object: KubeObject | undefined, of: Kinds): readonly string[] {
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

/** A field's text, one level down. */
export function text(object: KubeObject, parent: string, name: string): string | undefined {
  const value = object[parent];
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : undefined;
}
