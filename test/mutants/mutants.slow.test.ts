import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hunt } from './_breed.ts';
import { guardMutants, type Mutant, NAMED } from './_mutants.ts';

const SEEDS = 600;
const STEPS = 300;
const ROOT = join(import.meta.dirname, '../..');

const caught = (mutant: Mutant): string => {
  const found = hunt(mutant, SEEDS, STEPS);
  return found === undefined ? 'not at all' : found.name;
};

describe('random schedules find out when Everwarm', () => {
  it.each(NAMED)('$name: $lacks', (mutant) => {
    expect(mutant.caughtAs).toContain(caught(mutant));
  });
});

const GUARDED = ['src/platform/theia-cloud/requests.ts', 'src/platform/warm-pool.ts'];

describe.each(GUARDED)('no guard of %s can be left out unseen:', (file) => {
  const mutants = guardMutants(file, readFileSync(join(ROOT, file), 'utf8'));

  it('there are some', () => {
    expect(mutants.map(({ lacks }) => lacks)).toContain('test');
  });

  it.each(mutants)('$name', (mutant) => {
    expect(mutant.caughtAs).toContain(caught(mutant));
  });
});
