import { parseAppDefinition, parseSession } from '../../platform/theia-cloud/crds.ts';
import { handleAppDefinition } from './_operator-apps.ts';
import type { OperatorContext } from './_operator-parts.ts';
import { fail, type SessionContext } from './_operator-session-steps.ts';
import { handleDeletedSession, handleSession } from './_operator-sessions.ts';
import { handleDeletedWorkspace, handleWorkspace } from './_operator-workspaces.ts';
import type { Heard } from './operator-feed.ts';
import { HandlerError } from './operator-hands.ts';

/** A failure here is logged and dropped: the AppDefinition is not looked at again before its next event. */
export async function hearAppDefinition(
  context: OperatorContext,
  { type, object }: Heard,
  rollsOut: boolean,
): Promise<void> {
  const app = parseAppDefinition(object);
  if (app.kind === 'invalid')
    return context.log(`AppDefinition ${object.metadata.name}: ${app.field} ${app.reason}`);
  try {
    await handleAppDefinition(context, type, app.value, rollsOut);
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.log(`AppDefinition ${object.metadata.name}: ${error.message}`);
  }
}

/** MODIFIED is nothing to a Session. A failure ends the Session in ERROR, and then the process. */
export async function hearSession(
  context: SessionContext,
  { type, object }: Heard,
  goesOn: boolean,
): Promise<void> {
  if (type === 'MODIFIED') return;
  const session = parseSession(object);
  if (session.kind === 'invalid')
    return context.log(`Session ${object.metadata.name}: ${session.field} ${session.reason}`);
  try {
    await (type === 'ADDED'
      ? handleSession(context, session.value)
      : handleDeletedSession(context, session.value));
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.log(`Session ${object.metadata.name}: ${error.message}`);
    if (type === 'ADDED')
      await fail(context, session.value, 'Unexpected error. Please check the operator logs.');
    if (!goesOn && context.faults.endsOnConflict) throw error;
  }
}

/** As with Sessions, but on the thread that hears. */
export async function hearWorkspace(
  context: OperatorContext,
  { type, object }: Heard,
  goesOn: boolean,
): Promise<void> {
  try {
    if (type === 'ADDED') await handleWorkspace(context, object);
    else if (type === 'DELETED') await handleDeletedWorkspace(context, object);
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.log(`Workspace ${object.metadata.name}: ${error.message}`);
    if (!goesOn && context.faults.endsOnConflict) throw error;
  }
}
