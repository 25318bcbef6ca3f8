import { WORKSHOP_ENVIRONMENTS, WORKSHOP_SESSIONS } from '../../../platform/educates/resources.ts';
import { replaceEnvironment } from './_portal-environments.ts';
import { createSession, endSession, stopWarm } from './_portal-sessions.ts';
import { activeSessions, type EnvironmentRow, type PortalContext, warmSessions } from './_rows.ts';

/** What the portal does every 15 s, from its database: it never looks at environments, and at sessions only whether they are there. */
export async function round(context: PortalContext): Promise<void> {
  const { db, hands } = context;
  const inState = (state: EnvironmentRow['state']) => db.environments.filter((row) => row.state === state);
  for (const row of inState('STOPPING'))
    if (activeSessions(db, row).length === 0) await removeDrained(context, row);
  for (const row of inState('RUNNING')) await trim(context, row);
  for (const row of inState('RUNNING')) {
    const { refreshMs } = row.wanted;
    if (refreshMs > 0 && hands.now() - row.createdAt > refreshMs) await replaceEnvironment(context, row);
  }
  for (const row of inState('RUNNING')) await topUp(context, row);
  await purge(context);
  if (!context.faults.believesItsRows) await forgetTheGone(context);
}

/** What is over is deleted; what is gone is noticed. */
async function purge(context: PortalContext): Promise<void> {
  const { db, hands } = context;
  for (const session of activeSessions(db)) {
    const isOver = session.expiresAt !== undefined && session.expiresAt <= hands.now();
    const isGone =
      session.state !== 'STARTING' && (await hands.get(WORKSHOP_SESSIONS, session.name)) === undefined;
    if (isOver || isGone) await endSession(context, session);
  }
}

async function removeDrained({ hands, faults, log }: PortalContext, row: EnvironmentRow): Promise<void> {
  const failure = await hands.remove(WORKSHOP_ENVIRONMENTS, row.name);
  if (failure !== undefined && failure.kind !== 'notFound') {
    log(`deleting ${row.name}: ${failure.message}`);
    if (!faults.leaksEnvironments) return;
  }
  row.state = 'STOPPED';
}

/** As long as more are to stand at first than later, nothing is trimmed. */
async function trim(context: PortalContext, row: EnvironmentRow): Promise<void> {
  const { initial, reserved } = row.wanted;
  if (initial > reserved) return;
  const warm = warmSessions(context.db, row);
  for (const session of warm.slice(reserved)) await stopWarm(context, session);
}

async function topUp(context: PortalContext, row: EnvironmentRow): Promise<void> {
  const { db } = context;
  const { reserved, initial, capacity } = row.wanted;
  const isUnused = initial === 0 && !db.sessions.some(({ environment }) => environment === row);
  if (reserved === 0 || isUnused) return;
  const { maximum = 0 } = db.portal ?? {};
  const missing = Math.min(
    reserved - warmSessions(db, row).length,
    capacity - activeSessions(db, row).length,
    maximum === 0 ? capacity : maximum - activeSessions(db).length,
  );
  for (let made = 0; made < missing; made += 1) await createSession(context, row);
}

/** Without the fault: an environment that is gone is one that is to be made. */
async function forgetTheGone(context: PortalContext): Promise<void> {
  for (const row of context.db.environments.filter(({ state }) => state === 'RUNNING')) {
    if ((await context.hands.get(WORKSHOP_ENVIRONMENTS, row.name)) === undefined)
      await replaceEnvironment(context, row);
  }
}
