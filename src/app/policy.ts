import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { KubeApi, Outcome } from '../kube/api.ts';
import { REFRESH_ANNOTATION, RELEASE_ANNOTATION, releaseMark, WARM_POOLS } from '../platform/warm-pool.ts';
import { formatKey, type PoolKey } from '../pool/key.ts';
import { timestamp } from '../pool/status.ts';
import type { Release } from '../pool/types.ts';
import type { PoolLook } from './look.ts';

/** Stops or lets begin new replacements of a pool. Rejects with TerminalError when the pool has no WarmPool. */
export function setPaused(api: KubeApi, key: PoolKey, paused: boolean): Promise<void> {
  return writePolicy(api, key, { spec: { paused } });
}

/** Begins the end of Everwarm's work on a pool: what is begun is finished, nothing else is done any more. */
export function setObserve(api: KubeApi, key: PoolKey): Promise<void> {
  return writePolicy(api, key, { spec: { mode: 'observe' } });
}

/** Asks for new instances although the old ones are current: of one slot, or of the whole pool. */
export function askForRefresh(
  api: KubeApi,
  key: PoolKey,
  { slot, clock }: { readonly slot?: string; readonly clock: Clock },
): Promise<void> {
  const annotation = slot === undefined ? REFRESH_ANNOTATION : `${REFRESH_ANNOTATION}-${slot}`;
  return writePolicy(api, key, { metadata: { annotations: { [annotation]: timestamp(clock.now()) } } });
}

/** Begins a release, or calls it off. What it begins ends by itself when its time is over. */
export function setRelease(api: KubeApi, key: PoolKey, release: Release | undefined): Promise<void> {
  const mark = release === undefined ? null : releaseMark(release);
  return writePolicy(api, key, { metadata: { annotations: { [RELEASE_ANNOTATION]: mark } } });
}

/** Nothing of the pool is withdrawn any more, and nothing will be. */
export function hasLeft({ observation, plan }: Pick<PoolLook, 'observation' | 'plan'>): boolean {
  return observation.policy.mode === 'observe' && !plan.leaving;
}

async function writePolicy(
  api: KubeApi,
  key: PoolKey,
  patch: Readonly<Record<string, unknown>>,
): Promise<void> {
  const outcome: Outcome<unknown> = await api.patch(
    WARM_POOLS,
    { namespace: key.namespace, name: key.name },
    { type: 'merge', patch },
  );
  if (outcome.kind === 'ok') return;
  const pool = formatKey(key);
  if (outcome.kind === 'notFound') {
    throw new TerminalError(`${pool} has no WarmPool: Everwarm has written nothing there yet`);
  }
  throw new TerminalError(`${pool}: the WarmPool cannot be changed: ${outcome.kind}, ${outcome.message}`);
}
