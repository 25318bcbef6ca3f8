import type { KubeApi, OwnerReference } from '../../kube/api.ts';
import { revisionOf } from '../../pool/revision.ts';
import { type Action, type Desired, type Policy, type Problem, WHOLE_POOL } from '../../pool/types.ts';
import type { Observation, Platform, Request, Scope } from '../platform.ts';
import { defaultPolicy, NO_MEMORY, type ReadWarmPool, readWarmPool, type UnnamedMode } from '../warm-pool.ts';
import type { Portal } from './crds.ts';
import { type Entries, entriesOf } from './entries.ts';
import { detailsOf } from './facts.ts';
import { type Finding, ofPool } from './finding.ts';
import { findingsOf } from './findings.ts';
import { instanceOf } from './instance.ts';
import { PORTAL_UID_LABEL } from './labels.ts';
import { putBack, REACH } from './levers.ts';
import { portalIn } from './names.ts';
import { arrange, type Place, type PortalView } from './places.ts';
import { readPortalAt, type Snapshot } from './read.ts';
import { GROUP, TRAINING_PORTALS } from './resources.ts';
import { type Treatment, treatmentOf } from './treatment.ts';
import { keysOf, WATCHES } from './watches.ts';

export interface EducatesOptions {
  /** The mode of portals whose WarmPool does not name one. */
  readonly mode: UnnamedMode;
}

const NAME = 'educates';
const NO_ENTRIES: Entries = { entries: [], findings: [], maximum: 0 };

/**
 * Educates: a pool is a TrainingPortal, its slots are the entries of `spec.workshops`, an instance is the WorkshopEnvironment of
 * an entry. It belongs to the namespace that the portal runs in. The portal builds; it is only moved to do so.
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
  const warmPool = warmPoolOf(snapshot, options);
  const view = arrange(snapshot, listed, warmPool?.refresh);
  const problem = problemOf(snapshot, listed, warmPool);
  const policy = policyOf(snapshot, options, warmPool);
  const findings = [
    ...(forbidden === undefined && portal !== undefined ? findingsOf(view) : []),
    ...(policy.mode === 'observe' && asksForGuard(options, warmPool) ? [OBSERVE_ONLY] : []),
  ];
  const treatments = new Map(view.places.map((place) => [place.slot, treatmentOf(place, view)]));
  const desired = desiredOf(view, untreated(findings, treatments, policy), problem);
  const revision = desired.revision ?? '';
  const isLeft = policy.mode === 'observe';
  const bySlot = new Map(view.places.map((place) => [place.slot, place]));
  return {
    key: { cluster: scope.cluster, platform: NAME, namespace: scope.namespace, name },
    now,
    desired,
    observed: {
      instances: view.places.map((place, at) => {
        const treatment = treatments.get(place.slot);
        return instanceOf(place, { rank: at + 1, view, treatment, revision, isLeft });
      }),
      memory: warmPool?.memory ?? NO_MEMORY,
      // The portal's own loop tells nobody that it lives: each ailment gives it the first word.
      operator: { alive: false, startedAt: 0 },
      quiet: true,
      leftovers: [],
      quotas: '',
      ...(forbidden === undefined ? {} : { unreadable: true }),
    },
    policy,
    warmPool: warmPool?.ref,
    source: sourceOf(snapshot),
    findings,
    detailsOf: (slot) => {
      const place = bySlot.get(slot);
      return place === undefined ? undefined : detailsOf(place, view);
    },
    reach: REACH,
    requestsFor: (action, pass) => {
      if (action.kind === 'discard') return [];
      const place = bySlot.get(action.slot);
      return requestsFor(action, pass, { place, portal, treatment: treatments.get(action.slot) });
    },
  };
}

const OBSERVE_ONLY: Finding = ofPool(
  'ObserveOnly',
  'mode guard was asked for, but there can be no WarmPool here: what is found is told, and nothing is repaired',
);

/** The portal's WarmPool. Of a portal that is gone it has nothing to say any more. */
function warmPoolOf({ warmPool, portal }: Snapshot, { mode }: EducatesOptions): ReadWarmPool | undefined {
  return warmPool === undefined || portal === undefined ? undefined : readWarmPool(warmPool, mode);
}

/** Without a WarmPool nothing can be noted, so nothing is done. */
function policyOf(
  { mayHave, portal }: Snapshot,
  { mode }: EducatesOptions,
  warmPool: ReadWarmPool | undefined,
): Policy {
  const policy = warmPool?.policy ?? defaultPolicy(mode);
  return mayHave && portal !== undefined ? policy : { ...policy, mode: 'observe' };
}

function asksForGuard({ mode }: EducatesOptions, warmPool: ReadWarmPool | undefined): boolean {
  return (warmPool?.policy.mode ?? mode) === 'guard';
}

type Treatments = ReadonlyMap<string, Treatment | undefined>;

/** What needs a person: in guard not what is being treated. */
function untreated(
  findings: readonly Finding[],
  treatments: Treatments,
  { mode }: Policy,
): readonly Finding[] {
  const isTreated = ({ slot, message }: Finding) => {
    const treatment = treatments.get(slot);
    return treatment?.message === message && treatment.remedies.length > 0;
  };
  return mode === 'observe' ? findings : findings.filter((finding) => !isTreated(finding));
}

interface Target {
  readonly place: Place | undefined;
  readonly portal: Portal | undefined;
  readonly treatment: Treatment | undefined;
}

function requestsFor(action: Action, pass: string, { place, portal, treatment }: Target): readonly Request[] {
  if (action.kind === 'prompt') {
    const lever = treatment?.remedies.find(({ name }) => name === action.remedy);
    return lever === undefined ? [] : [lever.request(pass)];
  }
  const { entry } = place ?? {};
  if (action.kind !== 'build' || entry?.dropped === undefined || portal === undefined) return [];
  return [putBack(portal, entry, entry.dropped)];
}

/** The portal as a whole cannot be judged. */
function problemOf(
  { portal, name, forbidden, environments }: Snapshot,
  { entries }: Entries,
  warmPool: ReadWarmPool | undefined,
): Problem | undefined {
  if (forbidden !== undefined) return { reason: 'Forbidden', message: forbidden };
  if (portal === undefined) {
    const left = environments.filter(({ isGoing }) => !isGoing).map((one) => one.name);
    const message = `there is no TrainingPortal ${name}, and of one that is gone there stand: ${left.join(', ')}`;
    return { reason: 'OrphanedEnvironment', message };
  }
  if (warmPool?.problem !== undefined) return { reason: 'InvalidWarmPool', message: warmPool.problem };
  // What was dropped goes back, whatever becomes of the portal; nothing else is done then.
  return entries.some(({ dropped }) => dropped !== undefined) ? undefined : notReady(portal);
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
