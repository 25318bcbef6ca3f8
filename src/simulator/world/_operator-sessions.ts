import type { AppDefinition, Session } from '../../platform/theia-cloud/crds.ts';
import { INSTANCE_ID_ANNOTATION, START_STRATEGY_ANNOTATION } from '../../platform/theia-cloud/labels.ts';
import { instancePath } from '../../platform/theia-cloud/names.ts';
import { SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { type Claimed, claimSlot, completeSetup } from './_operator-claims.ts';
import { limitReached, startLazily } from './_operator-lazy.ts';
import type { OperatorContext } from './_operator-parts.ts';
import { reconcileInstance } from './_operator-recycle.ts';
import { clear, releaseSlot } from './_operator-release.ts';
import { createRoute } from './_operator-route.ts';
import {
  annotate,
  appDefinitionOf,
  fail,
  pollUrl,
  publish,
  type SessionContext,
  setStatus,
  sharedRoute,
} from './_operator-session-steps.ts';

/** Handles a Session as it was when it was seen: what others did to it since is not looked at. */
export async function handleSession(context: SessionContext, session: Session): Promise<void> {
  if (!context.faults.claimsForTheGone && !(await stands(context, session))) return;
  switch (session.status.operatorStatus ?? 'NEW') {
    case 'HANDLED':
      return context.faults.forgetsUrls ? undefined : pollAgain(context, session);
    case 'ERROR':
      return;
    case 'HANDLING':
      if (!context.faults.dropsInterrupted) return start(context, session);
      return fail(
        context,
        session,
        `Handling was unexpectedly interrupted. CorrelationId: ${session.metadata.uid}`,
      );
    default:
      return start(context, session);
  }
}

async function stands({ hands }: SessionContext, { metadata }: Session): Promise<boolean> {
  const found = await hands.get(SESSIONS, metadata.name);
  return found.kind === 'ok' && found.value.metadata.uid === metadata.uid;
}

async function pollAgain(context: SessionContext, session: Session): Promise<void> {
  const app = await appDefinitionOf(context, session);
  const slot = slotOfSession(session);
  if (session.status.url !== undefined || app === undefined || slot === undefined) return;
  pollUrl(context, session, instancePath(app, slot, context.settings));
}

async function start(context: SessionContext, session: Session): Promise<void> {
  if (!context.settings.eagerStart) return void (await startLazily(context, session));
  await setStatus(context, session, { operatorStatus: 'HANDLING' });
  const app = await appDefinitionOf(context, session);
  if (app === undefined) return fail(context, session, 'App Definition not found.');
  const shared = await sharedRoute(context, app);
  if (shared === undefined) return fail(context, session, 'HTTPRoute not available.');
  if (!context.faults.limitsOnlyLazily) {
    const refusal = await limitReached(context, app, session);
    if (refusal !== undefined) return fail(context, session, ...refusal);
  }
  if (session.spec.workspace && !context.faults.ignoresWorkspaces) return fallBack(context, session);

  const claim = await context.oneAtATime(() => claimSlot(context, app, session));
  if (claim.kind === 'full') return fallBack(context, session);
  if (claim.kind === 'failed') return fail(context, session, 'Failed to reserve prewarmed instance.');
  await annotate(context, session, {
    [START_STRATEGY_ANNOTATION]: 'eager',
    [INSTANCE_ID_ANNOTATION]: String(claim.slot),
  });
  if (!(await completeSetup(context, app, session, claim))) {
    await giveUp(context, app, session, claim);
    return fail(context, session, 'Failed to complete session setup.');
  }
  const path = instancePath(app, claim.slot, context.settings);
  const target = { path, service: claim.external.metadata.name, port: app.spec.port, shared };
  if (!(await createRoute(context, session, target))) {
    await giveUp(context, app, session, claim);
    return fail(context, session, 'HTTPRoute not available.');
  }
  await publish(context, session, path);
}

/** No slot is free: the Session gets objects of its own, and is marked after it was handled. */
async function fallBack(context: SessionContext, session: Session): Promise<void> {
  if (!(await startLazily(context, session))) return;
  await annotate(context, session, { [START_STRATEGY_ANNOTATION]: 'lazy-fallback' });
}

/** What a failed claim leaves of the slot: nothing is taken back. */
async function giveUp(
  context: SessionContext,
  app: AppDefinition,
  { metadata }: Session,
  { slot, external, internal }: Claimed,
): Promise<void> {
  if (context.faults.keepsFailedClaims) return;
  await clear(context, app, slot, { services: [external, internal], uid: metadata.uid });
}

function slotOfSession({ metadata }: Session): number | undefined {
  const slot = Number(metadata.annotations?.[INSTANCE_ID_ANNOTATION] ?? Number.NaN);
  return Number.isSafeInteger(slot) ? slot : undefined;
}

/** After a Session's end. Only what was started eagerly is cleaned up here; the rest is the garbage collector's. */
export async function handleDeletedSession(context: OperatorContext, session: Session): Promise<void> {
  if (session.metadata.annotations?.[START_STRATEGY_ANNOTATION] !== 'eager') return;
  const app = await appDefinitionOf(context, session);
  const slot = slotOfSession(session);
  if (app === undefined || slot === undefined) return;
  await releaseSlot(context, app, session, slot);
  await reconcileInstance(context, app, slot);
}
