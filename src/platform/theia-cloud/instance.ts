import type { KubeObject } from '../../kube/api.ts';
import type { Anchor, Identity, Instance, Need, Phase } from '../../pool/types.ts';
import { BUILDING_ANNOTATION, EMPTIED_ANNOTATION, PASS_ANNOTATION, REVISION_LABEL } from '../warm-pool.ts';
import { pinnedIn } from './_pins.ts';
import { caresOf } from './care.ts';
import { type Claim, claimLabelsOn, claimOf, field } from './claims.ts';
import { driftByPart, olderParts } from './drift.ts';
import { REFRESH_ANNOTATION } from './labels.ts';
import { entriesOf, objectsOf, type PartName } from './parts.ts';
import { ALLOW_LIST_KEY } from './render.ts';
import { SESSIONS } from './resources.ts';
import { isGoing, type SlotView } from './slot-view.ts';
import { isAvailable, troubleIn } from './trouble.ts';
import { usedParts, usedUids } from './used.ts';

/** A terminating pod on a lost node never goes; past twice its grace period it no longer counts. */
const GRACE_MS = 30_000;

/** Translates one slot of Theia Cloud into the planner's words. */
export function instanceOf(view: SlotView): Instance {
  const { slot, source, parts } = view;
  const { externalService, deployment } = parts;
  const standing = objectsOf(parts);
  const claim = claimOf(view);
  const claimedBy = claim?.session.metadata.name;
  const anchor = anchorOf(externalService);
  const fence = fenceOf(view);
  const foreign = foreignIn(view);
  const drift = driftOf(view);
  const dirt = claimedBy === undefined ? dirtIn(view) : undefined;
  const trouble = troubleIn(view);
  const phase = phaseOf(view);
  const pinned = pinnedIn(view);
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
    relabel: olderParts(view).length > 0,
    ...(claimedBy === undefined ? {} : { claimedBy }),
    ...(claim?.trouble === undefined ? {} : { claimTrouble: claim.trouble }),
    held: claim !== undefined && fence !== undefined,
    needs: claim?.settled === true ? needsOf(view, claim) : [],
    ...(fence === undefined || claim !== undefined ? {} : { withdrawn: fence }),
    ...(pinned === undefined ? {} : { pinned }),
    claimable: [externalService, parts.internalService].every(
      (s) => s?.metadata.ownerReferences?.length === 1,
    ),
    ...(foreign === undefined ? {} : { foreign }),
    ...(trouble === undefined || phase === 'ready' ? {} : { trouble }),
  };
}

/** The parts a slot must have, the anchor aside. */
function required({ rendered, parts }: SlotView): readonly PartName[] {
  if (rendered !== undefined) {
    return entriesOf(rendered).flatMap(([name]) => (name === 'externalService' ? [] : [name]));
  }
  const names: PartName[] = ['internalService', 'deployment'];
  return parts.proxyConfigMap === undefined ? names : [...names, 'proxyConfigMap', 'emailConfigMap'];
}

function driftOf(view: SlotView): readonly string[] {
  const drift = [...driftByPart(view)].flatMap(([name, paths]) => paths.map((path) => `${name}: ${path}`));
  return isBeingCleared(view)
    ? [...drift, ...usedParts(view.parts).map(([name]) => `${name}: is to go`)]
    : drift;
}

/** A pass of ours has begun to take its parts away. */
function isBeingCleared(view: SlotView): boolean {
  const { annotations = {} } = view.parts.externalService?.metadata ?? {};
  return fenceOf(view) !== undefined && annotations[EMPTIED_ANNOTATION] !== undefined;
}

/** Never edited since we made it for this revision, and yet not what we rendered: something rewrites what we send. */
function isUnstable({ parts, revision, warmPool }: SlotView, drift: readonly string[]): boolean {
  return entriesOf(parts).some(([name, { kind, metadata }]) => {
    // A volume claim cannot be edited, but for its size.
    const isAsMade = kind === 'Deployment' ? metadata.generation === 1 : name === 'volumeClaim';
    return (
      warmPool?.staleness !== 'generation' &&
      isAsMade &&
      metadata.labels?.[REVISION_LABEL] === revision &&
      drift.some((path) => path.startsWith(`${name}: spec.`))
    );
  });
}

function anchorOf(service: KubeObject | undefined): Anchor | undefined {
  if (service === undefined || isGoing(service)) return undefined;
  const pass = service.metadata.annotations?.[PASS_ANNOTATION];
  return { ...identityOf(service), ...(pass === undefined ? {} : { pass }) };
}

/** Our reference on the anchor, and what is noted beside it. */
function fenceOf({ parts, warmPool }: SlotView): Instance['withdrawn'] {
  const { externalService } = parts;
  if (externalService === undefined || isGoing(externalService) || warmPool === undefined) return undefined;
  const ours = externalService.metadata.ownerReferences?.some(({ uid }) => uid === warmPool.ref.uid);
  if (ours !== true) return undefined;
  const { annotations = {} } = externalService.metadata;
  return { building: annotations[BUILDING_ANNOTATION] ?? '', pass: annotations[PASS_ANNOTATION] ?? '' };
}

/** Ours are the objects that the AppDefinition or our WarmPool owns (P13); what a Session alone owns goes with it. */
function foreignIn({ source, parts, warmPool }: SlotView): string | undefined {
  for (const part of objectsOf(parts)) {
    if (isGoing(part)) continue;
    const owners = part.metadata.ownerReferences ?? [];
    const known = owners.some(
      ({ kind, uid }) => uid === source.metadata.uid || uid === warmPool?.ref.uid || kind === SESSIONS.kind,
    );
    if (!known) return `${part.kind}/${part.metadata.name}`;
  }
  return undefined;
}

/** What the last user left. Labels tell only while a pod may still stand that served that user. */
function dirtIn(view: SlotView): string | undefined {
  const { parts, pods, sidecarPods } = view;
  const { emailConfigMap, deployment } = parts;
  if (emailConfigMap !== undefined && !isGoing(emailConfigMap) && allowList(emailConfigMap) !== '')
    return 'allow-list';
  const recorded = usedUids(parts.externalService);
  const [part] = isBeingCleared(view) ? [] : usedParts(parts);
  if (part !== undefined) return `used ${part[1].kind}`;
  if (deployment === undefined || isGoing(deployment)) return undefined;
  const used = [...pods, ...sidecarPods].some(
    (pod) =>
      !isGoing(pod) &&
      (pod.metadata.annotations?.[REFRESH_ANNOTATION] !== undefined ||
        recorded.includes(pod.metadata.uid ?? '')),
  );
  if (used) return 'used pod';
  const labels = [parts.externalService, parts.internalService].flatMap(claimLabelsOn);
  return labels.length > 0 ? 'session labels' : undefined;
}

function allowList(configMap: KubeObject): unknown {
  return field(configMap, 'data', ALLOW_LIST_KEY) ?? '';
}

function phaseOf(view: SlotView): Phase {
  const { parts, pods, sidecarPods, now } = view;
  const standing = objectsOf(parts);
  if (standing.length === 0) return 'missing';
  if (standing.some(isGoing)) return 'deleting';
  if (required(view).some((name) => parts[name] === undefined)) return 'pending';
  const deployments = standing.filter(({ kind }) => kind === 'Deployment');
  if (parts.deployment === undefined || !deployments.every(isAvailable)) return 'pending';
  const lingering = [...pods, ...sidecarPods].some(
    (pod) => isGoing(pod) && now < Date.parse(pod.metadata.deletionTimestamp ?? '') + GRACE_MS,
  );
  return fenceOf(view) !== undefined && lingering ? 'pending' : 'ready';
}

/** Asked for by annotation, and not made anew since. */
function isAskedFor({ slot, parts, warmPool }: SlotView): boolean {
  const times = [warmPool?.refresh.get('*'), warmPool?.refresh.get(String(slot))].filter(
    (t) => t !== undefined,
  );
  const made = Date.parse(parts.deployment?.metadata.creationTimestamp ?? '');
  return Number.isFinite(made) && times.some((time) => made < time);
}

function needsOf(view: SlotView, claim: Claim): readonly Need[] {
  return caresOf(view, claim).map(({ object, lacks, made }) => ({
    object,
    lacks,
    ...(made === undefined ? {} : { made }),
  }));
}

function identityOf({ metadata }: KubeObject): Identity {
  return { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
}
