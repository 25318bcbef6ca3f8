import type { KubeObject } from '../../kube/api.ts';
import { differences } from '../../pool/compare.ts';
import type { Anchor, Identity, Instance, Phase, Revision } from '../../pool/types.ts';
import { BUILDING_ANNOTATION, PASS_ANNOTATION, REVISION_LABEL, type ReadWarmPool } from '../warm-pool.ts';
import type { AppDefinition } from './crds.ts';
import {
  CLAIM_LABELS,
  GENERATION_LABEL,
  generationOf,
  INSTANCE_ID_ANNOTATION,
  REFRESH_ANNOTATION,
} from './labels.ts';
import { ALLOW_LIST_KEY, compared, type RenderedSlot } from './render.ts';
import { SESSIONS } from './resources.ts';
import type { PartName, SlotParts } from './slots.ts';
import { isAvailable, troubleOf } from './trouble.ts';

/** A terminating pod on a lost node never goes; past twice its grace period it no longer counts. */
const GRACE_MS = 30_000;

/** Everything that one slot is judged on. */
export interface SlotView {
  readonly slot: number;
  readonly source: AppDefinition;
  readonly parts: SlotParts;
  readonly pods: readonly KubeObject[];
  /** What stands there should look like this; `undefined` when it cannot be computed. */
  readonly rendered: RenderedSlot | undefined;
  readonly revision: Revision | undefined;
  readonly warmPool: ReadWarmPool | undefined;
  readonly sessions: ReadonlyMap<string, KubeObject>;
  readonly now: number;
}

/** Translates one slot of Theia Cloud into the planner's words. */
export function instanceOf(view: SlotView): Instance {
  const { slot, source, parts } = view;
  const { externalService, deployment } = parts;
  const standing = Object.values(parts).filter((part): part is KubeObject => part !== undefined);
  const claimedBy = claimOf(view);
  const anchor = anchorOf(externalService);
  const withdrawn = withdrawalOf(view);
  const foreign = claimedBy === undefined ? foreignIn(view) : undefined;
  const drift = driftOf(view);
  const dirt = claimedBy === undefined ? dirtIn(view) : undefined;
  const trouble =
    deployment === undefined || isGoing(deployment) ? undefined : troubleOf(deployment, view.pods);
  const phase = phaseOf(view);
  return {
    slot: String(slot),
    rank: slot,
    target: slot <= source.spec.minInstances,
    exists: standing.length > 0,
    ...(anchor === undefined ? {} : { anchor }),
    ...(deployment === undefined ? {} : { workload: identityOf(deployment) }),
    phase,
    absent: required(view).some((name) => parts[name] === undefined),
    terminating: standing.some(isGoing),
    drift,
    unstable: isUnstable(view, drift),
    ...(dirt === undefined ? {} : { dirt }),
    refresh: isAskedFor(view),
    relabel: standing.some((part) => isOlder(part, source)),
    ...(claimedBy === undefined ? {} : { claimedBy }),
    ...(withdrawn === undefined ? {} : { withdrawn }),
    claimable: [externalService, parts.internalService].every(
      (s) => s?.metadata.ownerReferences?.length === 1,
    ),
    ...(foreign === undefined ? {} : { foreign }),
    ...(trouble === undefined || phase === 'ready' ? {} : { trouble }),
  };
}

export function isGoing(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** The parts a slot must have, the anchor aside. */
function required({ rendered, parts }: SlotView): readonly PartName[] {
  const names: PartName[] = ['internalService', 'deployment'];
  const keycloak =
    rendered === undefined ? parts.proxyConfigMap !== undefined : rendered.proxyConfigMap !== undefined;
  return keycloak ? [...names, 'proxyConfigMap', 'emailConfigMap'] : names;
}

/** Session labels that a claim left on a Service. */
export function claimLabelsOn(service: KubeObject | undefined): readonly string[] {
  return CLAIM_LABELS.filter((label) => service?.metadata.labels?.[label] !== undefined);
}

/** The generation label is there and parses, but is not the AppDefinition's: renewing it needs no replacement. */
export function isOlder(part: KubeObject, source: AppDefinition): boolean {
  return !isGoing(part) && generationOf(part) !== source.metadata.generation;
}

/** The parts that are not what would be rendered now, with the paths. Services are renewed, never a reason to replace. */
export function driftByPart(view: SlotView): ReadonlyMap<PartName, readonly string[]> {
  const judged = ['deployment', 'proxyConfigMap', 'emailConfigMap'] as const;
  const drift = new Map<PartName, readonly string[]>();
  for (const name of judged) {
    const live = view.parts[name];
    const rendered = view.rendered?.[name];
    if (live === undefined || isGoing(live) || view.revision === undefined) continue;
    const paths = rendered === undefined ? [`${name} is not wanted`] : driftIn(view, rendered, live);
    if (paths.length > 0) drift.set(name, paths);
  }
  return drift;
}

function driftOf(view: SlotView): readonly string[] {
  return [...driftByPart(view)].flatMap(([name, paths]) => paths.map((path) => `${name}: ${path}`));
}

function driftIn(view: SlotView, rendered: KubeObject, live: KubeObject): readonly string[] {
  const { generation } = view.source.metadata;
  const label = generationOf(live);
  const path = `metadata.labels[${GENERATION_LABEL}]`;
  if (label === undefined) return [path];
  if (view.warmPool?.staleness === 'generation') return label === generation ? [] : [path];
  const vouched = label === generation || live.metadata.labels?.[REVISION_LABEL] === view.revision;
  return differences(compared(rendered), live, { vouched });
}

/** Never edited since we made it for this revision, and yet not what we rendered: something rewrites what we send. */
function isUnstable({ parts, revision, warmPool }: SlotView, drift: readonly string[]): boolean {
  const { metadata } = parts.deployment ?? {};
  return (
    warmPool?.staleness !== 'generation' &&
    drift.some((path) => path.startsWith('deployment: spec.')) &&
    metadata?.generation === 1 &&
    metadata.labels?.[REVISION_LABEL] === revision
  );
}

/** A live Session as owner, or one that names this slot and has not failed. */
function claimOf({ slot, source, parts, sessions }: SlotView): string | undefined {
  const owners = [parts.externalService, parts.internalService, parts.deployment].flatMap(
    (part) => part?.metadata.ownerReferences ?? [],
  );
  const owner = owners.map(({ uid }) => sessions.get(uid)).find((session) => session !== undefined);
  if (owner !== undefined) return owner.metadata.name;
  for (const session of sessions.values()) {
    const names = session.metadata.annotations?.[INSTANCE_ID_ANNOTATION] === String(slot);
    if (names && field(session, 'spec', 'appDefinition') === source.metadata.name && !hasFailed(session)) {
      return session.metadata.name;
    }
  }
  return undefined;
}

function hasFailed(session: KubeObject): boolean {
  return field(session, 'status', 'operatorStatus') === 'ERROR';
}

function anchorOf(service: KubeObject | undefined): Anchor | undefined {
  if (service === undefined || isGoing(service)) return undefined;
  const pass = service.metadata.annotations?.[PASS_ANNOTATION];
  return { ...identityOf(service), ...(pass === undefined ? {} : { pass }) };
}

function withdrawalOf({ parts, warmPool }: SlotView): Instance['withdrawn'] {
  const { externalService } = parts;
  if (externalService === undefined || isGoing(externalService) || warmPool === undefined) return undefined;
  const ours = externalService.metadata.ownerReferences?.some(({ uid }) => uid === warmPool.ref.uid);
  if (ours !== true) return undefined;
  const { annotations = {} } = externalService.metadata;
  return { building: annotations[BUILDING_ANNOTATION] ?? '', pass: annotations[PASS_ANNOTATION] ?? '' };
}

/** Ours are the objects that the AppDefinition or our WarmPool owns (P13); what a Session alone owns goes with it. */
function foreignIn({ source, parts, warmPool }: SlotView): string | undefined {
  for (const part of Object.values(parts) as readonly KubeObject[]) {
    const owners = part.metadata.ownerReferences ?? [];
    const known = owners.some(
      ({ kind, uid }) => uid === source.metadata.uid || uid === warmPool?.ref.uid || kind === SESSIONS.kind,
    );
    if (!known) return `${part.kind}/${part.metadata.name}`;
  }
  return undefined;
}

/** What the last user left. Labels tell only while a pod may still stand that served that user. */
function dirtIn({ parts, pods }: SlotView): string | undefined {
  const { emailConfigMap, deployment } = parts;
  if (emailConfigMap !== undefined && !isGoing(emailConfigMap) && allowList(emailConfigMap) !== '')
    return 'allow-list';
  if (deployment === undefined || isGoing(deployment)) return undefined;
  const used = pods.some(
    (pod) => !isGoing(pod) && pod.metadata.annotations?.[REFRESH_ANNOTATION] !== undefined,
  );
  if (used) return 'used pod';
  const labels = [parts.externalService, parts.internalService].flatMap(claimLabelsOn);
  return labels.length > 0 ? 'session labels' : undefined;
}

function allowList(configMap: KubeObject): unknown {
  return field(configMap, 'data', ALLOW_LIST_KEY) ?? '';
}

function phaseOf(view: SlotView): Phase {
  const { parts, pods, now } = view;
  const standing = Object.values(parts) as readonly KubeObject[];
  if (standing.length === 0) return 'missing';
  if (standing.some(isGoing)) return 'deleting';
  if (required(view).some((name) => parts[name] === undefined)) return 'pending';
  if (parts.deployment === undefined || !isAvailable(parts.deployment)) return 'pending';
  const lingering = pods.some(
    (pod) => isGoing(pod) && now < Date.parse(pod.metadata.deletionTimestamp ?? '') + GRACE_MS,
  );
  return withdrawalOf(view) !== undefined && lingering ? 'pending' : 'ready';
}

/** Asked for by annotation, and not made anew since. */
function isAskedFor({ slot, parts, warmPool }: SlotView): boolean {
  const times = [warmPool?.refresh.get('*'), warmPool?.refresh.get(String(slot))].filter(
    (t) => t !== undefined,
  );
  const made = Date.parse(parts.deployment?.metadata.creationTimestamp ?? '');
  return Number.isFinite(made) && times.some((time) => made < time);
}

function identityOf({ metadata }: KubeObject): Identity {
  return { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
}

function field(object: KubeObject, parent: string, name: string): unknown {
  const value = object[parent];
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
