import assert from 'node:assert/strict';
import { type Scenario, story } from '../_story.ts';
import type { Change, Delivery } from '../driver.ts';
import { assertCurrent, NEW, OLD, openPool, POOL } from './_pool.ts';

const isRelease = ({ resource, type }: Change) => resource.kind === 'AppDefinition' && type === 'MODIFIED';
const asAdded = (change: Change): Change => ({ ...change, type: 'ADDED' });

/** How the news of the release arrives; everything else arrives as it is. */
const DELIVERIES: Readonly<Record<string, (release: Change) => readonly Change[]>> = {
  added: (release) => [asAdded(release)],
  modified: (release) => [release],
  both: (release) => [asAdded(release), release],
  twice: (release) => [release, release],
  reversed: (release) => [release, asAdded(release)],
  never: () => [],
};

/** A release while the operator is down: whatever is said about it, the end is the same. */
export const INCIDENT_TWO: readonly Scenario[] = Object.entries(DELIVERIES).map(([name, become]) => {
  const deliver: Delivery = (change) => (isRelease(change) ? become(change) : [change]);
  return story(
    `incident-2-${name}`,
    `a release while the operator is down, told as ${name}: eight are replaced, two stay with their users`,
    async (world) => {
      const users = await openPool(world, 10, 2);
      const held = world.slots(POOL).filter(({ user }) => user !== undefined);
      await world.stopOperator();
      world.changePool(POOL, { image: NEW });
      await world.settle();
      assertCurrent(world, NEW);
      const after = held.map(({ slot }) => world.slot(POOL, Number(slot)));
      assert.deepEqual(
        after.map(({ instance, image }) => [instance, image]),
        held.map(({ instance }) => [instance, OLD]),
        'the two users keep what they have',
      );

      for (const user of users) world.release(user);
      await world.settle();
      assert.equal(world.slots(POOL).filter(({ image }) => image === NEW).length, 10);
      assertCurrent(world, NEW);
    },
    { operator: { rollsOut: false }, deliver },
  );
});
