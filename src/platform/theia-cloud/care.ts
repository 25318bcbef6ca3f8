import type { KubeObject } from '../../kube/api.ts';
import type { Need } from '../../pool/types.ts';
import type { Request } from '../platform.ts';
import { REVISION_LABEL } from '../warm-pool.ts';
import { createPart, createRoute, type Gift, give, reference } from './_heal.ts';
import { type Claim, field } from './claims.ts';
import { driftByPart, isOlder, STALE_PREFIX } from './drift.ts';
import { generationOf, sessionLabels } from './labels.ts';
import { isLeaked } from './leftovers.ts';
import { entriesOf, isService, isUnlabelled, type PartName } from './parts.ts';
import { ALLOW_LIST_KEY } from './render.ts';
import { routeName } from './route.ts';
import { isGoing, type SlotView } from './slot-view.ts';
import { usedUids } from './used.ts';

/** What one object of a claimed slot lacks, and the requests that give it. */
interface Care extends Need {
  requests(pass: string): readonly Request[];
}

/** Parts that the operator itself gives to a Session; of the others the Session is made an owner only so that they last. */
const CLAIMED_PARTS: ReadonlySet<PartName> = new Set(['externalService', 'internalService', 'deployment']);

/**
 * What the user of a settled claim lacks, what hurts most first: the way in, missing objects, what keeps the slot theirs, and
 * then what keeps it from harm later. Empty where nothing is wrong.
 */
export function caresOf(view: SlotView, { session, trouble }: Claim): readonly Care[] {
  const drift = driftByPart(view);
  const user: User = {
    view,
    session,
    isStale: drift.size > 0,
    isMisplaced: trouble?.reason === 'WrongObject',
  };
  const cares = entriesOf(view.parts)
    .filter(([, part]) => !isGoing(part) && isPools(view, session, part))
    .map(([name, part]) => careOf(user, { name, part, isStale: drift.has(name) }))
    .filter((care) => care !== undefined);
  const isUrgent = ({ lacks }: Care) => lacks.includes('allow-list');
  return [
    ...cares.filter(isUrgent),
    ...missingParts(view, session),
    ...missingRoute(view, session),
    ...cares.filter((care) => !isUrgent(care)),
  ];
}

/** Whoever holds a slot, and what is known of it as a whole. */
interface User {
  readonly view: SlotView;
  readonly session: KubeObject;
  readonly isStale: boolean;
  /** The operator gave it another object than the one that it needs. */
  readonly isMisplaced: boolean;
}

function missingParts(view: SlotView, session: KubeObject): readonly Care[] {
  const { parts, rendered, revision } = view;
  if (rendered === undefined || revision === undefined) return [];
  return entriesOf(rendered)
    .filter(([name]) => parts[name] === undefined)
    .map(([name, body]) => ({
      object: `${body.kind}/${body.metadata.name}`,
      lacks: ['object'],
      made: true,
      requests: (pass) => createPart({ ...view, revision }, session, name, body, pass),
    }));
}

/** The operator makes a Session's route once; nobody but us makes it again. */
function missingRoute(view: SlotView, session: KubeObject): readonly Care[] {
  const { routes, settings } = view;
  const name = routeName(session);
  if (routes === undefined || settings === undefined || routes.has(name)) return [];
  const requests = createRoute(view, settings, routes, session);
  return requests.length === 0
    ? []
    : [{ object: `HTTPRoute/${name}`, lacks: ['route'], requests: () => requests }];
}

interface Standing {
  readonly name: PartName;
  readonly part: KubeObject;
  readonly isStale: boolean;
}

function careOf(user: User, standing: Standing): Care | undefined {
  const { view, session } = user;
  const { name, part } = standing;
  const gift: Gift = {
    ...allowList(standing, session),
    ...labelsFor(standing, user),
    ...ownership(standing, session),
    ...renewal(user, standing),
    ...(name === 'externalService' ? holding(view, part) : {}),
  };
  const lacks = WORDS.flatMap(([key, word]) => (gift[key] === undefined ? [] : [word]));
  if (gift.owner !== undefined) lacks.push(CLAIMED_PARTS.has(name) ? 'session owner' : 'protection');
  if (lacks.length === 0) return undefined;
  return {
    object: `${part.kind}/${part.metadata.name}`,
    lacks,
    requests: (pass) => [give(view, part, gift, pass)],
  };
}

/** What each gift is called. */
const WORDS: readonly (readonly [keyof Gift, string])[] = [
  ['allowList', 'allow-list'],
  ['sessionLabels', 'session labels'],
  ['generation', 'label'],
  ['mark', 'mark'],
  ['used', 'hold'],
  ['unhold', 'unhold'],
];

/** With logins on, only who stands in the list gets in. */
function allowList({ name, part }: Standing, session: KubeObject): Gift {
  const user = field(session, 'spec', 'user');
  if (name !== 'emailConfigMap' || typeof user !== 'string' || user === '') return {};
  return (field(part, 'data', ALLOW_LIST_KEY) ?? '') === user ? {} : { allowList: user };
}

/** By all of them the operator finds the slot's two Services at release; a third one would make it find nothing. */
function labelsFor({ name, part }: Standing, { session, isMisplaced }: User): Gift {
  if (!isService(name) || isMisplaced) return {};
  const { labels = {} } = part.metadata;
  const lacking = Object.entries(sessionLabels(session)).filter(([key, value]) => labels[key] !== value);
  return lacking.length === 0 ? {} : { sessionLabels: Object.fromEntries(lacking) };
}

/** What the Session owns too is neither emptied nor deleted by the operator, and goes with the Session if the pool is gone. */
function ownership({ part }: Standing, session: KubeObject): Gift {
  const owner = reference(session);
  return isOwnedBy(part, owner.uid) ? {} : { owner };
}

/** Somebody else's object under a name of ours is none of the user's: it is reported, not touched. */
function isPools({ source, warmPool }: SlotView, session: KubeObject, part: KubeObject): boolean {
  const lords = [source.metadata.uid, warmPool?.ref.uid, session.metadata.uid];
  return lords.some((uid) => uid !== undefined && isOwnedBy(part, uid)) || isLeaked(part);
}

function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/**
 * At release the operator makes a slot anew at once, whoever comes meanwhile, if one label in it is older than the definition. So
 * the labels are renewed, and what is truly stale says so in our own label: it is replaced after the release, behind our reference.
 * A stale slot that is not held is left to the operator: nothing would keep it from the next user.
 */
function renewal({ view, isStale: slotIsStale }: User, { name, part, isStale }: Standing): Gift {
  const { source, revision } = view;
  if (revision === undefined || isUnlabelled(name) || !isOlder(part, source)) return {};
  // What the pool let go of is no matter of the operator's any more.
  if (!isOwnedBy(part, source.metadata.uid)) return {};
  if (slotIsStale && !isHeld(view)) return {};
  const { generation } = source.metadata;
  return isStale ? { generation, mark: staleMark(part) } : { generation };
}

function isHeld({ parts, warmPool }: SlotView): boolean {
  const anchor = parts.externalService;
  return anchor !== undefined && warmPool?.hold === true && isOwnedBy(anchor, warmPool.ref.uid);
}

/** Begins the revision label of a part whose generation label was renewed although the part is stale. */
function staleMark(part: KubeObject): string {
  const own = part.metadata.labels?.[REVISION_LABEL];
  if (own?.startsWith(STALE_PREFIX)) return own;
  return `${STALE_PREFIX}${own ?? `g${generationOf(part) ?? ''}`}`;
}

/** Our reference stays on the external Service while the slot is claimed, and says which pods served the user. */
function holding({ warmPool, source, pods, sidecarPods, parts }: SlotView, anchor: KubeObject): Gift {
  if (warmPool === undefined) return {};
  const isHeld = isOwnedBy(anchor, warmPool.ref.uid);
  // What the pool let go of goes with its Session; our reference would only keep it.
  if (!warmPool.hold || !isOwnedBy(anchor, source.metadata.uid)) return isHeld ? { unhold: true } : {};
  const seen = [...pods, ...sidecarPods, ...(parts.volumeClaim === undefined ? [] : [parts.volumeClaim])];
  const uidsOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.uid ?? '');
  const serving = uidsOf(seen.filter((object) => !isGoing(object)));
  const known = usedUids(anchor).filter((uid) => uidsOf(seen).includes(uid));
  if (isHeld && serving.every((uid) => known.includes(uid))) return {};
  return { used: [...new Set([...known, ...serving])].sort(), ...(isHeld ? {} : { hold: true }) };
}
