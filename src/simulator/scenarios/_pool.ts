import assert from 'node:assert/strict';
import type { World } from '../world.ts';

/** The pool that the stories are about, and the images that it is told to run. */
export const POOL = 'java';
export const OLD = 'registry.example.org/ide:1';
export const NEW = 'registry.example.org/ide:2';

/** A quiet day: the operator made the pool, `claimed` users hold an instance each, Everwarm runs beside it. */
export async function openPool(world: World, instances: number, claimed = 0): Promise<readonly string[]> {
  world.startEverwarm();
  await world.startOperator();
  world.createPool(POOL, { minInstances: instances, image: OLD });
  await world.settle();
  const users: string[] = [];
  for (let at = 0; at < claimed; at += 1) {
    users.push(world.claim(POOL));
    await world.run(2_000);
  }
  return users;
}

/** Every instance that nobody holds is whole, ready, clean and on `image`. */
export function assertCurrent(world: World, image: string): void {
  for (const { slot, claimedBy, target, complete, ready, clean, withdrawn, ...rest } of world.slots(POOL)) {
    if (claimedBy !== undefined) continue;
    const found = { target, complete, ready, clean, withdrawn, image: rest.image };
    const wanted = { target: true, complete: true, ready: true, clean: true, withdrawn: false, image };
    assert.deepEqual(found, wanted, `slot ${slot}`);
  }
}
