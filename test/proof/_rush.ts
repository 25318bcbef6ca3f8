import { type Random, seededRandom } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { SESSIONS } from '../../src/platform/theia-cloud/resources.ts';
import { measuredPace } from '../../src/simulator/world/operator-hands.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { type Fate, fateOf } from '../scenarios/_fates.ts';
import { NEW, OLD } from '../scenarios/_story.ts';
import { POOL, podsOf } from '../scenarios/faults/_fault.ts';

const INSTANCES = 10;
/** Users come two a second in the mean, by chance sometimes several at once. */
const EVERY_MS = 500;
/** After a start of the operator Everwarm leaves free instances alone for this long. */
const SETTLING_MS = 14_000;
/**
 * The shortest stay of a user who was served. A pass may be waiting out a withdrawal for 2 s before it gets to hold the next
 * instance: who leaves sooner is released as the operator alone does it.
 */
const STAY_MS = 4_000;
/** From a withdrawal to the second look. */
const GRACE_MS = 2_000;
/** How often everything is looked at. */
const LOOK_MS = 200;
/** The operator writes its last patches a moment after it has said that it is done. */
const AFTER_HANDLED_MS = 300;

/** What became of the users of one roll-out. */
export interface Rush {
  readonly world: World;
  readonly came: number;
  /** How many got a warm instance, and one that was made for them. */
  readonly warm: number;
  readonly cold: number;
  /** What was wrong for somebody when they left, one sentence a user. */
  readonly hurt: readonly string[];
  /** Sessions that ended in ERROR while Everwarm wrote on an instance that could be handed out. */
  readonly failedByEverwarm: readonly string[];
  /** Sessions that the operator failed by itself. */
  readonly failedByOperator: number;
  /** Users who got a pod that another one had used. */
  readonly onUsedPods: number;
  /** Users who got the image of before the release. */
  readonly onOldImage: number;
  /** Claims that landed between a withdrawal and the second look at it, on any instance. */
  readonly besideFence: number;
  /** Of those, on the very instance that had been withdrawn. */
  readonly overFence: number;
}

/**
 * Ten instances, a release while the operator is down, then a minute in which users come at two a second and stay for some
 * seconds; Sessions end while the operator is down, before and in the middle. Ends with nobody there.
 */
export async function rush(seed: number, who: 'nobody' | 'everwarm'): Promise<Rush> {
  const random = seededRandom(seed);
  const slowness = 1 + Math.floor(random() * 4);
  // Between looking for a free instance and taking it: up to a second, half of what Everwarm waits for.
  const dawdling = 1 + Math.floor(random() * 16);
  const world = await createWorld({
    seed,
    // From reading the Sessions to the withdrawal must pass less than an operator needs to see a new one.
    latencyMs: 2 + Math.floor(random() * 7),
    operator: {
      continueOnException: true,
      pace: (step, chance) => (step === 'claim' ? dawdling : slowness) * measuredPace(step, chance),
    },
  });
  const tally = countFates(world);
  await world.startOperator();
  world.createPool(POOL, { minInstances: INSTANCES, maxInstances: 100, image: OLD });
  await world.run(30_000);
  if (who === 'everwarm') world.startEverwarm();
  await world.run(5_000);

  const users = crowd(world, random, tally.look);
  await users.come(3);
  await whileDown(world, tally.look, () => {
    users.leave(1);
    world.changePool(POOL, { image: NEW });
  });
  const releasedAt = world.clock.now();
  // For so long the operator has the first word; then the roll-out begins, and the users come into it.
  await world.run(SETTLING_MS);
  await users.come(40);
  await whileDown(world, tally.look, () => users.leave(3));
  await users.come(20);
  users.leave(Number.POSITIVE_INFINITY);
  await world.run(60_000);
  return { world, ...tally.sum(releasedAt) };
}

/** The operator ends when nobody waits for it, and comes back after a while. */
async function whileDown(world: World, look: () => void, what: () => void): Promise<void> {
  await world.runUntil(() => {
    look();
    return sessionsOf(world).every((session) => fateOf(world, session.metadata.name).kind !== 'waiting');
  });
  await world.run(STAY_MS);
  await world.stopOperator();
  await world.run(1_000);
  what();
  await world.run(12_000);
  await world.startOperator();
  await world.run(1_000);
}

function crowd(world: World, random: Random, look: () => void) {
  /** When they go; not known until they are served. */
  const goingAt = new Map<string, number | undefined>();
  const leave = (name: string): void => {
    goingAt.delete(name);
    world.release(name);
  };
  const goOn = (): void => {
    for (const [name, at] of goingAt) {
      if (at === undefined && fateOf(world, name).kind !== 'waiting')
        goingAt.set(name, world.clock.now() + STAY_MS + 6_000 * random());
      if (at !== undefined && at <= world.clock.now()) leave(name);
    }
  };
  return {
    leave: (count: number): void => [...goingAt.keys()].slice(0, count).forEach(leave),
    come: async (count: number): Promise<void> => {
      for (let came = 0; came < count; came += 1) {
        goingAt.set(world.claim(POOL), undefined);
        const gapMs = Math.round(-EVERY_MS * Math.log(1 - random()));
        for (let left = gapMs; left > 0; left -= LOOK_MS) {
          await world.run(Math.min(left, LOOK_MS));
          look();
          goOn();
        }
      }
    },
  };
}

interface Fare {
  readonly kind: Fate['kind'];
  readonly what?: string;
  readonly image?: string | undefined;
  readonly at: number;
}

function countFates(world: World) {
  const fares = new Map<string, Fare>();
  const answered = new Map<string, number>();
  const usedBy = new Map<string, string>();
  const disgusted = new Set<string>();
  const services = watchServices(world);

  const inspectPods = (name: string, slot: number): void => {
    for (const pod of podsOf(world, slot)) {
      if ((usedBy.get(pod) ?? name) !== name) disgusted.add(name);
      usedBy.set(pod, name);
    }
  };
  const lookAt = (name: string): void => {
    const fate = fateOf(world, name);
    if (fate.kind === 'waiting') return;
    const at = answered.get(name) ?? world.clock.now();
    answered.set(name, at);
    if (world.clock.now() - at < AFTER_HANDLED_MS) return;
    if (fate.kind === 'warm') inspectPods(name, fate.slot);
    const image =
      fares.get(name)?.image ?? (fate.kind === 'warm' ? world.slot(POOL, fate.slot).image : undefined);
    fares.set(name, { ...fate, image, at });
  };
  return {
    look: (): void => {
      for (const { metadata } of sessionsOf(world)) lookAt(metadata.name);
    },
    sum: (releasedAt: number): Omit<Rush, 'world'> => {
      const all = [...fares];
      const count = (kind: Fare['kind']): number => all.filter(([, fare]) => fare.kind === kind).length;
      const failed = all.filter(([, { what }]) => what?.startsWith('ERROR') === true);
      const byEverwarm = failed.filter(([name, { at }]) => services.disturbed(name, at));
      const sentence = ([name, { what }]: readonly [string, Fare]): string => `${name}: ${what}`;
      return {
        came: fares.size,
        warm: count('warm'),
        cold: count('cold'),
        hurt: all.filter((fare) => fare[1].kind === 'hurt' && !failed.includes(fare)).map(sentence),
        failedByEverwarm: byEverwarm.map(sentence),
        failedByOperator: failed.length - byEverwarm.length,
        onUsedPods: disgusted.size,
        onOldImage: all.filter(([, { image, at }]) => image === OLD && at > releasedAt).length,
        ...services.counts(),
      };
    },
  };
}

/** Who writes on what the operator hands out, and when. */
function watchServices({ cluster, clock }: World) {
  const everwarmWrote: number[] = [];
  let fencedAt = Number.NEGATIVE_INFINITY;
  let besideFence = 0;
  let overFence = 0;
  const isOwned = (service: KubeObject | undefined, kind: string): boolean =>
    service?.metadata.ownerReferences?.some((owner) => owner.kind === kind) === true;
  const seeAnchor = (object: KubeObject, previous: KubeObject | undefined): void => {
    const wasFenced = isOwned(previous, 'WarmPool');
    if (isOwned(object, 'WarmPool') && !wasFenced) fencedAt = clock.now();
    if (!isOwned(object, 'Session')) return;
    if (clock.now() <= fencedAt + GRACE_MS) besideFence += 1;
    if (wasFenced) overFence += 1;
  };
  cluster.store.onCommit(({ object, previous, request }) => {
    if (object.kind !== 'Service' || isOwned(previous, 'Session')) return;
    if (request.user.startsWith('everwarm')) everwarmWrote.push(clock.now());
    if (!object.metadata.name.endsWith('-int')) seeAnchor(object, previous);
  });
  const came = new Map<string, number>();
  cluster.store.onCommit(({ object, type }) => {
    if (object.kind === 'Session' && type === 'ADDED') came.set(object.metadata.name, clock.now());
  });
  return {
    counts: () => ({ besideFence, overFence }),
    /** Any write in the time in which the operator looked for an instance may be the one that it stumbled over. */
    disturbed: (name: string, at: number): boolean =>
      everwarmWrote.some((wroteAt) => wroteAt >= (came.get(name) ?? 0) && wroteAt <= at),
  };
}

const sessionsOf = ({ cluster }: World): readonly KubeObject[] => cluster.admin.list(SESSIONS);
