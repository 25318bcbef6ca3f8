import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition, Session } from '../../platform/theia-cloud/crds.ts';
import { CLAIM_LABELS } from '../../platform/theia-cloud/labels.ts';
import { instanceNames, podSelector } from '../../platform/theia-cloud/names.ts';
import { DEPLOYMENTS, PODS, SERVICES, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { pairUp, sessionLabels, setAllowList } from './_operator-claims.ts';
import { removeLabels, removeOwner } from './_operator-edits.ts';
import { type OperatorContext, ownedBy, slotInName } from './_operator-parts.ts';

/** How often a release tries to take a Session off one Service. */
const RELEASE_TRIES = 3;
/** How long a mended operator waits for a deleted pod, and how often it looks. */
const POD_GONE_MAX_MS = 30_000;
const POD_LOOK_MS = 250;
/** Where the session's uid stands on its Services. */
const [, , SESSION_UID_LABEL] = CLAIM_LABELS;

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
  const labelSelector = Object.entries(sessionLabels(session))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
  const services = await context.hands.list(SERVICES, { labelSelector });
  const [pair, another] = pairUp(services);
  if (
    pair?.external === undefined ||
    pair.internal === undefined ||
    another !== undefined ||
    services.length !== 2
  ) {
    return context.log(`releasing ${session.metadata.name}: found ${services.length} Services`);
  }
  await clear(context, app, slot, { services: [pair.external, pair.internal], uid: session.metadata.uid });
}

interface Leaving {
  readonly services: readonly KubeObject[];
  readonly uid: string;
}

/** Frees the slot of a Session: the Services first, so that the next one may have them; then what the user left. */
export async function clear(
  context: OperatorContext,
  app: AppDefinition,
  slot: number,
  { services, uid }: Leaving,
): Promise<void> {
  const free = async (): Promise<void> => {
    for (const { metadata } of services) await stripService(context, metadata.name, uid);
    await context.hands.edit(DEPLOYMENTS, { name: instanceNames(app, slot).deployment }, (deployment) => ({
      metadata: removeOwner(deployment, uid),
    }));
  };
  if (context.faults.freesBeforeClearing) await free();
  await wipe(context, app, slot);
  if (!context.faults.freesBeforeClearing) await free();
}

async function wipe(context: OperatorContext, app: AppDefinition, slot: number): Promise<void> {
  const { hands, settings, faults } = context;
  const names = instanceNames(app, slot);
  if (settings.keycloak) await setAllowList(hands, names.emailConfigMap, null);
  const pods = (await hands.list(PODS)).filter(({ metadata }) => metadata.name.startsWith(names.deployment));
  const going = faults.deletesOnePod ? pods.slice(0, 1) : pods;
  for (const { metadata } of going) await hands.delete(PODS, metadata.name, {});
  if (faults.freesBeforeClearing) return;
  const gone = new Set(going.map(({ metadata }) => metadata.uid));
  const labelSelector = `app=${podSelector(app, slot)}`;
  for (const end = hands.now() + POD_GONE_MAX_MS; hands.now() < end; await hands.sleep(POD_LOOK_MS)) {
    const standing = await hands.list(PODS, { labelSelector });
    if (!standing.some(({ metadata }) => gone.has(metadata.uid))) return;
  }
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

/** What a mended operator does at a start: Sessions that went while nobody looked are taken off their slots. */
export async function releaseForgotten(context: OperatorContext, app: AppDefinition): Promise<void> {
  const live = new Set((await context.hands.list(SESSIONS)).map(({ metadata }) => metadata.uid));
  const left = new Map<string, KubeObject[]>();
  for (const service of await ownedBy(context, SERVICES, app)) {
    const uid = service.metadata.labels?.[SESSION_UID_LABEL];
    if (uid !== undefined && !live.has(uid)) left.set(uid, [...(left.get(uid) ?? []), service]);
  }
  for (const [uid, services] of left) {
    const [first] = services;
    if (first !== undefined) await clear(context, app, slotInName(first), { services, uid });
  }
}
