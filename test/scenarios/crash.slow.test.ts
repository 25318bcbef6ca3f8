import { describe, expect, it } from 'vitest';
import type { KubeApi } from '../../src/kube/api.ts';
import type { World } from '../../src/simulator/world.ts';
import { end, NEW, open, PARTS, portrait, slotsWhere, substanceOf, watch } from './_story.ts';

type Moment = 'before' | 'after';

/** Lets something happen just before, or just after, a write of Everwarm takes effect; no answer comes of that write. */
function createFuse() {
  let left = Number.POSITIVE_INFINITY;
  let sent = 0;
  let moment: Moment = 'before';
  let bang = (): void => undefined;
  const never = () => new Promise<never>(() => undefined);
  const around = async <T>(send: () => Promise<T>): Promise<T> => {
    sent += 1;
    left -= 1;
    if (left !== 0) return send();
    if (moment === 'after') await send();
    bang();
    return never();
  };
  const between = (api: KubeApi): KubeApi => ({
    ...api,
    create: (...args) => around(() => api.create(...args)),
    patch: (...args) => around(() => api.patch(...args)),
    delete: (...args) => around(() => api.delete(...args)),
  });
  return {
    between,
    sent: () => sent,
    hasBlown: () => left <= 0,
    /** `bang` comes with the `nth` write from now on. */
    light: (nth: number, when: Moment, what: () => void) => {
      left = nth;
      moment = when;
      bang = what;
    },
  };
}

/** What gives Everwarm something to do in a pool of two. */
const DEEDS = {
  release: (world: World) => world.changePool('java', { image: NEW }),
  'a slot that is gone': (world: World) => {
    for (const part of PARTS) world.deletePart('java', 2, part);
  },
  'a pool that shrinks': (world: World) => world.changePool('java', { minInstances: 1 }),
};
type Deed = keyof typeof DEEDS;

/** What befalls Everwarm: it dies at its `nth` write, and a user may come in that moment. */
interface Fate {
  readonly nth: number;
  readonly when: Moment;
  readonly andThen?: (world: World) => void;
}

async function tell(deed: Deed, { nth, when, andThen }: Fate) {
  const fuse = createFuse();
  const { world } = await open({ instances: 2, between: fuse.between });
  const lookout = watch(world);
  const before = fuse.sent();
  fuse.light(nth, when, () => {
    world.stopEverwarm();
    andThen?.(world);
  });
  DEEDS[deed](world);
  if (nth === Number.POSITIVE_INFINITY) await world.settle();
  else await world.runUntil(fuse.hasBlown, 120_000);
  await world.run(5_000);
  return { world, lookout, writes: () => fuse.sent() - before };
}

/** How many writes it takes undisturbed, and what it comes to. */
async function undisturbed(deed: Deed) {
  const { world, writes } = await tell(deed, { nth: Number.POSITIVE_INFINITY, when: 'before' });
  await end(world);
  return { writes: writes(), portrait: portrait(world) };
}

describe.each(['before', 'after'] as const)('Everwarm dies %s a write takes effect', (when) => {
  it.each([
    { deed: 'release', least: 15 },
    { deed: 'a slot that is gone', least: 7 },
    { deed: 'a pool that shrinks', least: 6 },
  ] as const)(
    'whichever it was ($deed): started again it comes to the same end, with one instance always there',
    async ({ deed, least }) => {
      const quiet = await undisturbed(deed);
      expect(quiet.writes).toBeGreaterThanOrEqual(least);
      for (let nth = 1; nth <= quiet.writes; nth += 1) {
        const { world, lookout } = await tell(deed, { nth, when });
        world.startEverwarm();
        await end(world);
        expect(portrait(world), `write ${nth}`).toEqual(quiet.portrait);
        expect(lookout.fewest(), `write ${nth}`).toBeGreaterThanOrEqual(1);
        // A crash may cost one more start of an instance, never a storm of them.
        expect(lookout.replaced().length, `write ${nth}`).toBeLessThanOrEqual(3);
      }
    },
  );

  it('and a user comes in that moment: the user gets an instance and keeps it to the end', async () => {
    const quiet = await undisturbed('release');
    for (let nth = 1; nth <= quiet.writes; nth += 1) {
      let user = '';
      const andThen = (there: World): void => {
        user = there.claim('java');
      };
      const { world } = await tell('release', { nth, when, andThen });
      const [slot = 0] = slotsWhere(world, (view) => view.user === user);
      expect(slot, `write ${nth}`).toBeGreaterThan(0);
      const held = substanceOf(world, [slot]);
      world.startEverwarm();
      await world.settle();
      expect(substanceOf(world, [slot]), `write ${nth}`).toEqual(held);
      world.release(user);
      await end(world);
      expect(portrait(world), `write ${nth}`).toEqual(quiet.portrait);
    }
  });
});
