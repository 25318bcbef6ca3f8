import type { KubeObject } from '../kube/api.ts';
import { type InstanceNames, instanceNames, podSelector } from '../platform/theia-cloud/names.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  SERVICES,
  SESSIONS,
} from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import type { Standing, Truth } from '../pool/invariants.ts';
import { areStale, type Extras, extrasOf } from './_extras.ts';
import {
  conditionsOf,
  containersOf,
  isAvailable,
  isGoing,
  type Kinds,
  named,
  type Objects,
  text,
} from './_fields.ts';

/** What a hand puts into a proxy's configuration when it edits it. */
export const HAND_MARK = 'edited by hand';
const LABEL = 'theia-cloud.io/appdefinition-generation';
const CLAIM_LABELS = ['theia-cloud.io/user', 'theia-cloud.io/session', 'theia-cloud.io/session-uuid'];

/** One pool as its objects tell. */
export function truthOf(pool: string, of: Kinds): Truth {
  const source = of(APP_DEFINITIONS_V1BETA11).get(pool);
  const warmPool = of(WARM_POOLS).get(pool);
  const policy = (warmPool?.['spec'] ?? {}) as Policy;
  const base = {
    maxUnavailable: policy.rollout?.maxUnavailable ?? '25%',
    leaving: policy.mode === 'observe',
    releasing: isReleasing(source, warmPool),
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

/** The release that was asked for is that of the definition as it stands. */
function isReleasing(source: KubeObject | undefined, warmPool: KubeObject | undefined): boolean {
  const asked = warmPool?.metadata.annotations?.['everwarm.dev/release']?.split('/')[0];
  return asked !== undefined && asked === String(source?.metadata.generation);
}

interface Policy {
  readonly mode?: string;
  readonly staleness?: string;
  readonly rollout?: { readonly maxUnavailable?: number | string };
}

function slotsOf(source: KubeObject, replicas: number, of: Kinds): ReadonlySet<number> {
  const suffix = (source.metadata.uid ?? '').slice(-12);
  const slots = new Set(Array.from({ length: replicas }, (_, at) => at + 1));
  for (const resource of [SERVICES, DEPLOYMENTS, CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS]) {
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
  const extras = extrasOf(source, slot, of);
  const standing = [...Object.values(parts), ...extras.sidecars, extras.volumeClaim].filter(
    (part) => part !== undefined,
  );
  const claimants = claimantsOf(input, parts);
  const [claimedBy] = claimants;
  const owners = externalService?.metadata.ownerReferences ?? [];
  const pods = podsOf(source, slot, of);
  return {
    slot: String(slot),
    target: slot <= replicas,
    exists: standing.length > 0,
    anchored: externalService !== undefined && !isGoing(externalService),
    withdrawn: owners.some(({ uid }) => uid === warmPool?.metadata.uid),
    ...(claimedBy === undefined ? {} : { claimedBy }),
    claimants,
    settled: sessionsOf(claimants, of).some((session) => isHandled(session) && !isGoing(session)),
    admits: admits(parts, sessionsOf(claimants, of)),
    complete: isComplete(parts, extras) && !standing.some(isGoing),
    ready: [deployment, ...extras.deployments].every((one) => one !== undefined && isAvailable(one)),
    stale: isStale(parts, input) || areStale(extras, parts.deployment),
    clean: isClean(parts, [...pods, ...extras.pods]) && !isUsed(parts, extras.volumeClaim),
    claimable: [externalService, internalService].every((service) => isFree(service, source)),
    noRoom: deployment !== undefined && !isAvailable(deployment) && lacksRoom(deployment, pods),
    foreign: standing.some((part) => isForeign(part, source, warmPool)),
    refresh: isAskedFor(warmPool, slot, deployment),
    kept: externalService?.metadata.annotations?.['everwarm.dev/building'] === 'kept',
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

function isComplete(parts: Parts, { sidecars, mounts, volumeClaim }: Extras): boolean {
  const usual = Object.values(parts).filter((part) => part !== undefined);
  const others = mounts ? [...sidecars, volumeClaim] : sidecars;
  return usual.length === partsWanted(parts) && others.every((part) => part !== undefined);
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

/** It served somebody, as the anchor tells. */
function isUsed({ externalService }: Parts, object: KubeObject | undefined): boolean {
  if (object === undefined || isGoing(object)) return false;
  const served = (externalService?.metadata.annotations?.['everwarm.dev/used'] ?? '').split(' ');
  return served.includes(object.metadata.uid ?? '');
}

/** Who owns one of the claimable objects first, then who was told this slot. */
function claimantsOf({ source, slot, of }: SlotInput, parts: Parts): readonly string[] {
  const owning = [parts.externalService, parts.internalService, parts.deployment].flatMap((part) =>
    claimsOn(part, of),
  );
  const told = [...of(SESSIONS).values()].filter((session) => {
    const named = session.metadata.annotations?.['theia-cloud.io/instance-id'] === String(slot);
    const mine = text(session, 'spec', 'appDefinition') === source.metadata.name;
    return named && mine && !isGoing(session) && text(session, 'status', 'operatorStatus') !== 'ERROR';
  });
  return [...new Set([...owning, ...told.map(({ metadata }) => metadata.uid ?? '')])];
}

function sessionsOf(uids: readonly string[], of: Kinds): readonly KubeObject[] {
  return [...of(SESSIONS).values()].filter(({ metadata }) => uids.includes(metadata.uid ?? ''));
}

function isHandled(session: KubeObject): boolean {
  return text(session, 'status', 'operatorStatus') === 'HANDLED';
}

/** The list names one of those who hold the slot; without a list everybody gets in. */
function admits({ emailConfigMap }: Parts, sessions: readonly KubeObject[]): boolean {
  if (emailConfigMap === undefined) return true;
  const list = text(emailConfigMap, 'data', 'authenticated-emails-list') ?? '';
  return sessions.some((session) => text(session, 'spec', 'user') === list);
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
  const served = (parts.externalService?.metadata.annotations?.['everwarm.dev/used'] ?? '').split(' ');
  const used = pods.some(
    (pod) =>
      !isGoing(pod) &&
      (pod.metadata.annotations?.['theia-cloud.io/eager-start-refresh'] !== undefined ||
        served.includes(pod.metadata.uid ?? '')),
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
