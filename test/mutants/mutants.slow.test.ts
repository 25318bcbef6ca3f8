import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSchedule } from '../../src/simulator/schedule.ts';
import { hunt, simulated } from './_breed.ts';
import { guardMutants, type Mutant, NAMED } from './_mutants.ts';

const SEEDS = 600;
const STEPS = 300;
const ROOT = join(import.meta.dirname, '../..');

/** What the mutant is caught as, in a run that breaks nothing without it. */
async function caught(mutant: Mutant): Promise<string> {
  const found = hunt(mutant, SEEDS, STEPS);
  if (found === undefined) return 'not at all';
  const { weather = {} } = mutant;
  const { violations } = await runSchedule({ seed: found.seed, steps: STEPS, weather });
  return violations.length === 0 ? found.name : `${violations[0]?.name} without it, too`;
}

describe('random schedules find out when Everwarm', () => {
  it.each(NAMED)('$name: $lacks', async (mutant) => {
    expect(mutant.caughtAs).toContain(await caught(mutant));
  });
});

it('a violation is told by a trace that is cut short, with the command that shows it again', () => {
  const mutant = NAMED.find(({ name }) => name === 'allAtOnce') ?? fail();
  const lines = simulated(mutant, { seed: 1, seeds: 20, steps: STEPS });
  const told = lines.find((line) => line.type === 'Violation') ?? fail();
  expect(told).toMatchObject({
    name: 'S5',
    message: expect.stringMatching(/^java: slots .* are away where 1 may be$/),
    replay: `everwarm simulate --seed ${told.seed} --steps ${STEPS}`,
  });
  // Looks are one line, and nothing is told that the violation does not need.
  expect(told.trace.length).toBeLessThan(60);
  expect(told.trace.filter((line) => line.includes('add ownerReferences/-')).length).toBeGreaterThan(1);
  expect(lines.at(-1)).toMatchObject({ type: 'Simulated', violations: expect.any(Number) });
});

function fail(): never {
  throw new Error('nothing was found');
}

const GUARDED = ['src/platform/theia-cloud/_guarded.ts', 'src/platform/warm-pool.ts'];

describe.each(GUARDED)('no guard of %s can be left out unseen:', (file) => {
  const mutants = guardMutants(file, readFileSync(join(ROOT, file), 'utf8'));

  it('there are some', () => {
    expect(mutants.map(({ lacks }) => lacks)).toContain('test');
  });

  it.each(mutants)('$name', async (mutant) => {
    expect(mutant.caughtAs).toContain(await caught(mutant));
  });
});
