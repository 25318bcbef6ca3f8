import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSchedule } from '../../src/simulator/schedule.ts';
import { hunt } from './_breed.ts';
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

const GUARDED = ['src/platform/theia-cloud/requests.ts', 'src/platform/warm-pool.ts'];

describe.each(GUARDED)('no guard of %s can be left out unseen:', (file) => {
  const mutants = guardMutants(file, readFileSync(join(ROOT, file), 'utf8'));

  it('there are some', () => {
    expect(mutants.map(({ lacks }) => lacks)).toContain('test');
  });

  it.each(mutants)('$name', async (mutant) => {
    expect(mutant.caughtAs).toContain(await caught(mutant));
  });
});
