import type { Session } from '../../platform/theia-cloud/crds.ts';
import { INSTANCE_ID_ANNOTATION, START_STRATEGY_ANNOTATION } from '../../platform/theia-cloud/labels.ts';
import { instanceNames, instancePath } from '../../platform/theia-cloud/names.ts';
import { claimSlot, completeSetup, releaseSlot } from './_operator-claims.ts';
import { startLazily } from './_operator-lazy.ts';
import { type OperatorContext, reconcileInstance } from './_operator-pool.ts';
import { createRoute } from './_operator-route.ts';
import {
  annotate,
  appDefinitionOf,
  fail,
  publish,
  type SessionContext,
  setStatus,
  sharedRoute,
} from './_operator-session-steps.ts';

/** Handles a Session as it was when it was seen: what others did to it since is not looked at. */
export async function handleSession(context: SessionContext, session: Session): Promise<void> {
  switch (session.status.operatorStatus ?? 'NEW') {
    case 'HANDLED':
    case 'ERROR':
      return;
    case 'HANDLING':
      return fail(
        context,
        session,
        `Handling was unexpectedly interrupted. CorrelationId: ${session.metadata.uid}`,
      );
    default:
      return start(context, session);
  }
}

async function start(context: SessionContext, session: Session): Promise<void> {
  await setStatus(context, session, { operatorStatus: 'HANDLING' });
  const app = await appDefinitionOf(context, session);
  if (app === undefined) return fail(context, session, 'App Definition not found.');
  const shared = await sharedRoute(context, app);
  if (shared === undefined) return fail(context, session, 'HTTPRoute not available.');

  const claim = await context.oneAtATime(() => claimSlot(context, app, session));
  if (claim.kind === 'full') return startLazily(context, session);
  if (claim.kind === 'failed') return fail(context, session, 'Failed to reserve prewarmed instance.');
  await annotate(context, session, {
    [START_STRATEGY_ANNOTATION]: 'eager',
    [INSTANCE_ID_ANNOTATION]: String(claim.slot),
  });
  if (!(await completeSetup(context, app, session, claim.slot))) {
    return fail(context, session, 'Failed to complete session setup.');
  }
  const path = instancePath(app, claim.slot, context.settings);
  const service = instanceNames(app, claim.slot).externalService;
  if (!(await createRoute(context, session, { path, service, port: app.spec.port, shared }))) {
    return fail(context, session, 'HTTPRoute not available.');
  }
  await publish(context, session, path);
}

/** After a Session's end. Only what was started eagerly is cleaned up here; the rest is the garbage collector's. */
export async function handleDeletedSession(context: OperatorContext, session: Session): Promise<void> {
  const annotations = session.metadata.annotations ?? {};
  if (annotations[START_STRATEGY_ANNOTATION] !== 'eager') return;
  const app = await appDefinitionOf(context, session);
  const slot = Number(annotations[INSTANCE_ID_ANNOTATION] ?? Number.NaN);
  if (app === undefined || !Number.isSafeInteger(slot)) return;
  await releaseSlot(context, app, session, slot);
  await reconcileInstance(context, app, slot);
}
