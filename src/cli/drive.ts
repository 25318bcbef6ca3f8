import type { OpenCluster } from '../app/cluster.ts';
import type { PoolLook } from '../app/look.ts';
import { runPass } from '../app/passes.ts';
import type { Tell } from '../app/story.ts';
import type { Cli } from './cli.ts';

interface Drive {
  /** The pools that are not yet as they should be. */
  readonly open: () => Promise<readonly PoolLook[]>;
  readonly tell: Tell;
  /** Told of every look, before the next one. */
  readonly seen?: (open: readonly PoolLook[]) => void;
  /** Something of the world is waited for: then nothing that stands still says that nobody works. */
  readonly mayRest?: (open: readonly PoolLook[]) => boolean;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1_000;
/** Longer than any pass keeps still. */
const UNMOVED_MS = 6_000;

/**
 * Waits until nothing is open any more; false when asked to end before. An Everwarm that runs does the work: where nothing
 * moves for a while there is none, and the passes run here.
 */
export async function drive(cli: Cli, cluster: OpenCluster, drive: Drive): Promise<boolean> {
  const { clock, random } = cli;
  const { open: lookForOpen, tell, signal, seen = () => {}, mayRest = () => false } = drive;
  let stood = '';
  let movedAt = clock.now();
  while (!signal.aborted) {
    const open = await lookForOpen();
    if (open.length === 0) return true;
    seen(open);
    if (writesOf(open) !== stood || mayRest(open)) movedAt = clock.now();
    stood = writesOf(open);
    if (clock.now() - movedAt >= UNMOVED_MS) {
      for (const look of open) await runPass(cluster, look.observation.key, { clock, random, tell });
      // What was done here is no sign of anybody else.
      stood = writesOf(await lookForOpen());
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
  return false;
}

/** Moves whenever an Everwarm writes, and with nothing that the cluster does by itself. */
function writesOf(looks: readonly PoolLook[]): string {
  return JSON.stringify(
    looks.map(({ observation }) => [
      observation.warmPool?.resourceVersion,
      observation.observed.instances.map(({ anchor }) => anchor?.resourceVersion),
    ]),
  );
}
