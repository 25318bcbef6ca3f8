import type { Ailment } from '../../pool/types.ts';
import type { Portal } from './crds.ts';
import { readDropped } from './dropped.ts';
import type { Entry } from './entries.ts';
import type { Finding } from './finding.ts';
import { placeFindings } from './findings.ts';
import { PORTAL_UID_LABEL } from './labels.ts';
import {
  annotateEnvironment,
  annotatePortal,
  annotateWorkshop,
  deleteEnvironment,
  type Lever,
  readmit,
  recycleSession,
} from './levers.ts';
import type { EnvironmentView, Place, PortalView } from './places.ts';

/** What is wrong with a place, and the levers against it. */
export interface Treatment extends Omit<Ailment, 'remedies'> {
  readonly remedies: readonly Lever[];
}

/**
 * What is to be done about one place; `undefined` when it is well. Where nothing can be done but by a person, that is said by
 * a treatment without levers.
 */
export function treatmentOf(place: Place, view: PortalView): Treatment | undefined {
  const { entry } = place;
  if (entry?.dropped !== undefined) return undefined;
  const findings = entry?.blocked === undefined ? placeFindings(place, view) : [entry.blocked];
  const refresh = entry?.blocked === undefined ? refreshOf(place, view) : undefined;
  if (refresh !== undefined) return refresh;
  const treatments = findings.map((finding): Treatment => {
    const remedies = isTreatable(place, view, finding) ? leversFor(finding, place, view) : [];
    const afterMs = LEFT_TO_PORTAL_MS[finding.reason] ?? 0;
    return { key: keyOf(place, view), message: finding.message, afterMs, remedies };
  });
  const [first] = treatments;
  if (first === undefined) return place.role === 'entry' ? undefined : untold(place);
  return treatments.find(({ remedies }) => remedies.length > 0) ?? first;
}

/** What the portal mends by itself as a rule: within its next pass, or, when the last user has left, within two. */
const LEFT_TO_PORTAL_MS: Partial<Readonly<Record<Finding['reason'], number>>> = {
  EnvironmentMissing: 15_000,
  Stale: 15_000,
  EnvironmentLeaked: 60_000,
};

/** What stands beside the entries is never the planner's to replace. */
function untold({ slot, view: filled }: Place): Treatment | undefined {
  const isEnding = filled?.state === 'DRAINING' || filled?.state === 'GONE';
  return isEnding
    ? undefined
    : { key: '', message: `${slot} stands beside the entries`, afterMs: 0, remedies: [] };
}

/** A user in a broken environment may be at work there: whatever is done, the portal would end it. */
export function isUntouchable({ view: filled }: Place): boolean {
  return filled?.state === 'BROKEN' && hasUsers(filled);
}

function hasUsers({ sessions }: EnvironmentView): boolean {
  return sessions.some(({ state }) => state === 'CLAIMED');
}

function isTreatable(place: Place, { isServed }: PortalView, finding: Pick<Finding, 'isMeant'>): boolean {
  const isBlocked = place.entry?.blocked !== undefined;
  return isServed && !isBlocked && !isUntouchable(place) && finding.isMeant !== true;
}

/** A person asked for another environment: once, for the next one is younger than the wish. */
function refreshOf(place: Place, { snapshot, wishes, isServed }: PortalView): Treatment | undefined {
  const { entry, view: filled, slot } = place;
  const { portal, now } = snapshot;
  if (place.role !== 'entry' || filled === undefined || entry === undefined || portal === undefined)
    return undefined;
  const { environment } = filled;
  const wished = Math.max(wishes.get(slot) ?? 0, wishes.get('*') ?? 0);
  const isAsked = environment.refresh || wished > environment.createdAt;
  if (!isAsked || !isServed || isUntouchable(place)) return undefined;
  const message = `a person asked for another WorkshopEnvironment than ${environment.name}`;
  const key = `refresh/${environment.uid}`;
  return { key, message, afterMs: 0, remedies: anewOf(portal, entry, now) };
}

/** Another Workshop starts afresh. What goes wrong with one and the same, however it does, has its tries counted together. */
function keyOf({ entry, view: filled }: Place, { snapshot }: PortalView): string {
  if (entry === undefined) return filled?.environment.uid ?? '';
  const workshop = snapshot.workshops.get(entry.workshopName);
  return `${workshop?.uid ?? 'none'}/${workshop?.generation ?? 0}`;
}

/** From the least to the most disruptive; each was seen to work on a running portal. */
function leversFor(
  { reason }: Pick<Finding, 'reason'>,
  place: Place,
  { snapshot }: PortalView,
): readonly Lever[] {
  const { entry, view: filled } = place;
  const { portal, now } = snapshot;
  if (portal === undefined) return [];
  const anew = anewOf(portal, entry, now);
  if (reason === 'EnvironmentMissing') return [annotatePortal(portal), annotatePortal(portal), ...anew];
  if (filled === undefined) return [];
  const { environment } = filled;
  switch (reason) {
    case 'NeverActivated':
      return [annotateEnvironment(environment), annotateEnvironment(environment), ...anew];
    case 'Stale':
      return [...comparisons(environment.workshopName, snapshot), ...anew];
    case 'NotRefreshed':
      return [annotatePortal(portal), ...anew];
    case 'EnvironmentFailed':
    case 'EnvironmentStuck':
      return anew;
    case 'EnvironmentLeaked':
    case 'OrphanedEnvironment':
      return hasUsers(filled) || isOthers(place, snapshot) ? [] : [deleteEnvironment(environment)];
    case 'SessionBroken':
      return recycling(filled);
    default:
      return [];
  }
}

/** Nothing is dropped where our annotation already holds something that cannot be read: it would be lost. */
function anewOf(portal: Portal, entry: Entry | undefined, now: number): readonly Lever[] {
  return entry === undefined || readDropped(portal) === undefined ? [] : [readmit(portal, entry, now)];
}

function comparisons(name: string, { workshops }: PortalView['snapshot']): readonly Lever[] {
  const workshop = workshops.get(name);
  return workshop === undefined ? [] : [annotateWorkshop(workshop), annotateWorkshop(workshop)];
}

/** It is of a portal that stands, if under another name. */
function isOthers({ role, view: filled }: Place, { others }: PortalView['snapshot']): boolean {
  const uid = filled?.environment.labels[PORTAL_UID_LABEL];
  return role === 'orphan' && (uid === undefined || others.some((other) => other.uid === uid));
}

/** One at a time: until its next pass the portal may hand out one that was deleted. */
function recycling({ sessions }: EnvironmentView): readonly Lever[] {
  if (sessions.some(({ session }) => session.isGoing)) return [];
  const broken = sessions.filter(({ state }) => state === 'BROKEN').map(({ session }) => session);
  const [first] = broken.sort((a, b) => (a.name < b.name ? -1 : 1));
  return first === undefined ? [] : [recycleSession(first)];
}
