import { describe, expect, it } from 'vitest';
import type { World } from '../../src/simulator/world.ts';
import { end, imagesOf, NEW, type Opening, open, slotsWhere } from './_story.ts';

/** An operator that looks for a free slot, and takes it 1.4 s later: well within the grace period. */
const dawdling: Opening = {
  instances: 1,
  latencyMs: 120,
  operator: { pace: (step) => (step === 'claim' ? 700 : 5) },
};

/** Item 5 of incident 2's list. */
describe('a claim that races a replacement', () => {
  it('keeps its instance, also when it was under way before the slot was withdrawn and arrives after', async () => {
    const fenceMs = await msUntilWithdrawn();
    let slippedIn = 0;
    for (let afterMs = fenceMs - 1_600; afterMs <= fenceMs + 60; afterMs += 30) {
      const { world } = await open(dawdling);
      world.changePool('java', { image: NEW });
      await world.run(afterMs);
      const user = world.claim('java');
      await world.runUntil(() => isSettled(world, user));
      expect(operatorStatus(world, user), `${afterMs} ms`).toBe('HANDLED');
      const { withdrawn, instance } = world.slot('java', 1);
      const got = slotsWhere(world, (slot) => slot.user === user).length === 1;
      if (got && withdrawn) slippedIn += 1;
      await world.settle();
      if (got) expect(world.slot('java', 1), `${afterMs} ms`).toMatchObject({ user, instance, ready: true });
      else
        expect(world.slot('java', 1), `${afterMs} ms`).toMatchObject({
          image: NEW,
          ready: true,
          claimable: true,
        });
      world.release(user);
      await end(world);
      expect(imagesOf(world)).toEqual([NEW]);
    }
    expect(slippedIn).toBeGreaterThan(0);
  });

  it('and comes at any other time is served as if nothing happened', async () => {
    for (let afterMs = 15_000; afterMs <= 19_000; afterMs += 250) {
      const { world } = await open({ ...dawdling, instances: 2 });
      world.changePool('java', { image: NEW });
      await world.run(afterMs);
      const user = world.claim('java');
      await world.runUntil(() => isSettled(world, user));
      expect(operatorStatus(world, user), `${afterMs} ms`).toBe('HANDLED');
      const [slot = 0] = slotsWhere(world, (view) => view.user === user);
      const { instance } = world.slot('java', slot);
      await world.settle();
      expect(world.slot('java', slot), `${afterMs} ms`).toMatchObject({ user, instance, ready: true });
      world.release(user);
      await end(world);
      expect(imagesOf(world)).toEqual([NEW, NEW]);
    }
  });
});

/** From a release to the withdrawal of the only slot, when nobody comes. */
async function msUntilWithdrawn(): Promise<number> {
  const { world } = await open(dawdling);
  const releasedAt = world.clock.now();
  let withdrawnAt = 0;
  world.cluster.store.onCommit(() => {
    if (withdrawnAt === 0 && world.slot('java', 1).withdrawn) withdrawnAt = world.clock.now();
  });
  world.changePool('java', { image: NEW });
  await end(world);
  return withdrawnAt - releasedAt;
}

function operatorStatus(world: World, session: string): string | undefined {
  const { status } = (world.session(session) ?? {}) as { status?: { operatorStatus?: string } };
  return status?.operatorStatus;
}

function isSettled(world: World, session: string): boolean {
  return ['HANDLED', 'ERROR'].includes(operatorStatus(world, session) ?? '');
}
