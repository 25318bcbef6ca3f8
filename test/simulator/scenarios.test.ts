import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { story } from '../../src/simulator/_story.ts';
import { SCENARIOS } from '../../src/simulator/scenarios.ts';

describe('the story of', () => {
  it.each(SCENARIOS)('$name: $title', async (scenario) => {
    const { violations, trace } = await scenario.play(1);
    expect(violations, trace.slice(-10).join('\n')).toEqual([]);
  });
});

describe('a story', () => {
  it('fails by what it asserts, with what was found', async () => {
    const failing = story('failing', 'two are one', async () => assert.equal(2, 1, 'two are not one'));
    const { violations } = await failing.play(1);
    expect(violations).toEqual([{ name: 'Story', message: expect.stringMatching(/^two are not one/) }]);
  });

  it('fails when something is left to do in its end', async () => {
    const early = story('early', 'ends before Everwarm was there', async (world) => {
      world.createPool('java', { minInstances: 1 });
    });
    expect((await early.play(1)).violations).toMatchObject([{ name: 'S10' }]);
  });

  it('does not take a mistake of its own for a finding', async () => {
    const broken = story('broken', 'asks for a slot that is not there', async (world) => {
      world.slot('java', 1);
    });
    await expect(broken.play(1)).rejects.toThrow('pool java has no slot 1');
  });
});
