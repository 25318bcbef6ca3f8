import { type Desired, type Instance, KEPT, type Policy, type Release } from './types.ts';

/** The release that is being prepared, if the pool is to be kept as it is now. One that is over is as good as none. */
export function releaseIn(
  { mode, paused, release }: Policy,
  { sourceCounter }: Pick<Desired, 'sourceCounter'>,
  now: number,
): Release | undefined {
  const isOn = release?.counter === sourceCounter && now < release.until && mode === 'guard' && !paused;
  return isOn ? release : undefined;
}

/** Withdrawn to be kept, not to be replaced. */
export function isKept({ withdrawn, claimedBy }: Instance): boolean {
  return withdrawn?.building === KEPT && claimedBy === undefined;
}

/** Nothing that the operator does to what it alone owns can reach it. */
export function isOutOfReach(instance: Instance): boolean {
  return isKept(instance) && instance.pinned === 'all';
}
