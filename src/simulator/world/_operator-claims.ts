import type { Failure, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { AppDefinition, Session } from '../../platform/theia-cloud/crds.ts';
import { REFRESH_ANNOTATION, SERVICE_TYPE_LABEL } from '../../platform/theia-cloud/labels.ts';
import { instanceNames, podSelector } from '../../platform/theia-cloud/names.ts';
import { ALLOW_LIST_KEY } from '../../platform/theia-cloud/render.ts';
import { CONFIG_MAPS, DEPLOYMENTS, PODS, SERVICES } from '../../platform/theia-cloud/resources.ts';
import {
  addOwner,
  isSolelyOwned,
  ownsIt,
  removeLabels,
  removeOwner,
  setAnnotations,
  setEntries,
  setLabels,
} from './_operator-edits.ts';
import { type OperatorContext, ownedBy, slotInName } from './_operator-pool.ts';
import type { Hands } from './operator-hands.ts';

/** How often a release tries to take a Session off one Service. */
const RELEASE_TRIES = 3;

/** What a claim came to. `full`: no slot is free. `failed`: the chosen one was lost half way; no other is tried. */
export type Claim =
  | { readonly kind: 'claimed'; readonly slot: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'failed' };

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

/**
 * Takes the lowest slot whose two Services have exactly one owner each: adds the Session to the external one, then to the
 * internal one. The owners are counted in the list only, never again (no compare-and-swap). One claim at a time.
 */
export async function claimSlot(
  context: OperatorContext,
  app: AppDefinition,
  session: Session,
): Promise<Claim> {
  const pairs = pairUp(await ownedBy(context, SERVICES, app));
  const uid = session.metadata.uid;
  const half = pairs.find(({ external, internal }) => isOwned(external, uid) || isOwned(internal, uid));
  if (half !== undefined) return completeClaim(context, session, half);

  const free = pairs.find(({ external, internal }) => isFree(external) && isFree(internal));
  if (free?.external === undefined || free.internal === undefined) return { kind: 'full' };
  if ((await own(context.hands, free.external, session)) !== undefined) return { kind: 'failed' };
  if ((await own(context.hands, free.internal, session)) === undefined)
    return { kind: 'claimed', slot: free.slot };
  await leave(context.hands, free.external, uid);
  return { kind: 'failed' };
}

/** A Session found on one Service only gets the other if that is free, else it loses the one. */
async function completeClaim({ hands }: OperatorContext, session: Session, pair: Pair): Promise<Claim> {
  const uid = session.metadata.uid;
  const claimed = { kind: 'claimed', slot: pair.slot } as const;
  const [taken, other] = isOwned(pair.external, uid)
    ? [pair.external, pair.internal]
    : [pair.internal, pair.external];
  if (isOwned(other, uid)) return claimed;
  if (other !== undefined && isFree(other) && (await own(hands, other, session)) === undefined)
    return claimed;
  if (taken !== undefined) await leave(hands, taken, uid);
  return { kind: 'full' };
}

function pairUp(services: readonly KubeObject[]): readonly Pair[] {
  const pairs = new Map<number, Pair>();
  for (const service of services) {
    const slot = slotInName(service);
    const side = service.metadata.labels?.[SERVICE_TYPE_LABEL] === 'internal' ? 'internal' : 'external';
    pairs.set(slot, { ...pairs.get(slot), slot, [side]: service });
  }
  return [...pairs.values()].sort((a, b) => a.slot - b.slot);
}

const isOwned = (service: KubeObject | undefined, uid: string): boolean =>
  service !== undefined && ownsIt(service, uid);
const isFree = (service: KubeObject | undefined): boolean => service !== undefined && isSolelyOwned(service);

const own = (hands: Hands, { metadata }: KubeObject, session: Session): Promise<Failure | undefined> =>
  hands.edit(SERVICES, { name: metadata.name, step: 'claim' }, (service) => ({
    metadata: addOwner(service, sessionReference(session)),
  }));

const leave = (hands: Hands, { metadata }: KubeObject, uid: string): Promise<Failure | undefined> =>
  hands.edit(SERVICES, { name: metadata.name }, (service) => ({ metadata: removeOwner(service, uid) }));

/** Labels both Services, owns the Deployment, opens the allow-list; stops at the first failure and takes nothing back. */
export async function completeSetup(
  context: OperatorContext,
  app: AppDefinition,
  session: Session,
  slot: number,
): Promise<boolean> {
  const { hands, settings } = context;
  const names = instanceNames(app, slot);
  const labels = sessionLabels(session);
  for (const name of [names.externalService, names.internalService]) {
    const failure = await hands.edit(SERVICES, { name }, (service) => ({
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

const setAllowList = (hands: Hands, name: string, user: string | null): Promise<Failure | undefined> =>
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

/**
 * Takes a Session that is gone off its slot, in the recorded order; the garbage collector does part of it meanwhile. Does
 * nothing unless exactly one external and one internal Service still carry the Session's labels.
 */
export async function releaseSlot(
  context: OperatorContext,
  app: AppDefinition,
  session: Session,
  slot: number,
): Promise<void> {
  const { hands, settings, log } = context;
  const { uid } = session.metadata;
  const labelSelector = Object.entries(sessionLabels(session))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
  const services = await hands.list(SERVICES, { labelSelector });
  const [pair, another] = pairUp(services);
  if (
    pair?.external === undefined ||
    pair.internal === undefined ||
    another !== undefined ||
    services.length !== 2
  ) {
    return log(`releasing ${session.metadata.name}: found ${services.length} Services`);
  }
  for (const { metadata } of [pair.external, pair.internal]) await stripService(context, metadata.name, uid);
  const names = instanceNames(app, slot);
  await hands.edit(DEPLOYMENTS, { name: names.deployment }, (deployment) => ({
    metadata: removeOwner(deployment, uid),
  }));
  if (settings.keycloak) await setAllowList(hands, names.emailConfigMap, null);
  const pod = (await hands.list(PODS)).find(({ metadata }) => metadata.name.startsWith(names.deployment));
  if (pod !== undefined) await hands.delete(PODS, pod.metadata.name);
}

async function stripService({ hands, log }: OperatorContext, name: string, uid: string): Promise<void> {
  const labels = ['theia-cloud.io/session', 'theia-cloud.io/session-uuid', 'theia-cloud.io/user'] as const;
  for (let tries = 1; tries <= RELEASE_TRIES; tries += 1) {
    const failure = await hands.edit(SERVICES, { name }, (service) => ({
      metadata: [...removeLabels(service, labels), ...removeOwner(service, uid)],
    }));
    if (failure === undefined) return;
    log(`releasing ${name}: ${failure.message}`);
  }
}
