import { AssertionError } from 'node:assert';
import type { Violation } from '../pool/invariants.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A named story: what happens to a world, and what must be so in the end. */
export interface Scenario {
  readonly name: string;
  /** A sentence about the world. */
  readonly title: string;
  play(seed: number): Promise<Played>;
}

interface Played {
  /** Requests of Everwarm that changed something. */
  readonly steps: number;
  readonly violations: readonly Violation[];
  /** What Everwarm did, in words. */
  readonly trace: readonly string[];
}

/**
 * Makes a scenario of a story. What the story asserts and what the invariants find are its violations; and whoever looks
 * again after its end must find nothing to write (S10).
 */
export function story(
  name: string,
  title: string,
  tell: (world: World) => Promise<void>,
  options: WorldOptions = {},
): Scenario {
  return {
    name,
    title,
    play: async (seed) => {
      const world = await createWorld({ ...options, seed });
      const failures: Violation[] = [];
      try {
        await tell(world);
        const writes = await world.reconcileAll();
        if (writes > 0) failures.push({ name: 'S10', message: `a second pass makes ${writes} writes` });
      } catch (error) {
        if (!(error instanceof AssertionError) && !isUnsettled(error)) throw error;
        failures.push({ name: 'Story', message: (error as Error).message });
      }
      return {
        steps: world.writes(),
        violations: [...world.violations, ...failures],
        trace: world.events.map((event) => JSON.stringify(event)),
      };
    },
  };
}

function isUnsettled(error: unknown): boolean {
  return error instanceof Error && /^(not settled|after) /.test(error.message);
}
