import type { KubeObject } from '../../kube/api.ts';
import { type AppDefinition, parseSession, type Session } from '../../platform/theia-cloud/crds.ts';
import {
  APP_LABEL,
  SERVICE_TYPE_LABEL,
  START_STRATEGY_ANNOTATION,
} from '../../platform/theia-cloud/labels.ts';
import { asValidName, plainName, suffixedName } from '../../platform/theia-cloud/names.ts';
import { SERVICES, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { sessionLabels, sessionReference } from './_operator-claims.ts';
import { ownsIt } from './_operator-edits.ts';
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

/**
 * What the operator does for a Session when no slot is free: limits, then a set of objects of the Session's own. **Reduced**:
 * it makes the two Services and the route, but no ConfigMaps and no Deployment, for nothing of Everwarm's depends on them;
 * the order of everything else is the recorded one, with the annotation after HANDLED.
 */
export async function startLazily(context: SessionContext, session: Session): Promise<void> {
  await setStatus(context, session, { operatorStatus: 'HANDLING' });
  const app = await appDefinitionOf(context, session);
  if (app === undefined) return fail(context, session, 'App Definition not found.');
  const refusal = await limitReached(context, app, session);
  if (refusal !== undefined) return fail(context, session, ...refusal);
  const shared = await sharedRoute(context, app);
  if (shared === undefined) return fail(context, session, 'HTTPRoute not available.');

  const path = `${publishedUnder(context)}/${session.metadata.uid}`;
  const [external, internal] = servicesFor(context, app, session);
  const standing = (await context.hands.list(SERVICES)).some((service) =>
    ownsIt(service, session.metadata.uid),
  );
  if (!standing) {
    for (const service of [external, internal]) {
      const failure = await context.hands.create(SERVICES, service);
      if (failure !== undefined) return fail(context, session, 'Failed to create service.');
    }
    const target = { path, service: external.metadata.name, port: app.spec.port, shared };
    if (!(await createRoute(context, session, target))) {
      return fail(context, session, 'HTTPRoute not available.');
    }
  }
  await publish(context, session, path);
  await annotate(context, session, { [START_STRATEGY_ANNOTATION]: 'lazy-fallback' });
}

/** The limits count only here: a Session that finds a warm slot passes them by. */
async function limitReached(
  { hands, sessionsPerUser }: SessionContext,
  app: AppDefinition,
  session: Session,
): Promise<readonly [message: string, error: string] | undefined> {
  const ofApp = (await sessionsIn(hands)).filter(
    ({ spec, status }) => spec.appDefinition === app.spec.name && status.operatorStatus !== 'ERROR',
  );
  const { maxInstances = -1 } = app.spec;
  if (maxInstances >= 0 && ofApp.length > maxInstances) {
    return ['Max instances reached.', '552:Max instances reached. Could not create session.'];
  }
  if (sessionsPerUser === undefined || sessionsPerUser < 0) return undefined;
  if (sessionsPerUser === 0) return ['Max sessions reached.', '554:No sessions allowed for this user.'];
  const ofUser = (await sessionsIn(hands)).filter(({ spec }) => spec.user === session.spec.user);
  return ofUser.length > sessionsPerUser
    ? ['Max sessions reached.', '553:No more sessions allowed for this user, you reached your limit.']
    : undefined;
}

async function sessionsIn(hands: SessionContext['hands']): Promise<readonly Session[]> {
  return (await hands.list(SESSIONS)).flatMap((object) => {
    const session = parseSession(object);
    return session.kind === 'parsed' ? [session.value] : [];
  });
}

const publishedUnder = ({ settings }: SessionContext): string =>
  settings.usePaths && settings.instancesPath !== '' ? `/${settings.instancesPath}` : '';

function servicesFor(
  { settings }: SessionContext,
  app: AppDefinition,
  session: Session,
): readonly [KubeObject, KubeObject] {
  const { user, name } = session.spec;
  const parts = { prefix: 'session', user, app: app.spec.name, uid: session.metadata.uid };
  const selector = { [APP_LABEL]: asValidName(`${name}-${session.metadata.uid}`) };
  const labels = { ...selector, ...sessionLabels(session) };
  const { port } = app.spec;
  const service = (own: string, more: Readonly<Record<string, string>>, ports: unknown): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: own, labels: { ...labels, ...more }, ownerReferences: [sessionReference(session)] },
    spec: { selector, ports: [ports] },
  });
  return [
    service(plainName(parts), {}, { name: 'http', port, targetPort: settings.keycloak ? 'web' : port }),
    service(
      suffixedName(parts, 'int'),
      { [SERVICE_TYPE_LABEL]: 'internal' },
      { name: 'http-internal', port: 3001, targetPort: port },
    ),
  ];
}
