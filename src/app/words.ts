import { unreachable } from '../errors.ts';
import type { Action, Instance, Policy, ReplaceReason, WaitCause } from '../pool/types.ts';

/** Why an instance makes way for another, as people say it. */
const FAULTS: Readonly<Record<ReplaceReason, string>> = {
  stale: 'it is not what the definition says now',
  dirty: 'its last user left something behind',
  broken: 'it does not get ready',
  refresh: 'a person asked for a new one',
  surplus: 'fewer instances are wanted now',
};

/** What an action does, in one line. */
export function whatOf(action: Action): string {
  switch (action.kind) {
    case 'discard':
      return `delete the left-over ${action.name}`;
    case 'touch':
      return 'note on its anchor that it stays';
    case 'withdraw':
      return 'withdraw it: it is not handed out until it is returned';
    case 'remove':
      return 'delete all its objects';
    case 'empty':
      return 'delete its Deployment and ConfigMaps';
    case 'build':
      return 'create what it lacks';
    case 'return':
      return 'return it: it may be handed out again';
    case 'nudge':
      return 'make its Deployment try again';
    case 'relabel':
      return 'renew its labels';
    default:
      return unreachable(action);
  }
}

/** Why it is done, in one line. */
export function whyOf(action: Action, instance: Instance | undefined): string {
  switch (action.kind) {
    case 'discard':
      return 'nobody owns it any more';
    case 'touch':
      return 'it was to be replaced and needs it no more';
    case 'withdraw':
    case 'empty':
      return faultIn(action.reason, instance);
    case 'remove':
      return FAULTS.surplus;
    case 'build':
      return instance?.exists === true ? 'a part of it is missing' : 'the slot is empty';
    case 'return':
      return 'it is ready, clean and current';
    case 'nudge':
      return 'there may be room in the quota now';
    case 'relabel':
      return 'it is current, only its labels are older';
    default:
      return unreachable(action);
  }
}

function faultIn(reason: ReplaceReason, instance: Instance | undefined): string {
  if (reason === 'stale' && instance !== undefined) return `${FAULTS.stale}: ${pathsOf(instance.drift)}`;
  if (reason === 'dirty' && instance?.dirt !== undefined) return `${FAULTS.dirty}: ${instance.dirt}`;
  if (reason === 'broken' && instance?.trouble !== undefined)
    return `${FAULTS.broken}: ${instance.trouble.message}`;
  return FAULTS[reason];
}

const PATHS_SHOWN = 3;

/** The first few paths, and how many more there are. */
function pathsOf(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).join(', ');
  return paths.length > PATHS_SHOWN ? `${shown} and ${paths.length - PATHS_SHOWN} more` : shown;
}

/** What an action may cost, in words. */
export function riskOf(action: Action, ready: number): string {
  switch (action.kind) {
    case 'discard':
      return 'none: nobody can be handed it';
    case 'touch':
    case 'relabel':
      return 'none: metadata only';
    case 'withdraw':
      return `one fewer to hand out for a while; ${ready} are ready now. A claim that comes first wins`;
    case 'remove':
    case 'empty':
      return 'its pod ends; it is withdrawn and nobody holds it, and each delete is void if that changed';
    case 'build':
      return 'uses quota and room on the nodes';
    case 'return':
      return 'none: the next user may get it';
    case 'nudge':
      return 'none: one annotation on its Deployment';
    default:
      return unreachable(action);
  }
}

/** Why a slot that needs work is held back. */
export function heldIn(reason: string, policy: Policy): string {
  switch (reason) {
    case 'budget':
      return `as many are away as may be (maxUnavailable ${policy.maxUnavailable})`;
    case 'quiet':
      return 'a user is on the way and may be handed it';
    case 'announced':
      return 'it is handed out next: written down first, withdrawn right after';
    case 'paused':
      return 'the pool is paused: everwarm resume';
    case 'refused':
      return 'the API refused; it is tried again later';
    case 'batch':
      return 'the slots before it are still being rebuilt (10 s at most)';
    case 'another pass':
      return 'another pass has just withdrawn it and goes on with it';
    case 'too many instances':
      return 'there are as many instances as are wanted';
    case 'settling':
    case 'missing':
    case 'dirty':
    case 'quota':
      return waitIn(reason);
    default:
      return reason;
  }
}

/** What is waited for. */
export function waitIn(cause: WaitCause): string {
  switch (cause) {
    case 'settling':
      return 'the platform operator has the first word for 15 s after a change or its start';
    case 'missing':
      return 'the platform operator may fill it within 10 s';
    case 'dirty':
      return 'the platform operator may clean it within 10 s';
    case 'quota':
      return 'room in the quota';
    case 'unschedulable':
      return 'room on a node';
    case 'imagePull':
      return 'an image that can be pulled';
    case 'admission':
      return 'admission: the API denied the request';
    case 'crash':
      return 'its container crashes; it is replaced after the back-off';
    case 'deadline':
      return 'it takes too long to get ready; it is replaced after the back-off';
    case 'forbidden':
      return 'a permission that Everwarm lacks';
    case 'invalid':
      return 'the API calls what is rendered invalid';
    default:
      return unreachable(cause);
  }
}
