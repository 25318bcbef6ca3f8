import type { KubeObject } from '../../kube/api.ts';
import { type AppDefinition, parseSession, type Session } from '../../platform/theia-cloud/crds.ts';
import { CONFIG_MAPS, DEPLOYMENTS, SERVICES, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { ownsIt, setEntries } from './_operator-edits.ts';
import { type LazyObjects, lazyObjects, lazyPath } from './_operator-lazy-objects.ts';
import { NO_TEMPLATE, proxyTemplate } from './_operator-parts.ts';
import { createRoute } from './_operator-route.ts';
import {
  appDefinitionOf,
  fail,
  publish,
  type SessionContext,
  setStatus,
  sharedRoute,
} from './_operator-session-steps.ts';
import { WORKSPACES } from './_operator-workspaces.ts';

/**
 * What the operator does for a Session when no slot is free, or when it keeps none: limits, then a set of objects of the
 * Session's own, in the recorded order. Tells whether the Session was handled.
 */
export async function startLazily(context: SessionContext, session: Session): Promise<boolean> {
  const refuse = async (...reason: readonly [message: string, error?: string]): Promise<false> => {
    await fail(context, session, ...reason);
    return false;
  };
  await setStatus(context, session, { operatorStatus: 'HANDLING' });
  const app = await appDefinitionOf(context, session);
  if (app === undefined) return refuse('App Definition not found.');
  const refusal = await limitReached(context, app, session);
  if (refusal !== undefined) return refuse(...refusal);
  const shared = await sharedRoute(context, app);
  if (shared === undefined) return refuse('HTTPRoute not available.');
  const volume = await takeWorkspace(context, session);

  const path = lazyPath(session, context.settings);
  const isStanding = (await context.hands.list(SERVICES)).some((one) => ownsIt(one, session.metadata.uid));
  if (!isStanding) {
    const service = await createObjects(context, app, session, volume);
    if (service === undefined) return refuse('Failed to create service.');
    if (!(await createRoute(context, session, { path, service, port: app.spec.port, shared })))
      return refuse('HTTPRoute not available.');
  }
  await publish(context, session, path);
  return true;
}

/** Writes down in the Session's Workspace what ran on it last. Answers with the claim to mount, if there is one. */
async function takeWorkspace({ hands }: SessionContext, { spec }: Session): Promise<string | undefined> {
  if (!spec.workspace) return undefined;
  let storage: string | undefined;
  await hands.edit(WORKSPACES, { name: spec.workspace }, (workspace) => {
    const known = workspace['spec'] as Readonly<Record<string, string>>;
    storage = known['user'] === spec.user ? known['storage'] : undefined;
    return { other: setEntries('/spec', known, { appDefinition: spec.appDefinition }) };
  });
  return storage;
}

/** Answers with the name of the external Service, unless one of the two could not be made. */
async function createObjects(
  context: SessionContext,
  app: AppDefinition,
  session: Session,
  volume: string | undefined,
): Promise<string | undefined> {
  const { hands, settings } = context;
  const objects = (template: Readonly<Record<string, string>>): LazyObjects =>
    lazyObjects({ app, settings, session, template, volume });
  const { services, emails, deployment, sidecars } = objects(NO_TEMPLATE);
  const [external] = services;
  for (const service of services) {
    if ((await hands.create(SERVICES, service)) !== undefined) return undefined;
  }
  if (emails !== undefined) {
    await hands.list(CONFIG_MAPS);
    await create(context, emails);
    const { proxy } = objects(await proxyTemplate(context));
    if (proxy !== undefined) await create(context, proxy);
  }
  await hands.list(DEPLOYMENTS);
  await create(context, deployment);
  for (const object of sidecars) await create(context, object);
  return external.metadata.name;
}

/** What comes of it is not looked at. */
async function create({ hands, log }: SessionContext, object: KubeObject): Promise<void> {
  const resource = { Service: SERVICES, Deployment: DEPLOYMENTS }[object.kind] ?? CONFIG_MAPS;
  const failure = await hands.create(resource, object);
  if (failure !== undefined) log(`creating ${object.metadata.name}: ${failure.message}`);
}

/** The limits count only here: a Session that finds a warm slot passes them by. */
export async function limitReached(
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
