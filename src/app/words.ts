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

/** What a claimed instance is given, by what it lacks. */
const CARES: Readonly<Record<string, string>> = {
  hold: 'hold it: once its user has left it is handed out only when it is fresh',
  unhold: 'hold it no longer',
  protection: "protect it: its objects follow its user's Session, whatever becomes of the definition",
  label: 'renew its labels, so that its release leaves it alone',
  mark: 'note what its user used',
  'allow-list': 'let its user in again (allow-list)',
  'session labels': "put its user's labels back",
  'session owner': "make it wholly its user's",
  object: 'make what is missing of it again',
  route: "lead its user's route to it again",
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
    case 'prompt':
      return action.remedy;
    case 'relabel':
      return 'renew its labels';
    case 'heal':
      return action.lacks.map((lack) => CARES[lack] ?? `give it what it lacks: ${lack}`).join('; ');
    case 'unhold':
      return 'hold it no longer: it may be handed out when its user leaves';
    case 'pin':
      return 'keep it as it is, out of reach of the change: not handed out until that is over';
    case 'unpin':
      return 'hand it out again as it is';
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
    case 'prompt':
      return instance?.ailment?.message ?? 'something is wrong with it';
    case 'relabel':
      return 'it is current, only its labels are older';
    case 'heal':
      return 'a user holds it';
    case 'unhold':
      return 'a claimed instance is not to be held here';
    case 'pin':
      return 'a release is being prepared: everwarm release';
    case 'unpin':
      return 'no release is under way any more';
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
    case 'unhold':
      return 'none: metadata only';
    case 'heal':
      return 'a user is at work there: metadata or a missing object, nothing is taken away';
    case 'pin':
      return 'users who come before the change is over wait for a cold start';
    case 'unpin':
      return 'none: the next user may get it, though it may be stale';
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
    case 'prompt':
      return action.takes
        ? 'it is away until the platform has made it anew; who is in it stays until done'
        : 'none: nobody can lose anything by it';
    default:
      return unreachable(action);
  }
}

/** How much an action may cost, in one of few words. */
export type RiskLevel = 'none' | 'room' | 'fewerWarm' | 'inUse';

/** Each word for people, and what it means. */
export const RISKS: Readonly<Record<RiskLevel, readonly [word: string, meaning: string]>> = {
  none: ['none', 'metadata only, or something that nobody can be handed'],
  room: ['room', 'takes quota and room on the nodes'],
  fewerWarm: [
    'fewer warm',
    'one instance fewer to hand out until its pod is ready; when none is left, a user waits for a cold start',
  ],
  inUse: ['in use', 'writes beside a user at work: metadata or a missing object; nothing is taken away'],
};

/** What an action may cost, as one of those words. */
export function riskLevelOf(action: Action): RiskLevel {
  switch (action.kind) {
    case 'withdraw':
      return action.reason === 'surplus' ? 'none' : 'fewerWarm';
    case 'pin':
      return 'fewerWarm';
    case 'prompt':
      return action.takes ? 'fewerWarm' : 'none';
    case 'heal':
      return 'inUse';
    case 'build':
      return 'room';
    default:
      return 'none';
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
    case 'release':
      return 'a release is being prepared: it is kept as it is until the definition has changed';
    case 'given up':
      return 'every remedy was tried, and none helped: a person must look';
    case 'another slot':
      return 'another slot is first';
    case 'too many instances':
      return 'there are as many instances as are wanted';
    case 'settling':
    case 'missing':
    case 'dirty':
    case 'ailing':
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
    case 'ailing':
      return 'the platform operator is given time to mend it';
    case 'quota':
      return 'room in the quota';
    case 'unschedulable':
      return 'room on a node';
    case 'storage':
      return 'its volume: not bound yet, or not gone yet';
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
