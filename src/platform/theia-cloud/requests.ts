import { unreachable } from '../../errors.ts';
import type { JsonPatchOperation, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { Action, ReplaceReason, Revision } from '../../pool/types.ts';
import type { Request } from '../platform.ts';
import {
  BUILDING_ANNOTATION,
  EMPTIED_ANNOTATION,
  NUDGE_ANNOTATION,
  PASS_ANNOTATION,
  PASS_LABEL,
  REVISION_LABEL,
  type ReadWarmPool,
  USED_ANNOTATION,
  warmPoolReference,
} from '../warm-pool.ts';
import {
  annotate,
  deleteAnchor,
  deletePart,
  deleteVolumeClaim,
  escaped,
  label,
  patch,
  resourceOf,
} from './_guarded.ts';
import { claimLabelsOn } from './claims.ts';
import { driftByPart, isOlder, olderParts } from './drift.ts';
import { GENERATION_LABEL } from './labels.ts';
import { entriesOf, isService, isUnlabelled, objectsOf, type PartName } from './parts.ts';
import type { RenderedSlot } from './render.ts';
import { isGoing, type SlotView } from './slot-view.ts';
import { isAvailable } from './trouble.ts';
import { usedParts, usedUids } from './used.ts';

/** A slot that can be worked on: what it should be is known, and so is the WarmPool that withdraws its anchor. */
export interface WorkableSlot extends SlotView {
  readonly rendered: RenderedSlot;
  readonly revision: Revision;
  readonly warmPool: ReadWarmPool;
}

type Entry = readonly [PartName, KubeObject];

type SlotAction = Exclude<Action, { readonly kind: 'discard' | 'heal' | 'unhold' | 'pin' | 'unpin' }>;

/** The guarded requests of one action, in the order that leaves a withheld slot wherever they end, never a half one. */
export function requestsOf(slot: WorkableSlot, action: SlotAction, pass: string): readonly Request[] {
  switch (action.kind) {
    case 'touch':
      return touch(slot, action.pass);
    case 'withdraw':
      return withdraw(slot, action.building, pass);
    case 'empty':
      return empty(slot, action.reason);
    case 'build':
      return build(slot, pass);
    case 'return':
      return putBack(slot);
    case 'relabel':
      return relabel(slot);
    case 'nudge':
      return nudge(slot, pass);
    case 'remove':
      return remove(slot);
    // Nothing here is built by anybody but us.
    case 'prompt':
      return [];
    default:
      return unreachable(action);
  }
}

/** Any write on the anchor makes an older worker's withdrawal fail. */
function touch({ parts }: WorkableSlot, pass: string): readonly Request[] {
  const anchor = parts.externalService;
  return anchor === undefined ? [] : [patch(anchor, annotate(anchor, { [PASS_ANNOTATION]: pass }))];
}

/**
 * Our reference beside the AppDefinition's: the operator hands out only Services with exactly one owner. Taking over what
 * another pass withdrew also writes on its parts, so that a delete which that pass has under way fails.
 */
function withdraw(slot: WorkableSlot, building: Revision, pass: string): readonly Request[] {
  const { parts, rendered, warmPool } = slot;
  const anchor = parts.externalService;
  const owner = warmPoolReference(warmPool.ref);
  if (anchor === undefined) return [create(slot, withheld(rendered.externalService, owner, building, pass))];

  const marks = annotate(anchor, { [BUILDING_ANNOTATION]: building, [PASS_ANNOTATION]: pass });
  const owners = anchor.metadata.ownerReferences ?? [];
  if (!owners.some(({ uid }) => uid === owner.uid)) {
    return [patch(anchor, [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner }, ...marks])];
  }
  const takeovers = entriesOf(parts)
    .filter(([name, part]) => !isService(name) && !isGoing(part))
    .map(([, part]) => patch(part, label(part, { [PASS_LABEL]: pass })));
  return [patch(anchor, marks), ...takeovers];
}

/**
 * Whatever is wrong with a part, its pods must start anew: all Deployments go, the other parts only if they are stale. The
 * volume goes with what its last user left on it, or if it is not the one that is wanted (P12).
 */
function empty(slot: WorkableSlot, reason: ReplaceReason): readonly Request[] {
  const { parts } = slot;
  const drift = driftByPart(slot);
  const used = new Set(usedParts(parts).map(([name]) => name));
  const listed = Object.values((parts.emailConfigMap?.['data'] ?? {}) as object).some(
    (value) => value !== '',
  );
  const goes = ([name, { kind }]: Entry) =>
    kind === 'Deployment' ||
    drift.has(name) ||
    used.has(name) ||
    (name === 'emailConfigMap' && listed) ||
    (name === 'volumeClaim' && reason === 'dirty');
  return clear(
    slot,
    entriesOf(parts).filter((entry) => !isService(entry[0]) && goes(entry)),
  );
}

/**
 * The IDE's Deployment first: a claim writes on it, and then its delete fails before the user loses anything else. Nothing goes
 * but after a write on the anchor. It fails when the slot was taken over and handed back since the look, for the anchor is read
 * before the parts; and it makes the return of another pass fail that saw the slot before it was cleared. It also names what
 * tells nothing of its use: a pass that ends half way leaves no IDE that could tell that the volume was used.
 */
function clear({ parts, source, slot }: WorkableSlot, going: readonly Entry[]): readonly Request[] {
  const anchor = parts.externalService;
  const first = going.filter(([name]) => name === 'deployment');
  const others = going.filter(([name]) => name !== 'deployment');
  const deletes = [...first, ...others].flatMap(([name, part]) =>
    name === 'volumeClaim' ? deleteVolumeClaim(part, source, slot) : deletePart(part),
  );
  if (anchor === undefined) return deletes;
  const silent = going.filter(([name]) => isUnlabelled(name)).map(([, { metadata }]) => metadata.uid ?? '');
  const used = [...new Set([...usedUids(anchor), ...silent])];
  const marks = {
    // Another value each time: a patch that changes nothing moves no resourceVersion.
    [EMPTIED_ANNOTATION]: anchor.metadata.resourceVersion ?? '',
    ...(used.length === 0 ? {} : { [USED_ANNOTATION]: used.join(' ') }),
  };
  return [patch(anchor, annotate(anchor, marks)), ...deletes];
}

/** The internal Service first, for it keeps the operator from making the external one; that one last, and withheld. */
function build(slot: WorkableSlot, pass: string): readonly Request[] {
  const { parts, rendered, revision, warmPool } = slot;
  const missing = entriesOf(rendered)
    .filter(([name]) => name !== 'externalService' && parts[name] === undefined)
    .map(([name, body]) => create(slot, name === 'internalService' ? body : stamped(body, revision)));
  const anchor = withheld(rendered.externalService, warmPoolReference(warmPool.ref), revision, pass);
  const cleaned = parts.deployment === undefined ? [parts.internalService, parts.externalService] : [];
  return [
    ...cleaned.flatMap(cleanLabels),
    ...missing,
    ...(parts.externalService === undefined ? [create(slot, anchor)] : []),
  ];
}

/** Everything is current, ready and clean: renew what the operator looks at, and take our reference off as the last write. */
function putBack(slot: WorkableSlot): readonly Request[] {
  const { parts, warmPool } = slot;
  const anchor = parts.externalService;
  if (anchor === undefined) return [];
  const at = (anchor.metadata.ownerReferences ?? []).findIndex(({ uid }) => uid === warmPool.ref.uid);
  if (at < 0) return [];
  const marks = [BUILDING_ANNOTATION, EMPTIED_ANNOTATION, USED_ANNOTATION].filter(
    (mark) => anchor.metadata.annotations?.[mark] !== undefined,
  );
  return [
    ...relabelParts(slot),
    ...renewService(slot, 'internalService'),
    patch(anchor, [
      { op: 'remove', path: `/metadata/ownerReferences/${at}` },
      ...marks.map((mark) => ({ op: 'remove' as const, path: `/metadata/annotations/${escaped(mark)}` })),
      ...serviceRenewal(slot, 'externalService'),
    ]),
  ];
}

/** Metadata only: the pod template's label stays as it is, or the pods would roll. */
function relabelParts(slot: WorkableSlot): readonly Request[] {
  return olderParts(slot)
    .filter(([name]) => !isService(name))
    .map(([, part]) => patch(part, label(part, generationLabel(slot.source.metadata.generation))));
}

/** The anchor first: after a claim its write fails, and nothing else of the user's instance is written on. */
function relabel(slot: WorkableSlot): readonly Request[] {
  const { externalService } = slot.parts;
  const renewal = renewService(slot, 'externalService');
  const asSeen = externalService === undefined ? [] : [patch(externalService, [])];
  return [
    ...(renewal.length > 0 ? renewal : asSeen),
    ...renewService(slot, 'internalService'),
    ...relabelParts(slot),
  ];
}

function renewService(slot: WorkableSlot, name: 'internalService' | 'externalService'): readonly Request[] {
  const live = slot.parts[name];
  const operations = serviceRenewal(slot, name);
  return live === undefined || operations.length === 0 ? [] : [patch(live, operations)];
}

/** Ports and labels as rendered now, session labels gone. */
function serviceRenewal(
  slot: WorkableSlot,
  name: 'internalService' | 'externalService',
): readonly JsonPatchOperation[] {
  const live = slot.parts[name];
  if (live === undefined) return [];
  const ports = portsOf(slot.rendered[name]);
  const older = isOlder(live, slot.source);
  return [
    ...(samePorts(portsOf(live), ports)
      ? []
      : [{ op: 'replace' as const, path: '/spec/ports', value: ports }]),
    ...(older ? label(live, generationLabel(slot.source.metadata.generation)) : []),
    ...claimLabelsOn(live).map((key) => ({
      op: 'remove' as const,
      path: `/metadata/labels/${escaped(key)}`,
    })),
  ];
}

function cleanLabels(service: KubeObject | undefined): readonly Request[] {
  const left = claimLabelsOn(service);
  if (service === undefined || left.length === 0) return [];
  return [
    patch(
      service,
      left.map((key) => ({ op: 'remove', path: `/metadata/labels/${escaped(key)}` })),
    ),
  ];
}

/** The Deployment's controller copies its annotations to the ReplicaSet, whose own controller then tries again at once. */
function nudge({ parts }: WorkableSlot, pass: string): readonly Request[] {
  return objectsOf(parts)
    .filter((part) => part.kind === 'Deployment' && !isAvailable(part))
    .map((deployment) => patch(deployment, annotate(deployment, { [NUDGE_ANNOTATION]: pass })));
}

/** A surplus slot, withdrawn before. The anchor goes last, in a round of its own: as long as it stands, the slot is withheld. */
function remove(slot: WorkableSlot): readonly Request[] {
  const { parts } = slot;
  const others = entriesOf(parts).filter(([name, part]) => name !== 'externalService' && !isGoing(part));
  if (others.length > 0) return clear(slot, others);
  const anchor = parts.externalService;
  return anchor === undefined || isGoing(anchor) ? [] : [deleteAnchor(anchor)];
}

function create({ source }: WorkableSlot, body: KubeObject): Request {
  const resource = resourceOf(body);
  return { verb: 'create', resource, namespace: source.metadata.namespace, body };
}

function generationLabel(generation: number): Readonly<Record<string, string>> {
  return { [GENERATION_LABEL]: String(generation) };
}

function stamped(body: KubeObject, revision: Revision): KubeObject {
  return {
    ...body,
    metadata: { ...body.metadata, labels: { ...body.metadata.labels, [REVISION_LABEL]: revision } },
  };
}

function withheld(body: KubeObject, owner: OwnerReference, building: Revision, pass: string): KubeObject {
  const { metadata } = body;
  const annotations = { ...metadata.annotations, [BUILDING_ANNOTATION]: building, [PASS_ANNOTATION]: pass };
  return {
    ...body,
    metadata: { ...metadata, annotations, ownerReferences: [...(metadata.ownerReferences ?? []), owner] },
  };
}

interface Port {
  readonly name?: string;
  readonly port?: number;
  readonly targetPort?: string | number;
}

function portsOf(service: KubeObject): readonly Port[] {
  const { spec } = service as unknown as { spec?: { ports?: readonly Port[] } };
  return spec?.ports ?? [];
}

function samePorts(live: readonly Port[], rendered: readonly Port[]): boolean {
  const essence = (ports: readonly Port[]) =>
    JSON.stringify(ports.map((p) => [p.name, p.port, p.targetPort ?? p.port]));
  return essence(live) === essence(rendered);
}
