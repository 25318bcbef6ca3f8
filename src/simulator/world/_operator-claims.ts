import type { Failure, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { AppDefinition, Session } from '../../platform/theia-cloud/crds.ts';
import { CLAIM_LABELS, REFRESH_ANNOTATION } from '../../platform/theia-cloud/labels.ts';
import { instanceNames, podSelector } from '../../platform/theia-cloud/names.ts';
import { ALLOW_LIST_KEY } from '../../platform/theia-cloud/render.ts';
import { CONFIG_MAPS, DEPLOYMENTS, PODS, SERVICES } from '../../platform/theia-cloud/resources.ts';
import {
  addOwner,
  isSolelyOwned,
  ownsIt,
  removeOwner,
  setAnnotations,
  setEntries,
  setLabels,
} from './_operator-edits.ts';
import {
  isOutdated,
  isSidecar,
  type OperatorContext,
  ownedBy,
  partsOf,
  slotInName,
} from './_operator-parts.ts';
import type { Hands } from './operator-hands.ts';

/**
 * What a claim came to, with the Services that it got. `full`: no slot is free. `failed`: the chosen one was lost half way; no
 * other is tried.
 */
export type Claim =
  | {
      readonly kind: 'claimed';
      readonly slot: number;
      readonly external: KubeObject;
      readonly internal: KubeObject;
    }
  | { readonly kind: 'full' }
  | { readonly kind: 'failed' };
export type Claimed = Extract<Claim, { kind: 'claimed' }>;

export const sessionReference = ({ apiVersion, kind, metadata }: Session): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
});

/** The labels that tie an object to a Session, in the operator's own order. */
export const sessionLabels = ({ metadata, spec }: Session): Readonly<Record<string, string>> => ({
  'theia-cloud.io/session-uuid': metadata.uid,
  'theia-cloud.io/app-definition': spec.appDefinition.slice(0, 63),
  'app.kubernetes.io/part-of': 'theia-cloud',
  'theia-cloud.io/user': spec.user
    .replaceAll('@', '_at_')
    .replaceAll(/[^a-zA-Z0-9]/g, '_')
    .slice(0, 63),
  'theia-cloud.io/session': spec.name.slice(0, 63),
  'app.kubernetes.io/component': 'session',
});

interface Pair {
  readonly slot: number;
  readonly external?: KubeObject;
  readonly internal?: KubeObject;
}
type WholePair = Required<Pair>;

/**
 * Takes the lowest slot whose two Services have exactly one owner each: adds the Session to the external one, then to the
 * internal one. The owners are counted in the list only, never again (no compare-and-swap). One claim at a time.
 */
export async function claimSlot(
  context: OperatorContext,
  app: AppDefinition,
  session: Session,
): Promise<Claim> {
  const services = await ownedBy(context, SERVICES, app);
  const pairs = pairUp(
    context.faults.claimsSidecars ? services : services.filter((service) => !isSidecar(service)),
  );
  const uid = session.metadata.uid;
  const half = pairs.find(({ external, internal }) => isOwned(external, uid) || isOwned(internal, uid));
  if (half !== undefined) return completeClaim(context, session, half);

  const free = pairs.filter(isWholeAndFree);
  const fit = context.faults.claimsUnseen ? free : await fitAmong(context, app, free);
  for (const pair of fit) {
    const claim = await takePair(context, session, pair);
    if (claim.kind === 'claimed' || context.faults.claimsWithoutSwap) return claim;
  }
  return { kind: 'full' };
}

/** What a mended operator would hand out: current, with a pod that is ready and that nobody used. */
async function fitAmong(
  context: OperatorContext,
  app: AppDefinition,
  pairs: readonly WholePair[],
): Promise<readonly WholePair[]> {
  const { deployment: part } = partsOf(context);
  const fit = new Set<number>();
  for (const deployment of (await ownedBy(context, DEPLOYMENTS, app)).filter((one) => !isSidecar(one))) {
    const { availableReplicas = 0 } = (deployment['status'] ?? {}) as { availableReplicas?: number };
    const stands = availableReplicas > 0 && deployment.metadata.deletionTimestamp === undefined;
    if (stands && !(await isOutdated(context, app, part, deployment))) fit.add(slotInName(deployment));
  }
  const isClean = ({ metadata }: KubeObject): boolean =>
    CLAIM_LABELS.every((label) => metadata.labels?.[label] === undefined);
  return pairs.filter(({ slot, external, internal }) => fit.has(slot) && [external, internal].every(isClean));
}

async function takePair(context: OperatorContext, session: Session, pair: WholePair): Promise<Claim> {
  if ((await own(context, pair.external, session)) !== undefined) return { kind: 'failed' };
  if ((await own(context, pair.internal, session)) === undefined) return { kind: 'claimed', ...pair };
  await leave(context.hands, pair.external, session.metadata.uid);
  return { kind: 'failed' };
}

/** A Session found on one Service only gets the other if that is free, else it loses the one. */
async function completeClaim(context: OperatorContext, session: Session, pair: Pair): Promise<Claim> {
  const uid = session.metadata.uid;
  const [taken, other] = isOwned(pair.external, uid)
    ? [pair.external, pair.internal]
    : [pair.internal, pair.external];
  if (isWhole(pair)) {
    if (isOwned(other, uid)) return { kind: 'claimed', ...pair };
    if (other !== undefined && isFree(other) && (await own(context, other, session)) === undefined)
      return { kind: 'claimed', ...pair };
  }
  if (taken !== undefined) await leave(context.hands, taken, uid);
  return { kind: 'full' };
}

/** Services by slot: of each side the first in the list. */
export function pairUp(services: readonly KubeObject[]): readonly Pair[] {
  const pairs = new Map<number, Pair>();
  for (const service of services) {
    const slot = slotInName(service);
    const side = service.metadata.name.endsWith('-int') ? 'internal' : 'external';
    pairs.set(slot, { slot, [side]: service, ...pairs.get(slot) });
  }
  return [...pairs.values()].sort((a, b) => a.slot - b.slot);
}

const isWhole = (pair: Pair): pair is WholePair => pair.external !== undefined && pair.internal !== undefined;
const isWholeAndFree = (pair: Pair): pair is WholePair =>
  isWhole(pair) && isFree(pair.external) && isFree(pair.internal);
const isOwned = (service: KubeObject | undefined, uid: string): boolean =>
  service !== undefined && ownsIt(service, uid);
const isFree = (service: KubeObject): boolean => isSolelyOwned(service);

const own = (
  { hands, faults }: OperatorContext,
  { metadata }: KubeObject,
  session: Session,
): Promise<Failure | undefined> =>
  hands.edit(SERVICES, { name: metadata.name, step: 'claim' }, (service) =>
    faults.claimsWithoutSwap || isFree(service)
      ? { metadata: addOwner(service, sessionReference(session)) }
      : undefined,
  );

const leave = (hands: Hands, { metadata }: KubeObject, uid: string): Promise<Failure | undefined> =>
  hands.edit(SERVICES, { name: metadata.name }, (service) => ({ metadata: removeOwner(service, uid) }));

/** Labels both Services, owns the Deployment, opens the allow-list; stops at the first failure and takes nothing back. */
export async function completeSetup(
  context: OperatorContext,
  app: AppDefinition,
  session: Session,
  { slot, external, internal }: Claimed,
): Promise<boolean> {
  const { hands, settings } = context;
  const names = instanceNames(app, slot);
  const labels = sessionLabels(session);
  for (const { metadata } of [external, internal]) {
    const failure = await hands.edit(SERVICES, { name: metadata.name }, (service) => ({
      metadata: setLabels(service, labels),
    }));
    if (failure !== undefined) return false;
  }
  const owned = await hands.edit(DEPLOYMENTS, { name: names.deployment }, (deployment) => ({
    metadata: addOwner(deployment, sessionReference(session)),
  }));
  if (owned !== undefined) return false;
  if (!settings.keycloak) return true;
  if ((await setAllowList(hands, names.emailConfigMap, session.spec.user)) !== undefined) return false;
  await pokePods(context, names.deployment, podSelector(app, slot));
  return true;
}

export const setAllowList = (hands: Hands, name: string, user: string | null): Promise<Failure | undefined> =>
  hands.edit(CONFIG_MAPS, { name }, (configMap) => {
    const data = configMap['data'] as Readonly<Record<string, unknown>> | undefined;
    return { other: setEntries('/data', data, { [ALLOW_LIST_KEY]: user }) };
  });

/** Touches the slot's pods, so that their kubelet looks at the mounted allow-list at once. */
async function pokePods({ hands, log }: OperatorContext, deployment: string, app: string): Promise<void> {
  const found = await hands.get(DEPLOYMENTS, deployment);
  if (found.kind !== 'ok') return log(`poking pods of ${deployment}: ${found.message}`);
  for (const { metadata } of await hands.list(PODS, { labelSelector: `app=${app}` })) {
    const failure = await hands.edit(PODS, { name: metadata.name }, (pod) => ({
      metadata: setAnnotations(pod, { [REFRESH_ANNOTATION]: new Date(hands.now()).toISOString() }),
    }));
    if (failure !== undefined) log(`poking pod ${metadata.name}: ${failure.message}`);
  }
}
