import { unreachable } from '../../errors.ts';
import type { JsonPatchOperation, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { Action, Revision } from '../../pool/types.ts';
import type { Request } from '../platform.ts';
import {
  BUILDING_ANNOTATION,
  EMPTIED_ANNOTATION,
  NUDGE_ANNOTATION,
  PASS_ANNOTATION,
  PASS_LABEL,
  REVISION_LABEL,
  type ReadWarmPool,
  warmPoolReference,
} from '../warm-pool.ts';
import {
  annotate,
  deleteAnchor,
  deleteConfigMap,
  deleteDeployment,
  deleteService,
  escaped,
  label,
  patch,
  resourceOf,
} from './_guarded.ts';
import { claimLabelsOn, driftByPart, isGoing, isOlder, type SlotView } from './instance.ts';
import { GENERATION_LABEL } from './labels.ts';
import type { RenderedSlot } from './render.ts';
import type { PartName } from './slots.ts';

/** A slot that can be worked on: what it should be is known, and so is the WarmPool that withdraws its anchor. */
export interface WorkableSlot extends SlotView {
  readonly rendered: RenderedSlot;
  readonly revision: Revision;
  readonly warmPool: ReadWarmPool;
}

type SlotAction = Exclude<Action, { readonly kind: 'discard' }>;

const CONFIG_MAP_PARTS = ['proxyConfigMap', 'emailConfigMap'] as const;

/** The guarded requests of one action, in the order that leaves a withheld slot wherever they end, never a half one. */
export function requestsOf(slot: WorkableSlot, action: SlotAction, pass: string): readonly Request[] {
  switch (action.kind) {
    case 'touch':
      return touch(slot, action.pass);
    case 'withdraw':
      return withdraw(slot, action.building, pass);
    case 'empty':
      return empty(slot);
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
  const kept = [parts.deployment, ...CONFIG_MAP_PARTS.map((name) => parts[name])];
  const takeovers = kept
    .filter((part) => part !== undefined && !isGoing(part))
    .map((part) => patch(part as KubeObject, label(part as KubeObject, { [PASS_LABEL]: pass })));
  return [patch(anchor, marks), ...takeovers];
}

/** Whatever is wrong with a part, its pods must start anew: the Deployment always goes, ConfigMaps only if they are stale. */
function empty(slot: WorkableSlot): readonly Request[] {
  const { parts } = slot;
  const drift = driftByPart(slot);
  const used = (name: (typeof CONFIG_MAP_PARTS)[number]) =>
    name === 'emailConfigMap' &&
    Object.values((parts[name]?.['data'] ?? {}) as object).some((value) => value !== '');
  const configMaps = CONFIG_MAP_PARTS.filter((name) => drift.has(name) || used(name)).map(
    (name) => parts[name],
  );
  return [...clearing(slot), ...deleteDeployment(parts.deployment), ...configMaps.flatMap(deleteConfigMap)];
}

/**
 * Nothing goes but after a write on the anchor. It fails when the slot was taken over and handed back since the look, for the
 * anchor is read before the parts; and it makes the return of another pass fail that saw the slot before it was cleared.
 */
function clearing({ parts }: WorkableSlot): readonly Request[] {
  const anchor = parts.externalService;
  if (anchor === undefined) return [];
  // Another value each time: a patch that changes nothing moves no resourceVersion.
  return [patch(anchor, annotate(anchor, { [EMPTIED_ANNOTATION]: anchor.metadata.resourceVersion ?? '' }))];
}

/** The internal Service first, for it keeps the operator from making the external one; that one last, and withheld. */
function build(slot: WorkableSlot, pass: string): readonly Request[] {
  const { parts, rendered, revision, warmPool } = slot;
  const missing = (name: PartName): readonly Request[] => {
    const body = rendered[name];
    if (parts[name] !== undefined || body === undefined) return [];
    return [create(slot, name === 'internalService' ? body : stamped(body, revision))];
  };
  const anchor = withheld(rendered.externalService, warmPoolReference(warmPool.ref), revision, pass);
  const cleaned = parts.deployment === undefined ? [parts.internalService, parts.externalService] : [];
  return [
    ...cleaned.flatMap(cleanLabels),
    ...missing('internalService'),
    ...missing('proxyConfigMap'),
    ...missing('emailConfigMap'),
    ...missing('deployment'),
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
  const marks = [BUILDING_ANNOTATION, EMPTIED_ANNOTATION].filter(
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
function relabelParts({ parts, source }: WorkableSlot): readonly Request[] {
  const older = [...CONFIG_MAP_PARTS, 'deployment' as const].map((name) => parts[name]);
  return older
    .filter((part) => part !== undefined && isOlder(part, source))
    .map((part) =>
      patch(part as KubeObject, label(part as KubeObject, generationLabel(source.metadata.generation))),
    );
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
  const { deployment } = parts;
  return deployment === undefined
    ? []
    : [patch(deployment, annotate(deployment, { [NUDGE_ANNOTATION]: pass }))];
}

/** A surplus slot, withdrawn before. The anchor goes last, in a round of its own: as long as it stands, the slot is withheld. */
function remove(slot: WorkableSlot): readonly Request[] {
  const { parts } = slot;
  const others = [
    ...deleteDeployment(parts.deployment),
    ...[parts.internalService].flatMap(deleteService),
    ...CONFIG_MAP_PARTS.flatMap((name) => deleteConfigMap(parts[name])),
  ];
  if (others.length > 0) return [...clearing(slot), ...others];
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
