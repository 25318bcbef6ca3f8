import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/simulator/driver.ts';
import {
  condition,
  end,
  imagesOf,
  instancesOf,
  listenToWrites,
  NEW,
  OLD,
  open,
  portrait,
  slotsWhere,
  statusOf,
  substanceOf,
  watch,
} from './_story.ts';

/** What becomes of each change on its way; nothing that is done may depend on it. */
const DELIVERIES: Readonly<Record<string, Delivery>> = {
  'as ADDED only': (change) => [as('ADDED', change)],
  'as MODIFIED only': (change) => [as('MODIFIED', change)],
  'as both': (change) => [as('ADDED', change), as('MODIFIED', change)],
  twice: (change) => [change, change],
  'in reversed order': (change) => [as('MODIFIED', change), as('ADDED', change)],
  'not at all': () => [],
};

function as(type: 'ADDED' | 'MODIFIED', change: Parameters<Delivery>[0]): Parameters<Delivery>[0] {
  return change.type === 'DELETED' ? change : { ...change, type };
}

/** The incident from the release to the day on which both users have left. */
async function tell(deliver: Delivery) {
  // Of what is never heard only the resync knows: a batch takes it two or three looks.
  const { world, users } = await open({ instances: 10, claimed: 2, deliver, resyncMs: 10_000 });
  const claimed = slotsWhere(world, ({ user }) => user !== undefined);
  const free = slotsWhere(world, ({ user }) => user === undefined);
  const versionsBefore = substanceOf(world, claimed);
  const instancesBefore = instancesOf(world);
  const lookout = watch(world);
  const writes = listenToWrites(world);
  // A release rewrites the definition and restarts the operator in the same breath.
  await world.stopOperator('terminate');
  world.changePool('java', { image: NEW });
  await world.startOperator();
  await world.settle();
  const kept = {
    slots: world.slots('java'),
    instances: instancesOf(world),
    versions: substanceOf(world, claimed),
    writes: [...writes],
    replaced: [...lookout.replaced()],
    counts: statusOf(world).counts,
    current: condition(world, 'Current'),
    portrait: portrait(world),
  };
  for (const user of users) world.release(user);
  await end(world);
  const released = { images: imagesOf(world), replaced: lookout.replaced(), portrait: portrait(world) };
  return { claimed, free, versionsBefore, instancesBefore, fewest: lookout.fewest(), kept, released };
}

const told = new Map<string, ReturnType<typeof tell>>();
function storyOf(delivery: string): ReturnType<typeof tell> {
  const story = told.get(delivery) ?? tell(DELIVERIES[delivery] ?? ((change) => [change]));
  told.set(delivery, story);
  return story;
}

describe.each(Object.keys(DELIVERIES))('a release while the operator is down, heard %s', (delivery) => {
  it('replaces the eight instances that nobody holds', async () => {
    const { free, kept } = await storyOf(delivery);
    expect(free).toHaveLength(8);
    for (const slot of free)
      expect(kept.slots[slot - 1]).toMatchObject({ image: NEW, ready: true, claimable: true });
    expect([...kept.replaced].sort((a, b) => a - b)).toEqual(free);
  });

  it('never has more than two of the eight away at any moment', async () => {
    const { fewest } = await storyOf(delivery);
    expect(fewest).toBe(6);
  });

  it('takes nothing from the two that users hold, and changes nothing that they work with', async () => {
    const { claimed, instancesBefore, versionsBefore, kept } = await storyOf(delivery);
    expect(kept.versions).toEqual(versionsBefore);
    for (const slot of claimed) {
      expect(kept.slots[slot - 1]?.image).toBe(OLD);
      expect(kept.instances[slot - 1]).toBe(instancesBefore[slot - 1]);
      const writes = kept.writes.filter((write) => write.includes(`/instance-${slot}-`));
      expect(writes.filter((write) => !write.startsWith('change '))).toEqual([]);
    }
  });

  it('says in the WarmPool that two stale ones are kept for their users', async () => {
    const { kept } = await storyOf(delivery);
    expect(kept.counts).toMatchObject({
      desired: 10,
      ready: 8,
      current: 8,
      stale: 0,
      claimed: 2,
      claimedStale: 2,
    });
    expect(kept.current).toBe('True AllCurrent');
  });

  it('replaces those two as well once their users have left, each instance once', async () => {
    const { released } = await storyOf(delivery);
    expect(released.images).toEqual(Array.from({ length: 10 }, () => NEW));
    expect(new Set(released.replaced).size).toBe(10);
    expect(released.replaced).toHaveLength(10);
  });
});

it('ends in the same state, however the release was heard', async () => {
  const first = await storyOf('as ADDED only');
  for (const delivery of Object.keys(DELIVERIES)) {
    const { kept, released } = await storyOf(delivery);
    expect(kept.portrait, delivery).toEqual(first.kept.portrait);
    expect(released.portrait, delivery).toEqual(first.released.portrait);
  }
});
