import { readFileSync } from 'node:fs';
import { systemClock as clock, seededRandom } from '../../src/clock.ts';
import { type Place, type Scene, startScene, VICTIMS, type Victim, within } from './_scene.ts';
import { AWAY_MAX, INSTANCES, NEW } from './_words.ts';

/** A process, and the write of Everwarm after which it ends. */
export interface Cut {
  readonly victim: Victim;
  readonly at: number;
}

/** What a run came to. */
export interface Healed {
  readonly cut: Cut | undefined;
  /** What was wrong with it in the end, in words. */
  readonly complaints: readonly string[];
  readonly writes: number;
  readonly seconds: number;
  readonly portrait: readonly string[];
  readonly calls: Scene['aws']['calls'];
}

/** A heal that nobody disturbs takes at least as many writes (`undisturbed` says so when it does not). */
const CUT_AT_MAX = 28;
const TICK_MS = 3_000;
/** Far more than a heal takes: what is not whole by then does not become so. */
const LIMIT_MS = 180_000;
/** Too little time for a pass. */
const SHORT_MS = 10_000;

interface Answer {
  readonly pools: readonly { readonly enqueued?: boolean }[];
}

/** What a seed stands for. Five in a row end each process once. */
export function cutOf(seed: number): Cut {
  const victim = VICTIMS[seed % VICTIMS.length] ?? 'forwarder';
  return { victim, at: 1 + Math.floor(seededRandom(seed)() * CUT_AT_MAX) };
}

/** Incident 2, and one process that ends in the middle of its healing. */
export function disturbed(place: Place, cut: Cut): Promise<Healed> {
  return onScene(place, 0, async (scene) => {
    const complaints = await heal(scene, cut);
    return { ...(await told(scene, cut)), complaints: [...complaints, ...(await restless(scene))] };
  });
}

/**
 * Incident 2, and no process ends; but every third notice is lost on its way. A person helps from the console with the saved
 * sample events, before and after.
 */
export function undisturbed(place: Place): Promise<Healed> {
  return onScene(place, 3, async (scene) => {
    const complaints = await heal(scene, undefined);
    const { writes } = await scene.state();
    if (writes < CUT_AT_MAX) complaints.push(`healing took ${writes} writes: not every seed ends a process`);
    complaints.push(...(await byHand(scene)), ...(await lossSeen(scene)), ...(await restless(scene)));
    return { ...(await told(scene, undefined)), complaints };
  });
}

async function onScene(
  place: Place,
  losesEvery: number,
  story: (scene: Scene) => Promise<Omit<Healed, 'seconds'>>,
): Promise<Healed> {
  const beganAt = clock.now();
  const scene = await startScene(place, losesEvery);
  try {
    const came = await story(scene);
    return { ...came, seconds: (clock.now() - beganAt) / 1_000 };
  } finally {
    await scene.stop();
  }
}

async function told(scene: Scene, cut: Cut | undefined) {
  const { writes, portrait } = await scene.state();
  return { cut, writes, portrait, calls: scene.aws.calls };
}

/** The pool stands and a user has an instance; it is released to while no operator runs, and the next one does nothing. */
async function heal(scene: Scene, cut: Cut | undefined): Promise<string[]> {
  await scene.ask({ ask: 'fill' });
  const stopSchedule = schedule(scene);
  const isKnown = await within(LIMIT_MS, async () => (await scene.state()).isKnown);
  if (!isKnown) return ['nobody looked at the pool'];
  await scene.ask({ ask: 'arm', at: cut?.at ?? 0, pid: cut === undefined ? 0 : await scene.pid(cut.victim) });
  await scene.ask({ ask: 'release', image: NEW });
  // Where nothing ends, a person is impatient: the pass is told to come again later, and says so to the queue for later.
  if (cut === undefined) await scene.invoke('invoke', sample('invoke-reconcile-one'));
  const isDead = () => cut === undefined || scene.deaths(cut.victim) > 0;
  const isWhole = await within(LIMIT_MS, async () => (await scene.state()).flaws.length === 0 && isDead());
  await stopSchedule();
  const { flaws, harm, fewest, writes } = await scene.state();
  const dead = await scene.aws.dead();
  return [
    ...(isDead() ? [] : [`there were only ${writes} writes`]),
    ...(isWhole ? [] : [`not whole: ${flaws.join('; ')}`]),
    ...harm,
    ...(fewest >= INSTANCES - 1 - AWAY_MAX ? [] : [`only ${fewest} instances could be handed out`]),
    ...(dead === 0 ? [] : [`${dead} messages went to the dead ones`]),
  ];
}

/** What the scheduler does, far faster than in the cloud. The returned function ends it. */
function schedule(scene: Scene): () => Promise<void> {
  const stopping = new AbortController();
  const ticking = (async () => {
    for (let tick = 1; !stopping.signal.aborted; tick += 1) {
      // A tick that finds everything away is lost; the next one is not.
      await scene.invoke('resync', { time: `tick ${tick}` }).catch(() => undefined);
      await clock.sleep(TICK_MS, stopping.signal);
    }
  })();
  return async () => {
    stopping.abort();
    await ticking;
  };
}

/** Once the pool is whole, a look at everything finds nothing to do, and one more pass writes nothing. */
async function restless(scene: Scene): Promise<readonly string[]> {
  const isQuiet = await within(LIMIT_MS, async () => {
    const { due, failed } = (await scene.invoke('resync', {})) as { due: number; failed: readonly string[] };
    return due === 0 && failed.length === 0;
  });
  const before = (await scene.state()).writes;
  const answer = await scene.invoke('invoke', sample('invoke-reconcile-one'));
  const { writes } = await scene.state();
  return [
    ...(isQuiet ? [] : ['the schedule still finds something to do']),
    ...(writes === before ? [] : [`a second pass wrote ${writes - before} times: ${JSON.stringify(answer)}`]),
  ];
}

function sample(name: string): unknown {
  return JSON.parse(readFileSync(`infra/aws/samples/${name}.json`, 'utf8'));
}

/**
 * A person looks, asks for a pass by the bus, and, while nothing gets to the reconcile function, mends an instance with the
 * console's Test button.
 */
async function byHand(scene: Scene): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (const name of ['invoke-plan-one', 'invoke-explain-one', 'invoke-status-all', 'invoke-plan-all']) {
    const { pools } = (await scene.invoke('invoke', sample(name))) as Answer;
    if (pools.length !== 1) complaints.push(`${name} answers ${pools.length} pools`);
  }
  await scene.invoke('ingest', sample('ingest-request'));
  scene.throttle(true);
  await scene.ask({ ask: 'break' });
  const isWhole = await within(LIMIT_MS, async () => {
    await scene.invoke('invoke', sample('invoke-reconcile-one'));
    return (await scene.state()).flaws.length === 0;
  });
  if (!isWhole) complaints.push('nobody could mend it by hand');
  const { pools } = (await scene.invoke('invoke', sample('invoke-reconcile-all'), SHORT_MS)) as Answer;
  if (pools[0]?.enqueued !== true) complaints.push('without time for a pass it is not enqueued');
  scene.throttle(false);
  return complaints;
}

/** The receiver's metrics say how many notices were sent and how many came; between them are those that were lost. */
async function lossSeen(scene: Scene): Promise<readonly string[]> {
  let seen = '';
  const isSeen = await within(LIMIT_MS, async () => {
    const output = await scene.output('webhook');
    const [sent, accepted] = [sum(output, 'NoticesSent'), sum(output, 'NoticesAccepted')];
    seen = `${sent} sent, ${accepted} accepted, ${scene.url.lost()} lost`;
    return scene.url.lost() > 0 && accepted > 0 && sent - accepted === scene.url.lost();
  });
  return isSeen ? [] : [`the metrics do not say what was lost: ${seen}`];
}

function sum(output: string, metric: string): number {
  const values = output.matchAll(new RegExp(`"${metric}":(\\d+)`, 'g'));
  return [...values].reduce((total, [, value]) => total + Number(value), 0);
}
