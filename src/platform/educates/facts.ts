import type { SlotDetails } from '../platform.ts';
import { causeOf } from './findings.ts';
import type { Place, PortalView, SessionView } from './places.ts';

/** What people are told of one place: its environment, sessions and allocations, and the facts that decide about them. */
export function detailsOf({ entry, view: filled }: Place, { snapshot }: PortalView): SlotDetails {
  if (filled === undefined) return { objects: [], facts: [] };
  const { environment, state, sessions } = filled;
  const { pinned, status } = environment;
  const cause = state === 'RUNNING' ? undefined : causeOf(environment);
  const names = new Set(sessions.map(({ session }) => session.name));
  const allocations = snapshot.allocations.filter(({ sessionName }) => names.has(sessionName));
  const from =
    pinned === undefined
      ? 'not made yet'
      : `made from generation ${pinned.generation} of Workshop ${environment.workshopName}`;
  return {
    objects: [environment, ...sessions.map(({ session }) => session), ...allocations].map(
      ({ object }) => object,
    ),
    facts: [
      `its environment is ${state}: phase ${status.phase ?? 'none'}, ${from}`,
      ...(cause === undefined ? [] : [`session-manager says: ${cause}`]),
      ...(entry === undefined
        ? []
        : [
            `warm sessions wanted: ${entry.reserved}, ${entry.initial} at first; at most ${entry.capacity} sessions`,
          ]),
      ...sessions.map(sessionFact),
    ],
  };
}

function sessionFact({ session, state, claim }: SessionView): string {
  const cause = causeOf(session);
  const said = [claim, state === 'WARM' ? 'it has a url' : cause].filter((one) => one !== undefined);
  return `${session.name} is ${state}${said.length === 0 ? '' : `: ${said.join('; ')}`}`;
}
