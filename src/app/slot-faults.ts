import type { KubeObject } from '../kube/api.ts';
import { ALLOW_LIST_KEY } from '../platform/theia-cloud/render.ts';
import type { Instance } from '../pool/types.ts';
import { partOf, sessionNamed, sourceOf, textAt } from './_objects.ts';
import type { PoolLook } from './look.ts';

/** What is not as it should be about one slot. */
export interface Fault {
  /**
   * Of a user's instance: `lockedOut` its allow-list does not name the user; `splitClaim` its objects are not all that
   * user's; `failedClaim` its Session ended in ERROR and still holds it; `surplusClaim` it is beyond the wanted number.
   */
  readonly fault:
    | 'lockedOut'
    | 'splitClaim'
    | 'failedClaim'
    | 'surplusClaim'
    | 'foreign'
    | 'dirty'
    | 'missing'
    | 'incomplete'
    | 'unready'
    | 'stale'
    | 'surplus';
  /** One line for people. */
  readonly what: string;
}

/** Everything that is wrong with a slot, what hurts a user first. */
export function faultsOf(look: PoolLook, instance: Instance): readonly Fault[] {
  return instance.claimedBy === undefined
    ? unclaimedFaults(instance)
    : [...claimFaults(look, instance), ...staleness(instance)];
}

function unclaimedFaults(instance: Instance): readonly Fault[] {
  const { foreign, exists, target, dirt, absent, anchor, terminating, withdrawn } = instance;
  const unready = unreadiness(instance);
  const isHalf = exists && !terminating && (absent || anchor === undefined);
  return faults(
    foreign !== undefined && ['foreign', `${foreign} is not ours: the slot is left alone`],
    !exists && target && ['missing', 'nothing stands there'],
    exists && !target && ['surplus', 'fewer instances are wanted now'],
    dirt !== undefined && ['dirty', `its last user left: ${dirt}`],
    isHalf && withdrawn === undefined && ['incomplete', 'a part of it is missing'],
    unready !== undefined && ['unready', unready],
    ...staleness(instance),
  );
}

function unreadiness({ trouble, ailment, exists, phase }: Instance): string | undefined {
  if (trouble !== undefined) return `${trouble.cause}: ${trouble.message}`;
  return exists && phase !== 'ready' ? ailment?.message : undefined;
}

function staleness({ drift, refresh, terminating }: Instance): readonly Fault[] {
  if (terminating) return [];
  return faults(
    drift.length > 0 && ['stale', drift.map(shortPath).join(', ')],
    drift.length === 0 && refresh && ['stale', 'a person asked for a new one'],
  );
}

/** `deployment: spec.template.spec.containers[java].image` as `containers[java].image`. */
function shortPath(path: string): string {
  return path.replace(/^deployment: /, '').replace(/^spec\.template\.spec\./, '');
}

function claimFaults(look: PoolLook, instance: Instance): readonly Fault[] {
  const session = sessionNamed(look, instance.claimedBy);
  const status = textAt(session, 'status', 'operatorStatus');
  const { replicas } = look.observation.desired;
  // While the operator is at it, a claim stands on some objects and not yet on others.
  const isHandled = status === 'HANDLED';
  const lock = isHandled ? lockOf(look, instance, session) : undefined;
  const split = isHandled || status === 'ERROR' ? splitOf(look, instance) : undefined;
  const said = textAt(session, 'status', 'operatorMessage') ?? '';
  return faults(
    lock !== undefined && ['lockedOut', lock],
    split !== undefined && ['splitClaim', split],
    status === 'ERROR' && ['failedClaim', `its Session ended in ERROR (${said}) and still holds it`],
    !instance.target && ['surplusClaim', `beyond the ${replicas} that are wanted`],
  );
}

/** Why the user is refused at the door, where there is one. */
function lockOf(look: PoolLook, instance: Instance, session: KubeObject | undefined): string | undefined {
  const list = partOf(look, instance, ['ConfigMap', 'emailConfigMap']);
  const proxy = partOf(look, instance, ['ConfigMap', 'proxyConfigMap']);
  if (list === undefined && proxy === undefined) return undefined;
  const user = textAt(session, 'spec', 'user') ?? '';
  const allowed = (textAt(list, 'data', ALLOW_LIST_KEY) ?? '').split(/\s+/).filter((line) => line !== '');
  if (allowed.includes(user)) return undefined;
  return allowed.length === 0
    ? 'its allow-list is empty: login is refused'
    : 'its allow-list is another user’s';
}

const CLAIMED_PARTS = [
  ['Service', 'externalService', 'external Service'],
  ['Service', 'internalService', 'internal Service'],
  ['Deployment', 'deployment', 'Deployment'],
] as const;

/** Whose the parts are, when that is not one user. */
function splitOf(look: PoolLook, instance: Instance): string | undefined {
  if (sourceOf(look) === undefined) return undefined;
  const holders = CLAIMED_PARTS.map(([kind, part, says]) => {
    const object = partOf(look, instance, [kind, part]);
    const names = (object?.metadata.ownerReferences ?? [])
      .filter((owner) => owner.kind === 'Session')
      .map(({ name }) => name);
    return { says: object === undefined ? `${says} is missing` : `${says} is ${whose(names)}`, names };
  });
  const different = new Set(holders.map(({ names }) => names.join()));
  if (different.size === 1) return undefined;
  const odd = holders.filter(({ names }) => names.join() !== instance.claimedBy);
  return odd.map(({ says }) => says).join(', ');
}

function whose(names: readonly string[]): string {
  return names.length === 0 ? "nobody's" : names.map((name) => `${name}'s`).join(' and ');
}

type Maybe = Fault | readonly [fault: Fault['fault'], what: string] | false;

function faults(...list: readonly Maybe[]): readonly Fault[] {
  return list.flatMap((one) => {
    if (one === false) return [];
    return 'fault' in one ? [one] : [{ fault: one[0], what: one[1] }];
  });
}
