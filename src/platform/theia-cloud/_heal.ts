import type { JsonPatchOperation, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { Revision } from '../../pool/types.ts';
import type { Request } from '../platform.ts';
import {
  BUILDING_ANNOTATION,
  EMPTIED_ANNOTATION,
  PASS_ANNOTATION,
  REVISION_LABEL,
  USED_ANNOTATION,
  warmPoolReference,
} from '../warm-pool.ts';
import { annotate, escaped, label, patch, resourceOf } from './_guarded.ts';
import { field } from './claims.ts';
import { GENERATION_LABEL, sessionLabels } from './labels.ts';
import { isService, type PartName } from './parts.ts';
import { ALLOW_LIST_KEY } from './render.ts';
import { HTTP_ROUTES } from './resources.ts';
import { renderRoute, sharedRoute } from './route.ts';
import type { Settings } from './settings.ts';
import type { SlotView } from './slot-view.ts';

/** What one standing object of a claimed slot is given: metadata, and the one entry that lets its user in. */
export interface Gift {
  /** The one user that the allow-list is to name. */
  readonly allowList?: string;
  readonly sessionLabels?: Readonly<Record<string, string>>;
  /** The Session, as one more owner. */
  readonly owner?: OwnerReference;
  /** The label that the operator looks at, renewed. */
  readonly generation?: number;
  /** Our own label, which says that the renewed one vouches for nothing. */
  readonly mark?: string;
  /** uids of what served the user. */
  readonly used?: readonly string[];
  /** Our reference is put on, or taken off. */
  readonly hold?: true;
  readonly unhold?: true;
}

/** One patch, whatever it gives: metadata and the allow-list's entry, nothing of any spec. */
export function give(view: SlotView, part: KubeObject, gift: Gift, pass: string): Request {
  const labels = {
    // Ours first: the renewed label must not be read without it.
    ...(gift.mark === undefined ? {} : { [REVISION_LABEL]: gift.mark }),
    ...(gift.generation === undefined ? {} : { [GENERATION_LABEL]: String(gift.generation) }),
    ...gift.sessionLabels,
  };
  const annotations = {
    ...(gift.used === undefined ? {} : { [USED_ANNOTATION]: gift.used.join(' ') }),
    ...(gift.hold ? { [BUILDING_ANNOTATION]: view.revision ?? '', [PASS_ANNOTATION]: pass } : {}),
  };
  return patch(part, [
    ...(gift.allowList === undefined ? [] : [admit(part, gift.allowList)]),
    ...(gift.unhold ? letGo(view, part) : []),
    ...addOwners(part, [
      ...(gift.owner === undefined ? [] : [gift.owner]),
      ...(gift.hold && view.warmPool !== undefined ? [warmPoolReference(view.warmPool.ref)] : []),
    ]),
    ...setUnlessEmpty(labels, (entries) => label(part, entries)),
    ...setUnlessEmpty(annotations, (entries) => annotate(part, entries)),
  ]);
}

/** Takes our reference off the anchor of a claimed slot, with all that we noted there. */
export function unhold(view: SlotView): readonly Request[] {
  const anchor = view.parts.externalService;
  const operations = anchor === undefined ? [] : letGo(view, anchor);
  return anchor === undefined || operations.length === 0 ? [] : [patch(anchor, operations)];
}

/** Makes a missing object of a claimed slot, the user's from the start. */
export function createPart(
  { warmPool, revision, source, pods, sidecarPods }: SlotView & { readonly revision: Revision },
  session: KubeObject,
  name: PartName,
  body: KubeObject,
  pass: string,
): readonly Request[] {
  const isAnchor = name === 'externalService';
  const holds = isAnchor && warmPool?.hold === true;
  const { metadata } = body;
  const owners = [
    ...(metadata.ownerReferences ?? []),
    reference(session),
    ...(holds ? [warmPoolReference(warmPool.ref)] : []),
  ];
  const labels = {
    ...metadata.labels,
    ...(isService(name) ? sessionLabels(session) : { [REVISION_LABEL]: revision }),
  };
  const annotations = {
    ...metadata.annotations,
    ...(holds
      ? {
          [BUILDING_ANNOTATION]: revision,
          [PASS_ANNOTATION]: pass,
          [USED_ANNOTATION]: [...pods, ...sidecarPods].map(({ metadata }) => metadata.uid).join(' '),
        }
      : {}),
  };
  const data = name === 'emailConfigMap' ? { data: { [ALLOW_LIST_KEY]: userOf(session) } } : {};
  const whole = { ...body, ...data, metadata: { ...metadata, annotations, labels, ownerReferences: owners } };
  const { namespace } = source.metadata;
  return [{ verb: 'create', resource: resourceOf(body), namespace, body: whole }];
}

/** The route of a Session; nothing where the one that it is made from is not there. */
export function createRoute(
  view: SlotView,
  settings: Settings,
  routes: ReadonlyMap<string, KubeObject>,
  session: KubeObject,
): readonly Request[] {
  const shared = sharedRoute(view, routes);
  if (shared === undefined) return [];
  const body = renderRoute(view, settings, session, shared);
  return [{ verb: 'create', resource: HTTP_ROUTES, namespace: view.source.metadata.namespace, body }];
}

function admit(configMap: KubeObject, user: string): JsonPatchOperation {
  return configMap['data'] === undefined
    ? { op: 'add', path: '/data', value: { [ALLOW_LIST_KEY]: user } }
    : { op: 'add', path: `/data/${ALLOW_LIST_KEY}`, value: user };
}

/** Tested by uid: of all owners only ours may go. */
function letGo({ warmPool }: SlotView, { metadata }: KubeObject): readonly JsonPatchOperation[] {
  const uid = warmPool?.ref.uid;
  const at = (metadata.ownerReferences ?? []).findIndex((owner) => owner.uid === uid);
  if (at < 0) return [];
  const marks = [BUILDING_ANNOTATION, EMPTIED_ANNOTATION, USED_ANNOTATION].filter(
    (mark) => metadata.annotations?.[mark] !== undefined,
  );
  return [
    { op: 'test', path: `/metadata/ownerReferences/${at}/uid`, value: uid },
    { op: 'remove', path: `/metadata/ownerReferences/${at}` },
    ...marks.map((mark) => ({ op: 'remove' as const, path: `/metadata/annotations/${escaped(mark)}` })),
  ];
}

function addOwners(
  { metadata }: KubeObject,
  owners: readonly OwnerReference[],
): readonly JsonPatchOperation[] {
  if (owners.length === 0) return [];
  if (metadata.ownerReferences === undefined)
    return [{ op: 'add', path: '/metadata/ownerReferences', value: owners }];
  return owners.map((value) => ({ op: 'add', path: '/metadata/ownerReferences/-', value }));
}

function setUnlessEmpty(
  entries: Readonly<Record<string, string>>,
  operations: (entries: Readonly<Record<string, string>>) => readonly JsonPatchOperation[],
): readonly JsonPatchOperation[] {
  return Object.keys(entries).length === 0 ? [] : operations(entries);
}

/** A Session as an owner. */
export function reference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

function userOf(session: KubeObject): string {
  const user = field(session, 'spec', 'user');
  return typeof user === 'string' ? user : '';
}
