import { seededRandom } from '../../../src/clock.ts';
import { SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import type { World } from '../../../src/simulator/world.ts';
import { complaintsOf, type Fault, flawsIn, POOL, podsOf, sessionOf, slotOf } from './_fault.ts';

const LSP = { name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000, mountWorkspace: true };
const IMAGE = 'registry.example.org/ide/java-17';
/** What happens, and how often of a hundred times. */
const HAPPENINGS = { come: 40, leave: 28, ship: 4, scale: 4, upgrade: 4, restart: 8, deletePart: 12 };
type Name = keyof typeof HAPPENINGS;
const DICE = Object.entries(HAPPENINGS).flatMap(([name, weight]) =>
  Array.from({ length: weight }, () => name as Name),
);

export interface Weather {
  readonly seed: number;
  readonly minutes: number;
  readonly sidecars: boolean;
}

/** A pool in use beside an operator that has all its faults. The cast are the users who were served on a used pod. */
export function allAtOnce({ seed, minutes, sidecars }: Weather): Fault<readonly string[]> {
  return {
    title: '',
    faults: [],
    pool: { minInstances: 4, maxInstances: 40, ...(sidecars ? { sidecars: [LSP] } : {}) },
    options: { seed },
    story: (world) => play(world, seed, minutes),
    harm: harmIn,
  };
}

async function play(world: World, seed: number, minutes: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const happen = happenings(world, random);
  const usedBy = new Map<string, string>();
  const disgusted = new Set<string>();
  const inspect = (): void => {
    for (const name of usersOf(world)) {
      if (statusOf(world, name) !== 'HANDLED') continue;
      for (const pod of podsOf(world, slotOf(world, name) ?? 0)) {
        if ((usedBy.get(pod) ?? name) !== name) disgusted.add(name);
        usedBy.set(pod, name);
      }
    }
  };
  for (const until = world.clock.now() + minutes * 60_000; world.clock.now() < until; ) {
    await happen[DICE[Math.floor(random() * DICE.length)] ?? 'come']();
    for (let seconds = 1 + Math.floor(24 * random()); seconds > 0; seconds -= 1) {
      await world.run(1_000);
      inspect();
    }
    dismissFailed(world);
  }
  return [...disgusted];
}

function happenings(world: World, random: () => number): Readonly<Record<Name, () => Promise<void> | void>> {
  const among = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const leave = (): void => {
    const user = among(usersOf(world));
    if (user !== undefined) world.release(user);
  };
  return {
    leave,
    come: () => void world.claim(POOL),
    ship: () => world.changePool(POOL, { image: `${IMAGE}:${1 + Math.floor(random() * 3)}.0.0` }),
    scale: () => world.changePool(POOL, { minInstances: 3 + Math.floor(random() * 4) }),
    upgrade: () => world.annotatePool(POOL, { 'helm.sh/revision': String(Math.floor(random() * 1_000)) }),
    restart: async () => {
      await world.stopOperator(random() < 0.5 ? 'kill' : 'terminate');
      leave();
      await world.run(Math.floor(20_000 * random()));
      await world.startOperator();
    },
    deletePart: () => {
      const part = among(['deployment', 'internalService', 'emailConfigMap', 'externalService'] as const);
      if (part !== undefined) world.deletePart(POOL, 1 + Math.floor(random() * 4), part);
    },
  };
}

/** The platform's service deletes a Session that failed. */
function dismissFailed(world: World): void {
  for (const user of usersOf(world)) if (statusOf(world, user) === 'ERROR') world.release(user);
}

const usersOf = ({ cluster }: World): readonly string[] =>
  cluster.admin.list(SESSIONS).map(({ metadata }) => metadata.name);
const statusOf = (world: World, user: string): string | undefined =>
  sessionOf(world, user)?.status?.operatorStatus;

function harmIn(world: World): readonly string[] {
  return [...flawsIn(world), ...usersOf(world).flatMap((user) => complaintsOf(world, user))];
}

/** Some quiet minutes later, with the operator up. */
export async function calm(world: World): Promise<void> {
  if (!world.operator.isRunning()) await world.startOperator();
  await world.run(300_000);
  dismissFailed(world);
  await world.run(120_000);
}
