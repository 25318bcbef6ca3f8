import type { Clock, Random } from '../clock.ts';
import { reconcile } from '../controller/reconcile.ts';
import { TerminalError } from '../errors.ts';
import { UnreadableError } from '../platform/reading.ts';
import type { PoolKey } from '../pool/key.ts';
import type { ServedCluster } from './look.ts';
import type { Tell } from './story.ts';

export interface PassDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly tell: Tell;
}

/** One pass over one pool, in this process and now; safe beside every other one. Answers when the next look is due. */
export async function runPass(
  cluster: ServedCluster,
  key: PoolKey,
  { clock, random, tell }: PassDeps,
): Promise<{ readonly requeueAfterMs?: number }> {
  const platform = cluster.platforms.find(({ name }) => name === key.platform);
  if (platform === undefined) throw new TerminalError(`there is no platform ${key.platform}`);
  try {
    return await reconcile({ api: cluster.api, platform, clock, random, report: tell }, key);
  } catch (cause) {
    if (!(cause instanceof UnreadableError)) throw cause;
    throw new TerminalError(`the cluster cannot be read: ${cause.message}`, { cause });
  }
}
