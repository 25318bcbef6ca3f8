import type { WatchedKind } from '../forwarder/main.ts';

/** No kind may be without a byte, a bookmark or a list for longer: a dead watch is found and listed anew before. */
const SILENCE_MAX_MS = 240_000;

/** Which kinds have been silent for too long, in one line; `undefined` when none. */
export function silentKinds(
  kinds: readonly WatchedKind[],
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): string | undefined {
  const silent = kinds.filter(({ lastSeenAt }) => now - (lastSeenAt ?? startedAt) > SILENCE_MAX_MS);
  if (silent.length === 0) return undefined;
  const names = silent.map(({ namespace, kind }) => `${namespace}/${kind}`);
  return `nothing was heard for ${SILENCE_MAX_MS / 1_000} s of ${names.join(', ')}`;
}
