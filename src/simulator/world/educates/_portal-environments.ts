import type { KubeObject } from '../../../kube/api.ts';
import { WORKSHOP_ENVIRONMENTS, WORKSHOPS } from '../../../platform/educates/resources.ts';
import { numberAt, ownedBy, textAt, valueAt } from './_hands.ts';
import { createSession, stopWarm, writeStatus } from './_portal-sessions.ts';
import {
  activeSessions,
  type EnvironmentRow,
  isActive,
  type PortalContext,
  readSpec,
  type Wanted,
  warmSessions,
} from './_rows.ts';

const LABELS = 'training.educates.dev/';
const RETRY_MS = 15_000;

/** Whenever the portal hears of itself: what is not listed is stopped, what is listed gets its numbers, what is missing is made. */
export async function hearPortal(context: PortalContext, object: KubeObject): Promise<void> {
  const { db, faults } = context;
  if (valueAt(object, 'status', 'educates') === undefined) return;
  db.portal = readSpec(object);
  const { entries } = db.portal;
  for (const row of db.environments.filter(isActive)) {
    const listed = entries.find(
      ({ entry, workshop }) => isOf(row, entry) && row.wanted.workshop === workshop,
    );
    if (listed === undefined) {
      await stopEnvironment(context, row);
      continue;
    }
    const initial = row.state === 'STARTING' ? listed.initial : row.wanted.initial;
    row.wanted = { ...listed, initial };
    const { capacity, reserved } = listed;
    await writeStatus(context, WORKSHOP_ENVIRONMENTS, row.name, { capacity, reserved });
    if (!faults.comparesOnEventsOnly) await compareWithWorkshop(context, row);
  }
  context.later(50, async () => {
    for (const wanted of entries) await createEnvironment(context, wanted);
  });
}

const isOf = (row: EnvironmentRow, entry: string): boolean => row.wanted.entry === entry;

/** An environment for an entry, unless one is in use. */
async function createEnvironment(context: PortalContext, wanted: Wanted): Promise<void> {
  const { db, hands, faults, name: portal, log } = context;
  if (db.environments.some((row) => isActive(row) && isOf(row, wanted.entry))) return;
  const id = db.lastId + 1;
  const name = `${portal}-w${String(id).padStart(2, '0')}`;
  const made = await hands.create(WORKSHOP_ENVIRONMENTS, environmentBody(context, name, wanted));
  if (made.kind !== 'ok') {
    log(`creating ${name}: ${made.message}`);
    if (faults.forgetsCreations) return;
    // Another name next time: this one may never become free.
    db.lastId = id;
    context.later(RETRY_MS, async () => {
      const isListed = db.portal?.entries.some(({ entry }) => entry === wanted.entry);
      if (isListed) await createEnvironment(context, wanted);
    });
    return;
  }
  db.lastId = id;
  const uid = made.value.metadata.uid ?? '';
  db.environments.push({ name, uid, createdAt: hands.now(), wanted, state: 'STARTING', tally: 0 });
}

function environmentBody({ name: portal, db }: PortalContext, name: string, wanted: Wanted) {
  const uid = db.portal?.uid ?? '';
  const { capacity, initial, reserved } = wanted;
  const owner = {
    apiVersion: 'training.educates.dev/v1beta1',
    kind: 'TrainingPortal',
    metadata: { name: portal, uid },
  };
  return {
    apiVersion: owner.apiVersion,
    kind: 'WorkshopEnvironment',
    metadata: {
      name,
      labels: {
        [`${LABELS}portal.name`]: portal,
        [`${LABELS}portal.uid`]: uid,
        [`${LABELS}portal.workshop`]: wanted.entry,
      },
      ownerReferences: ownedBy(owner),
    },
    spec: {
      workshop: { name: wanted.workshop },
      request: { enabled: false },
      session: { ingress: { domain: 'labs.example.org', secret: '', class: 'contour' } },
      environment: { objects: [], secrets: [] },
      theme: { name: 'default-website-theme' },
      cookies: {},
      analytics: { amplitude: { trackingId: '' } },
    },
    status: { educates: { capacity, initial, reserved } },
  };
}

/** Takes a ready environment into use, once, and makes its first sessions. */
export async function activateEnvironment(context: PortalContext, object: KubeObject): Promise<void> {
  const { db, hands, faults } = context;
  const row = db.environments.find(({ name }) => name === object.metadata.name);
  if (row === undefined || row.state !== 'STARTING' || row.uid !== object.metadata.uid) return;
  if (hands.now() < db.lockedUntil) {
    if (!faults.losesActivations) context.later(1_000, () => activateEnvironment(context, object));
    throw new Error('database is locked');
  }
  const pinned = valueAt(object, 'status', 'educates', 'workshop');
  row.pinned = { uid: textAt(pinned, 'uid') ?? '', generation: numberAt(pinned, 'generation') ?? 0 };
  row.state = 'RUNNING';
  const { maximum = 0 } = db.portal ?? {};
  const room = maximum === 0 ? row.wanted.initial : maximum - activeSessions(db).length;
  for (let made = 0; made < Math.min(row.wanted.initial, room); made += 1) await createSession(context, row);
  if (!faults.ignoresStarting) await compareWithWorkshop(context, row);
}

/** Nobody new gets in; who is in stays. Only the phase is told, and that only if there was one. */
async function stopEnvironment(context: PortalContext, row: EnvironmentRow): Promise<void> {
  const object = await context.hands.get(WORKSHOP_ENVIRONMENTS, row.name);
  row.state = 'STOPPING';
  row.wanted = { ...row.wanted, capacity: 0, reserved: 0 };
  if (valueAt(object, 'status', 'educates', 'phase') !== undefined)
    await writeStatus(context, WORKSHOP_ENVIRONMENTS, row.name, { phase: 'Stopping' });
  for (const session of warmSessions(context.db, row)) await stopWarm(context, session);
}

/** Another one in its place, at once. */
export async function replaceEnvironment(context: PortalContext, row: EnvironmentRow): Promise<void> {
  const { wanted } = row;
  await stopEnvironment(context, row);
  context.later(20, async () => {
    if (wanted.hasLabels && context.faults.losesLabelledEntries)
      throw new Error("'str' object has no attribute 'get'");
    await createEnvironment(context, wanted);
  });
}

/** Whenever a Workshop was heard of: what was made from another version of it is replaced, where the portal is to do so. */
export async function hearWorkshop(context: PortalContext, { metadata }: KubeObject): Promise<void> {
  const { db, faults } = context;
  if (db.portal?.updates !== true) return;
  for (const row of db.environments.filter(isActive)) {
    if (row.wanted.workshop !== metadata.name) continue;
    const isSame =
      row.pinned === undefined ||
      (row.pinned.uid === metadata.uid && row.pinned.generation === metadata.generation);
    if (!isSame) await replaceEnvironment(context, row);
    else if (faults.ignoresStarting) return;
  }
}

async function compareWithWorkshop(context: PortalContext, row: EnvironmentRow): Promise<void> {
  if (context.db.portal?.updates !== true || row.pinned === undefined) return;
  const workshop = await context.hands.get(WORKSHOPS, row.wanted.workshop);
  if (workshop === undefined) return;
  const { uid, generation } = workshop.metadata;
  if (uid !== row.pinned.uid || generation !== row.pinned.generation) await replaceEnvironment(context, row);
}
