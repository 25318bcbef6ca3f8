import type { KubeObject } from '../../kube/api.ts';
import type { ClaimTrouble } from '../../pool/types.ts';
import { CLAIM_LABELS, INSTANCE_ID_ANNOTATION } from './labels.ts';
import { entriesOf, isSidecar } from './parts.ts';
import { isGoing, type SlotView } from './slot-view.ts';

/** Who holds a slot, and whether that is beyond doubt. */
export interface Claim {
  readonly session: KubeObject;
  /** The operator has done its part, nobody else has a claim that may be as good, and the Session is not going. */
  readonly settled: boolean;
  readonly trouble?: ClaimTrouble;
}

/** A Session that got no answer for this long gets none any more. */
const UNSETTLED_MAX_MS = 30_000;

/**
 * Who holds the slot: a live Session that owns one of its claimable objects, or one that names the slot and has not failed. Of
 * several one wins where that is clear: all others failed, or it alone was told this slot.
 */
export function claimOf(view: SlotView): Claim | undefined {
  const [first, ...others] = claimants(view);
  if (first === undefined) return undefined;
  const all = [first, ...others];
  const standing = all.filter((session) => !hasFailed(session));
  const [only] = standing;
  if (only === undefined) return { session: first, settled: false, trouble: failedIn(view, all) };
  if (standing.length > 1) return split(view, standing);

  const failed = all.filter(hasFailed);
  const wrong = failed.length > 0 ? failedIn(view, failed) : wrongObjectIn(view, only);
  return { session: only, settled: isSettled(only), ...(wrong === undefined ? {} : { trouble: wrong }) };
}

/** Everyone of whom it can be said that they hold the slot, the owner of the external Service first. */
function claimants(view: SlotView): readonly KubeObject[] {
  const { externalService, internalService, deployment } = view.parts;
  const owners = [externalService, internalService, deployment]
    .flatMap((part) => part?.metadata.ownerReferences ?? [])
    .map(({ uid }) => view.sessions.get(uid))
    .filter((session) => session !== undefined);
  const named = [...view.sessions.values()].filter(
    (session) => namesSlot(view, session) && !hasFailed(session),
  );
  return [...new Set([...owners, ...named])];
}

function split(view: SlotView, sessions: readonly KubeObject[]): Claim {
  const named = sessions.filter((session) => namesSlot(view, session));
  const [winner = sessions[0] as KubeObject] = named;
  // A claim that is under way may still be given up, or told another slot.
  if (sessions.some((session) => isUnderWay(view, session))) return { session: winner, settled: false };
  const names = sessions.map(({ metadata }) => metadata.name).sort();
  const clear = named.length === 1 && isSettled(winner);
  const verdict = clear ? `it is ${winner.metadata.name}'s` : 'delete all but one of them';
  const message = `slot ${view.slot} is claimed by ${names.join(' and ')}: ${verdict}`;
  return { session: winner, settled: clear, trouble: { reason: 'SplitClaim', message } };
}

function failedIn({ slot }: SlotView, sessions: readonly KubeObject[]): ClaimTrouble {
  const told = sessions.map((session) => {
    const why = field(session, 'status', 'operatorMessage');
    return `${session.metadata.name}${typeof why === 'string' && why !== '' ? ` (${why})` : ''}`;
  });
  const message = `slot ${slot} is held by ${told.join(' and ')}, which failed: delete the Session`;
  return { reason: 'FailedClaim', message };
}

/** The operator takes the first of a slot's Services by name, a sidecar's too. */
function wrongObjectIn({ slot, parts }: SlotView, { metadata }: KubeObject): ClaimTrouble | undefined {
  const wrong = entriesOf(parts).find(([name, part]) => isSidecar(name) && claimLabelsOn(part).length > 0);
  if (wrong === undefined) return undefined;
  const message = `slot ${slot}: ${metadata.name} was given ${wrong[1].kind}/${wrong[1].metadata.name}, a sidecar: give it a name that sorts after that of the definition`;
  return { reason: 'WrongObject', message };
}

/** The operator told the Session this slot of this pool. */
function namesSlot({ slot, source }: SlotView, session: KubeObject): boolean {
  return (
    session.metadata.annotations?.[INSTANCE_ID_ANNOTATION] === String(slot) &&
    field(session, 'spec', 'appDefinition') === source.metadata.name
  );
}

function isSettled(session: KubeObject): boolean {
  return field(session, 'status', 'operatorStatus') === 'HANDLED' && !isGoing(session);
}

function isUnderWay({ now }: SlotView, session: KubeObject): boolean {
  const createdAt = Date.parse(session.metadata.creationTimestamp ?? '');
  const handled = field(session, 'status', 'operatorStatus') === 'HANDLED';
  return !handled && createdAt + UNSETTLED_MAX_MS > now;
}

function hasFailed(session: KubeObject): boolean {
  return field(session, 'status', 'operatorStatus') === 'ERROR';
}

/** Session labels that a claim left on a Service. */
export function claimLabelsOn(service: KubeObject | undefined): readonly string[] {
  return CLAIM_LABELS.filter((label) => service?.metadata.labels?.[label] !== undefined);
}

/** A field one level down, whatever it is. */
export function field(object: KubeObject, parent: string, name: string): unknown {
  const value = object[parent];
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
