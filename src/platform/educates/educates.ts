import type { KubeApi, OwnerReference } from '../../kube/api.ts';
import { revisionOf } from '../../pool/revision.ts';
import { type Desired, type Policy, type Problem, WHOLE_POOL } from '../../pool/types.ts';
import type { Observation, Platform, Scope } from '../platform.ts';
import { defaultPolicy, NO_MEMORY, type UnnamedMode } from '../warm-pool.ts';
import type { Portal } from './crds.ts';
import { type Entries, entriesOf } from './entries.ts';
import { detailsOf } from './facts.ts';
import { type Finding, ofPool } from './finding.ts';
import { findingsOf } from './findings.ts';
import { instanceOf } from './instance.ts';
import { PORTAL_UID_LABEL } from './labels.ts';
import { portalIn } from './names.ts';
import { arrange, type PortalView } from './places.ts';
import { readPortalAt, type Snapshot } from './read.ts';
import { GROUP, TRAINING_PORTALS } from './resources.ts';
import { keysOf, WATCHES } from './watches.ts';

export interface EducatesOptions {
  /** The mode that is asked for. Portals are only looked at, whatever it is. */
  readonly mode: UnnamedMode;
}

const NAME = 'educates';
/** What happens in it is known, and nothing is written: whatever a WarmPool says. */
const POLICY: Policy = defaultPolicy('observe');
const NO_ENTRIES: Entries = { entries: [], findings: [], maximum: 0 };

/**
 * Educates: a pool is a TrainingPortal, its slots are the entries of `spec.workshops`, an instance is the WorkshopEnvironment of
 * an entry. It belongs to the namespace that the portal runs in. Nothing is ever written.
 */
export function createEducates(options: EducatesOptions): Platform {
  return {
    name: NAME,
    watches: WATCHES,
    keysOf,
    poolIn: portalIn,
    observe: (api, scope) => observe(api, scope, options),
  };
}

async function observe(
  api: KubeApi,
  scope: Scope,
  options: EducatesOptions,
): Promise<readonly Observation[]> {
  const name = portalIn(scope.namespace);
  if (name === undefined || (scope.name ?? name) !== name) return [];
  const snapshot = await readPortalAt(api, scope, name);
  if (snapshot === undefined || snapshot.portal?.isGoing === true) return [];
  // Of a portal that is gone only what it left behind is seen, if it left anything.
  const isLeft = snapshot.environments.some(({ isGoing }) => !isGoing);
  return snapshot.portal === undefined && !isLeft ? [] : [observationOf(snapshot, scope, options)];
}

function observationOf(snapshot: Snapshot, scope: Scope, options: EducatesOptions): Observation {
  const { portal, name, now, forbidden } = snapshot;
  const listed = portal === undefined || forbidden !== undefined ? NO_ENTRIES : entriesOf(portal, snapshot);
  const view = arrange(snapshot, listed);
  const problem = problemOf(snapshot);
  const asksForGuard = options.mode === 'guard' || snapshot.asksForGuard;
  const findings = [
    ...(problem === undefined ? findingsOf(view) : []),
    ...(asksForGuard ? [OBSERVE_ONLY] : []),
  ];
  const bySlot = new Map(view.places.map((place) => [place.slot, place]));
  return {
    key: { cluster: scope.cluster, platform: NAME, namespace: scope.namespace, name },
    now,
    desired: desiredOf(view, findings, problem),
    observed: {
      instances: view.places.map((place, at) => instanceOf(place, at + 1, view)),
      memory: NO_MEMORY,
      // The portal's own loop tells nobody that it lives; without writes nothing has to wait for it.
      operator: { alive: false, startedAt: 0 },
      quiet: true,
      leftovers: [],
      quotas: '',
      ...(forbidden === undefined ? {} : { unreadable: true }),
    },
    policy: POLICY,
    warmPool: undefined,
    source: sourceOf(snapshot),
    findings,
    detailsOf: (slot) => {
      const place = bySlot.get(slot);
      return place === undefined ? undefined : detailsOf(place, view);
    },
    requestsFor: () => [],
  };
}

const OBSERVE_ONLY: Finding = ofPool(
  'ObserveOnly',
  'mode guard was asked for, but portals are only looked at: what is found is told, and nothing is repaired',
);

/** The portal as a whole cannot be judged. */
function problemOf({ portal, name, forbidden, environments }: Snapshot): Problem | undefined {
  if (forbidden !== undefined) return { reason: 'Forbidden', message: forbidden };
  if (portal === undefined) {
    const left = environments.filter(({ isGoing }) => !isGoing).map((one) => one.name);
    const message = `there is no TrainingPortal ${name}, and of one that is gone there stand: ${left.join(', ')}`;
    return { reason: 'OrphanedEnvironment', message };
  }
  return notReady(portal);
}

function notReady({ status, failure }: Portal): Problem | undefined {
  const { educates } = status;
  if (educates?.phase === 'Running') return undefined;
  const why = educates?.message ?? failure;
  const field =
    educates === undefined
      ? 'status.educates is missing'
      : `status.educates.phase is ${educates.phase ?? 'missing'}`;
  return {
    reason: 'PortalNotReady',
    message: `${field}: the portal does not serve its workshops${why === undefined ? '' : `: ${why}`}`,
  };
}

function desiredOf(
  { entries, places, snapshot }: PortalView,
  findings: readonly Finding[],
  problem: Problem | undefined,
): Desired {
  const [concern, ...others] = findings.filter(({ isMeant }) => isMeant !== true);
  const wanted = entries.map(({ slot, workshopName }) => {
    const workshop = snapshot.workshops.get(workshopName);
    return [slot, workshop?.uid ?? '', workshop?.generation ?? 0];
  });
  return {
    replicas: places.filter(({ role }) => role === 'entry').length,
    revision: revisionOf(wanted),
    sourceCounter: snapshot.portal?.object.metadata.generation ?? 0,
    ...(problem === undefined ? {} : { problem }),
    ...(concern === undefined
      ? {}
      : { concern: { reason: concern.reason, message: [concern, ...others].map(said).join('; ') } }),
  };
}

function said({ slot, message }: Finding): string {
  return slot === WHOLE_POOL || message.includes(slot) ? message : `${slot}: ${message}`;
}

function sourceOf({ portal, name, environments }: Snapshot): OwnerReference {
  const uid = portal?.uid ?? environments[0]?.labels[PORTAL_UID_LABEL] ?? '';
  return { apiVersion: `${GROUP}/v1beta1`, kind: TRAINING_PORTALS.kind, name, uid };
}
