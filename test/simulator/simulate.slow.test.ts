import { expect, it } from 'vitest';
import { simulate } from '../../src/simulator/simulate.ts';

it('breaks nothing in two thousand random schedules', async () => {
  const lines = [];
  for await (const line of simulate({ seeds: 2_000 })) if (line.type !== 'Schedule') lines.push(line);
  expect(lines).toEqual([
    { type: 'Simulated', schedules: 2_000, steps: expect.any(Number), violations: 0, seed: 1 },
  ]);
});
