import type { KubeObject, Resource } from '../../../kube/api.ts';
import { SECRETS, WORKSHOP_ALLOCATIONS, WORKSHOP_SESSIONS } from '../../../platform/educates/resources.ts';
import { type Fields, ownedBy, valueAt } from './_hands.ts';
import {
  activeSessions,
  type EnvironmentRow,
  type PortalContext,
  type SessionRow,
  warmSessions,
} from './_rows.ts';

const LABELS = 'training.educates.dev/';

/**
 * Writes something into an object's status by the whole object as it was read, resourceVersion included: whoever wrote in
 * between wins, and what was to be said is lost (with the fault).
 */
export async function writeStatus(
  { hands, faults, log }: PortalContext,
  resource: Resource,
  name: string,
  fields: Fields,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const object = await hands.get(resource, name);
    if (object === undefined) return log(`${name} is gone`);
    const educates = { ...Object(valueAt(object, 'status', 'educates')), ...fields };
    const status = { ...Object(object['status']), educates };
    const outcome = await hands.merge(resource, name, { ...object, status });
    if (outcome.kind === 'ok') return;
    log(`Failed to update status of ${name}: ${outcome.message}`);
    if (outcome.kind !== 'conflict' || faults.losesPhases || tries === 5) return;
  }
}

/** One more session of an environment: nobody's, or at once somebody's. */
export async function createSession(
  context: PortalContext,
  environment: EnvironmentRow,
  claim?: Pick<SessionRow, 'owner' | 'token' | 'expiresAt'>,
): Promise<SessionRow | undefined> {
  const { db, hands, log } = context;
  environment.tally += 1;
  const id = `s${String(environment.tally).padStart(3, '0')}`;
  const row: SessionRow = {
    name: `${environment.name}-${id}`,
    environment,
    uid: '',
    state: 'STARTING',
    ...claim,
  };
  db.sessions.push(row);
  const made = await hands.create(WORKSHOP_SESSIONS, sessionBody(context, row, id));
  if (made.kind !== 'ok') {
    log(`creating ${row.name}: ${made.message}`);
    return undefined;
  }
  row.uid = made.value.metadata.uid ?? '';
  row.state = row.owner !== undefined && row.token === undefined ? 'RUNNING' : 'WAITING';
  const status = row.owner === undefined ? { phase: 'Available' } : { phase: phaseOf(row), user: row.owner };
  await writeStatus(context, WORKSHOP_SESSIONS, row.name, status);
  if (row.state === 'RUNNING') await bind(context, row, made.value);
  return row;
}

function sessionBody({ name, db }: PortalContext, row: SessionRow, id: string) {
  const { environment } = row;
  const { uid = '', url = '' } = db.portal ?? {};
  const env = Object.entries({
    PORTAL_CLIENT_ID: row.name,
    PORTAL_CLIENT_SECRET: 'client-secret',
    PORTAL_URL: url,
    PORTAL_API_URL: `http://training-portal.${name}-ui`,
    SESSION_NAME: row.name,
    TRAINING_PORTAL: name,
    FRAME_ANCESTORS: '',
    ...(environment.wanted.expiresMs === 0
      ? {}
      : { ENABLE_COUNTDOWN: 'true', RESTART_URL: `${url}/workshops/session/${row.name}/delete/` }),
  }).map(([variable, value]) => ({ name: variable, value }));
  const owner = {
    apiVersion: 'training.educates.dev/v1beta1',
    kind: 'WorkshopEnvironment',
    metadata: { name: environment.name, uid: environment.uid },
  };
  const labels = {
    [`${LABELS}portal.name`]: name,
    [`${LABELS}portal.uid`]: uid,
    [`${LABELS}environment.name`]: environment.name,
    [`${LABELS}environment.uid`]: environment.uid,
  };
  return {
    apiVersion: 'training.educates.dev/v1beta1',
    kind: 'WorkshopSession',
    metadata: { name: row.name, labels, ownerReferences: ownedBy(owner) },
    spec: {
      environment: { name: environment.name },
      workshop: { name: environment.wanted.entry },
      portal: { name, url },
      session: {
        id,
        username: '',
        password: '',
        config: { password: 'config-password' },
        ingress: { domain: 'labs.example.org', secret: '' },
        env,
      },
      analytics: { amplitude: { trackingId: '' } },
    },
  };
}

/** Hands a warm session to somebody. With a token it waits to be activated, without one it is his. */
export async function claim(context: PortalContext, row: SessionRow): Promise<void> {
  row.state = row.token === undefined ? 'RUNNING' : 'WAITING';
  await writeStatus(context, WORKSHOP_SESSIONS, row.name, { phase: phaseOf(row), user: row.owner });
  context.later(250, () => replaceWarm(context, row.environment));
  if (row.state === 'RUNNING') await bindByName(context, row);
}

/** The user is there. */
export async function activate(context: PortalContext, row: SessionRow): Promise<void> {
  const { expiresMs } = row.environment.wanted;
  delete row.token;
  delete row.expiresAt;
  if (expiresMs > 0) row.expiresAt = context.hands.now() + expiresMs;
  row.state = 'RUNNING';
  await writeStatus(context, WORKSHOP_SESSIONS, row.name, { phase: 'Allocated', user: row.owner });
  await bindByName(context, row);
}

const phaseOf = ({ token }: SessionRow): string => (token === undefined ? 'Allocated' : 'Allocating');

async function bindByName(context: PortalContext, row: SessionRow): Promise<void> {
  const apiVersion = 'training.educates.dev/v1beta1';
  const metadata = { name: row.name, uid: row.uid };
  await bind(context, row, { apiVersion, kind: 'WorkshopSession', metadata });
}

/** What tells everybody whose the session is: two Secrets and a WorkshopAllocation. */
async function bind({ hands, name, db }: PortalContext, row: SessionRow, session: KubeObject): Promise<void> {
  const { environment } = row;
  const owner = ownedBy(session);
  const labels = {
    [`${LABELS}component`]: 'request',
    [`${LABELS}workshop.name`]: environment.wanted.workshop,
    [`${LABELS}portal.name`]: name,
    [`${LABELS}portal.uid`]: db.portal?.uid ?? '',
    [`${LABELS}environment.name`]: environment.name,
    [`${LABELS}session.name`]: row.name,
  };
  const secret = (what: string, stringData: Fields) => ({
    metadata: {
      name: `${row.name}-${what}`,
      namespace: environment.name,
      labels: { ...labels, [`${LABELS}component.group`]: 'variables' },
      ownerReferences: owner,
    },
    stringData,
  });
  const user = { username: row.owner ?? '', first_name: '', last_name: '', email: '' };
  await hands.create(SECRETS, secret('user', user));
  await hands.create(SECRETS, secret('request', {}));
  await hands.create(WORKSHOP_ALLOCATIONS, {
    apiVersion: 'training.educates.dev/v1beta1',
    kind: 'WorkshopAllocation',
    metadata: {
      name: row.name,
      labels: { ...labels, [`${LABELS}environment.uid`]: environment.uid },
      ownerReferences: owner,
    },
    spec: { environment: { name: environment.name }, session: { name: row.name, user: row.owner ?? '' } },
  });
}

/** The session is over: what stands of it is deleted, whatever that comes to, and perhaps another one made. */
export async function endSession(context: PortalContext, row: SessionRow): Promise<void> {
  const failure = await context.hands.remove(WORKSHOP_SESSIONS, row.name);
  if (failure !== undefined) context.log(`deleting ${row.name}: ${failure.message}`);
  row.state = 'STOPPED';
  await replaceWarm(context, row.environment);
}

/** One more warm session, if there is room for it and one is missing. */
async function replaceWarm(context: PortalContext, environment: EnvironmentRow): Promise<void> {
  const { db } = context;
  const { reserved, capacity } = environment.wanted;
  const { maximum = 0 } = db.portal ?? {};
  const isMissing = environment.state === 'RUNNING' && warmSessions(db, environment).length < reserved;
  const hasRoom =
    activeSessions(db, environment).length < capacity &&
    (maximum === 0 || activeSessions(db).length < maximum);
  if (isMissing && hasRoom) await createSession(context, environment);
}

/** A warm session that is not wanted any more: said at once, deleted in the next round. */
export async function stopWarm(context: PortalContext, row: SessionRow): Promise<void> {
  row.state = 'STOPPING';
  row.expiresAt = context.hands.now();
  await writeStatus(context, WORKSHOP_SESSIONS, row.name, { phase: 'Stopping' });
}
