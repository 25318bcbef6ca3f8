import type { Random } from '../clock.ts';
import { nextDue } from '../embedded/runner.ts';
import type { KubeObject } from '../kube/api.ts';
import { CONFIG_MAPS, DEPLOYMENTS, SERVICES } from '../platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../platform/warm-pool.ts';
import { type Truth, unconverged, type Violation } from '../pool/invariants.ts';
import type { Scene } from './_happenings.ts';
import type { RunningPass } from './_passes.ts';
import type { Watcher } from './watcher.ts';

/** What the end of a run needs: no fault happens any more. */
export interface Closing {
  readonly scene: Scene;
  readonly watcher: Watcher;
  readonly pools: readonly string[];
  readonly begin: (pool: string) => RunningPass;
  readonly passes: () => readonly RunningPass[];
  readonly advance: (ms: number) => Promise<void>;
  readonly note: (text: string) => void;
  readonly isBroken: () => boolean;
}

export interface Closed {
  readonly rounds: number;
  readonly steps: number;
  readonly violations: readonly Violation[];
}

/** Passes after the last fault within which a pool must rest: a batch takes three, and there is one for each slot at most. */
const ROUNDS_MAX = 30;
/** The longest that one look forward waits for the cluster or a back-off. */
const WAIT_MAX_MS = 400_000;

/** Lets what runs end, then time and passes take turns until nothing is left to do; then everything must be as defined. */
export async function close(closing: Closing, random: Random): Promise<Closed> {
  const steps = await finishOrKill(closing, random() < 0.5);
  const rounds = await settle(closing);
  if (closing.isBroken()) return { rounds, steps: steps + rounds, violations: [] };
  const truths = closing.pools.map((pool) => closing.watcher.truth.truth(pool));
  // Whoever waits for room tries again for ever, ever more seldom.
  const waits = truths.some(lacksRoom);
  const violations = [
    ...(rounds >= ROUNDS_MAX && !waits ? [neverRests(rounds)] : []),
    ...truths.flatMap(unconverged),
    ...orphans(closing),
  ];
  if (violations.length > 0) for (const pool of closing.pools) tell(closing, pool);
  else if (!waits) violations.push(...(await secondPass(closing)));
  return { rounds, steps: steps + rounds, violations };
}

/** Passes over all pools, with time between them, until two rounds in a row had nothing to do; how many it took. */
async function settle(closing: Closing): Promise<number> {
  let rounds = 0;
  for (let idle = 0; idle < 2 && rounds < ROUNDS_MAX && !closing.isBroken(); ) {
    await rest(closing);
    const before = closing.watcher.writes();
    const wait = await everyPool(closing);
    rounds += 1;
    const wrote = closing.watcher.writes() > before;
    idle = wrote || wait !== undefined ? 0 : idle + 1;
    if (!wrote && wait !== undefined) await closing.advance(Math.min(wait, WAIT_MAX_MS));
  }
  return rounds;
}

function lacksRoom({ slots }: Truth): boolean {
  return [...slots.values()].some(({ noRoom }) => noRoom);
}

function tell({ note, watcher }: Closing, pool: string): void {
  const { status, spec } = (watcher.truth.object(WARM_POOLS, pool) ?? {}) as {
    status?: unknown;
    spec?: unknown;
  };
  note(
    `in the end ${pool}: ${JSON.stringify({ spec, status, truth: [...watcher.truth.truth(pool).slots.values()] })}`,
  );
}

function neverRests(rounds: number): Violation {
  return { name: 'L1', message: `after ${rounds} passes without any fault there is still something to do` };
}

/** Processes that were frozen or under way end by themselves, or are gone. */
async function finishOrKill({ passes, note, scene, advance }: Closing, kills: boolean): Promise<number> {
  let steps = 0;
  for (const pass of passes()) {
    if (kills) {
      note(`${pass.name} is gone`);
      pass.kill();
    } else steps += await finish(pass, { scene, advance, note });
  }
  return steps;
}

/** Every request of the pass goes through at once. */
async function finish(
  pass: RunningPass,
  { scene, advance, note }: Pick<Closing, 'scene' | 'advance' | 'note'>,
): Promise<number> {
  let steps = 0;
  while (!pass.isOver) {
    const call = pass.take();
    if (call === undefined) await advance(Math.max(1, (scene.clock.nextAt() ?? 0) - scene.clock.now()));
    else {
      note(`${pass.name} ${call.name}`);
      call.commit();
      call.answer();
      await scene.clock.settle();
    }
    steps += 1;
  }
  return steps;
}

/** One pass over each pool; the earliest time at which one of them asks for another look. */
async function everyPool(closing: Closing): Promise<number | undefined> {
  const waits: number[] = [];
  for (const pool of closing.pools) {
    const pass = closing.begin(pool);
    await closing.scene.clock.settle();
    await finish(pass, closing);
    const wait = pass.result?.requeueAfterMs;
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** Until the cluster does nothing by itself any more. */
async function rest({ scene, advance }: Closing): Promise<void> {
  const { clock, cluster } = scene;
  const end = clock.now() + WAIT_MAX_MS;
  await advance(3_000);
  for (;;) {
    const due = nextDue(cluster.actors)?.dueAt();
    if (due === undefined || due > end) return;
    await advance(Math.max(1, due - clock.now()) + 500);
  }
}

/** S10: whoever looks again at a world at rest writes nothing. */
async function secondPass(closing: Closing): Promise<readonly Violation[]> {
  const before = closing.watcher.writes();
  await everyPool(closing);
  const writes = closing.watcher.writes() - before;
  return writes === 0
    ? []
    : [{ name: 'S10', message: `a second pass over a world at rest makes ${writes} writes` }];
}

/** S9: every object of an instance has an owner that lives, or goes. One without any owner is nobody's to delete (P13). */
function orphans({ watcher }: Closing): readonly Violation[] {
  const uids = new Set(
    ['appdefinitions', 'sessions'].flatMap((plural) =>
      [...watcher.truth.objects({ plural }).values()].map(({ metadata }) => metadata.uid),
    ),
  );
  const isOrphan = ({ metadata }: KubeObject) =>
    metadata.name.startsWith('instance-') &&
    metadata.ownerReferences !== undefined &&
    !metadata.ownerReferences.some(({ uid }) => uids.has(uid));
  return [SERVICES, DEPLOYMENTS, CONFIG_MAPS]
    .flatMap((resource) => [...watcher.truth.objects(resource).values()])
    .filter(isOrphan)
    .map(({ kind, metadata }) => ({
      name: 'S9',
      message: `${kind}/${metadata.name} is nobody's (owners ${JSON.stringify(metadata.ownerReferences ?? [])})`,
    }));
}
