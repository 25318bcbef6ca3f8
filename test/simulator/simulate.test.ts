import { describe, expect, it } from 'vitest';
import { runSchedule } from '../../src/simulator/schedule.ts';
import { type SimulateLine, type SimulateOptions, simulate } from '../../src/simulator/simulate.ts';

async function linesOf(options: SimulateOptions): Promise<readonly SimulateLine[]> {
  const lines: SimulateLine[] = [];
  for await (const line of simulate(options)) lines.push(line);
  return lines;
}

describe('a random schedule', () => {
  it('is the same run for the same seed, to the last request', async () => {
    const [first, second] = [
      await runSchedule({ seed: 11, steps: 250, traced: true }),
      await runSchedule({ seed: 11, steps: 250, traced: true }),
    ];
    expect(second).toEqual(first);
    expect(first.trace.length).toBeGreaterThan(250);
  });

  it('is another run for another seed', async () => {
    const hashes = new Set<string>();
    for (const seed of [1, 2, 3, 4]) hashes.add((await runSchedule({ seed, steps: 60 })).hash);
    expect(hashes.size).toBe(4);
  });

  it('goes the same way up to where it is cut off', async () => {
    const whole = await runSchedule({ seed: 12, steps: 200, traced: true });
    const half = await runSchedule({ seed: 12, steps: 80, traced: true });
    const turns = half.turns - 2;
    const until = (trace: typeof whole.trace) => trace.filter(({ turn }) => turn < turns);
    expect(until(half.trace).length).toBeGreaterThan(20);
    expect(until(half.trace)).toEqual(until(whole.trace));
  });
});

describe('the simulation', () => {
  it('breaks nothing, whatever fails and whoever comes, on all cores', async () => {
    const lines = await linesOf({ seed: 1, seeds: 60, steps: 250 });
    expect(lines).toEqual([
      { type: 'Simulated', schedules: 60, steps: expect.any(Number), violations: 0, seed: 1 },
    ]);
  });

  it('ends with what it did in numbers', async () => {
    const lines = await linesOf({ seed: 3, seeds: 2, steps: 50 });
    expect(lines).toEqual([
      { type: 'Simulated', schedules: 2, steps: expect.any(Number), violations: 0, seed: 3 },
    ]);
  });

  it('replays one seed, and says by a hash that it was the same', async () => {
    const [once, again] = [await linesOf({ seed: 5, steps: 50 }), await linesOf({ seed: 5, steps: 50 })];
    expect(once.at(-1)).toMatchObject({
      type: 'Simulated',
      schedules: 1,
      hash: expect.stringMatching(/^\w{8}$/),
    });
    expect(again).toEqual(once);
  });

  it('plays a story by its name and knows no other', async () => {
    const lines = await linesOf({ scenario: 'release-1' });
    expect(lines).toEqual([
      {
        type: 'Simulated',
        schedules: 1,
        steps: expect.any(Number),
        violations: 0,
        seed: 1,
        scenario: 'release-1',
        title: expect.any(String),
        did: expect.any(Object),
      },
    ]);
    await expect(linesOf({ scenario: 'nonsense' })).rejects.toThrow(
      /no scenario nonsense; there are incident-2-added/,
    );
  });
});
