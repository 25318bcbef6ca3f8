import { TerminalError } from '../errors.ts';
import type { KubeApi, KubeObject } from '../kube/api.ts';
import { START_STRATEGY_ANNOTATION } from '../platform/theia-cloud/labels.ts';
import { APP_DEFINITION_VERSIONS } from '../platform/theia-cloud/resources.ts';
import { maxUnavailable } from '../pool/budget.ts';
import { formatKey } from '../pool/key.ts';
import { isKept, isOutOfReach, releaseIn } from '../pool/release.ts';
import { timestamp } from '../pool/status.ts';
import type { Instance, Release } from '../pool/types.ts';
import { textAt } from './_objects.ts';
import type { PoolLook } from './look.ts';
import { setRelease } from './policy.ts';
import { countsNow } from './pool-view.ts';

/** What a release of one pool will mean for its users, before anything is done. */
export interface Forecast {
  readonly pool: string;
  /** Unclaimed instances: kept out of the operator's reach, all of them. */
  readonly unclaimed: number;
  readonly ready: number;
  readonly claimed: number;
  /** How many are replaced at a time once the change is through. */
  readonly atOnce: number;
  /** Users who came in the last quarter of an hour and are still there: a guess at how many come meanwhile. */
  readonly arrivals: number;
  readonly operatorRuns: boolean;
}

/** How far a release has got, as the cluster tells. */
export interface Progress {
  /** `over`: it was called off, or its time is over, and the definition has not changed. */
  readonly phase: 'preparing' | 'prepared' | 'changed' | 'handedOut' | 'over';
  readonly unclaimed: number;
  readonly kept: number;
  /** Users who got a cold start since the release began. */
  readonly coldStarts: number;
  /** The image that the definition names now. */
  readonly image: string;
  /** When what is kept is handed out again although nothing has changed, RFC 3339. */
  readonly until: string;
}

/** What was asked for, and since when (epoch ms of the cluster). */
interface Asked extends Release {
  readonly since: number;
}

const ARRIVALS_MS = 15 * 60_000;

/** Asks for a release of the definition as it stands. What it begins ends by itself after `withinMs`. */
export async function beginRelease(api: KubeApi, look: PoolLook, withinMs: number): Promise<Asked> {
  const asked = askedFor(look, withinMs);
  await setRelease(api, look.observation.key, asked);
  return asked;
}

/** The same, not asked for yet. */
export function askedFor({ observation: { desired, now } }: PoolLook, withinMs: number): Asked {
  return { counter: desired.sourceCounter, until: now + withinMs, since: now };
}

/** Calls off whatever release there is, or wipes off one that is over. */
export function endRelease(api: KubeApi, { observation: { key } }: PoolLook): Promise<void> {
  return setRelease(api, key, undefined);
}

/** Something is still kept for a release. */
export function isKeptFor({ observation }: PoolLook): boolean {
  return observation.observed.instances.some((one) => isKept(one) || one.pinned !== undefined);
}

/** Why no release of this pool can be prepared; `undefined` when it can. */
export function releaseProblem({ observation }: PoolLook): string | undefined {
  const { policy, warmPool, desired } = observation;
  if (policy.mode !== 'guard' || warmPool === undefined)
    return 'it is not guarded, so nothing may be written: spec.mode of its WarmPool must be guard';
  if (policy.paused) return 'it is paused: everwarm resume';
  if (desired.problem !== undefined) return `${desired.problem.reason}, ${desired.problem.message}`;
  return undefined;
}

export function forecast({ observation, objects }: PoolLook): Forecast {
  const { key, policy, observed, now } = observation;
  const counts = countsNow(observation);
  const unclaimed = unclaimedIn(observation.observed.instances).length;
  return {
    pool: formatKey(key),
    unclaimed,
    ready: counts.ready,
    claimed: counts.claimed,
    atOnce: maxUnavailable(policy, unclaimed),
    arrivals: arrivalsSince(objects, key.name, now - ARRIVALS_MS).length,
    operatorRuns: observed.operator.alive,
  };
}

/** Where the release stands that was asked for. */
export function progressOf(look: PoolLook, asked: Asked): Progress {
  const { observation, objects } = look;
  const { key, policy, desired, observed, now, source } = observation;
  const unclaimed = unclaimedIn(observed.instances);
  const definition = objects.find(({ metadata }) => metadata.uid === source.uid);
  const hasChanged = desired.sourceCounter !== asked.counter;
  const isOn = releaseIn(policy, desired, now) !== undefined;
  const cold = arrivalsSince(objects, key.name, asked.since).filter(
    ({ metadata }) => metadata.annotations?.[START_STRATEGY_ANNOTATION] === 'lazy-fallback',
  );
  const after = isKeptFor(look) ? 'changed' : 'handedOut';
  const before = isReady(look) ? 'prepared' : 'preparing';
  return {
    phase: hasChanged ? after : isOn ? before : 'over',
    unclaimed: unclaimed.length,
    kept: unclaimed.filter(isOutOfReach).length,
    coldStarts: cold.length,
    image: textAt(definition, 'spec', 'image') ?? '',
    until: timestamp(asked.until),
  };
}

/** Nothing is left that the change could hurt: all that is free is kept, and every user's instance is protected. */
function isReady({ observation, plan }: PoolLook): boolean {
  const { instances } = observation.observed;
  const isFree = (one: Instance) => one.claimedBy === undefined && one.claimable;
  const isBare = (one: Instance) => one.needs.some(({ lacks }) => lacks.includes('protection'));
  const isUnderWay = plan.actions.some(({ kind }) => kind === 'pin');
  return !isUnderWay && !instances.some(isFree) && !instances.some(isBare);
}

function unclaimedIn(instances: readonly Instance[]): readonly Instance[] {
  return instances.filter(({ target, claimedBy }) => target && claimedBy === undefined);
}

function arrivalsSince(objects: readonly KubeObject[], pool: string, since: number): readonly KubeObject[] {
  return objects.filter(
    (object) =>
      object.kind === 'Session' &&
      textAt(object, 'spec', 'appDefinition') === pool &&
      Date.parse(object.metadata.creationTimestamp ?? '') >= since,
  );
}

const TRIES_MAX = 5;

/**
 * Sets the image in the pool's definition, unless anybody changed that since the release was asked for. Rejects with
 * TerminalError when it cannot be done.
 */
export async function setImage(
  api: KubeApi,
  { observation: { key, source } }: PoolLook,
  { asked, image }: { readonly asked: Asked; readonly image: string },
): Promise<void> {
  const pool = formatKey(key);
  const resource = APP_DEFINITION_VERSIONS.find(
    ({ group, version }) => `${group}/${version}` === source.apiVersion,
  );
  if (resource === undefined) throw new TerminalError(`${pool}: ${source.apiVersion} is not known`);
  const place = { namespace: key.namespace, name: key.name };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const read = await api.get(resource, place);
    if (read.kind !== 'ok') throw new TerminalError(`${pool}: ${read.kind}, ${read.message}`);
    const { generation, resourceVersion, uid } = read.value.metadata;
    if (uid !== source.uid || generation !== asked.counter)
      throw new TerminalError(`${pool}: somebody else has changed its definition meanwhile`);
    const outcome = await api.patch(resource, place, {
      type: 'json',
      patch: [
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'replace', path: '/spec/image', value: image },
      ],
    });
    if (outcome.kind === 'ok') return;
    const now = await api.get(resource, place);
    const wasFirst = now.kind === 'ok' && now.value.metadata.resourceVersion !== resourceVersion;
    if (!wasFirst)
      throw new TerminalError(`${pool}: the image cannot be set: ${outcome.kind}, ${outcome.message}`);
  }
  throw new TerminalError(`${pool}: its definition is written all the time; the image was not set`);
}
