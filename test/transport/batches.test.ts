import { describe, expect, it } from 'vitest';
import { createBatches } from '../../src/transport/batches.ts';
import { leapingClock } from '../kube/_leaping-clock.ts';

/** A service that takes what `codeOf` says, and what it took, call by call. */
function service(codeOf: (entry: number, call: number) => string | undefined) {
  const calls: number[][] = [];
  const clock = leapingClock();
  const add = createBatches<number>({
    clock,
    random: () => 0.5,
    send: async (entries) => {
      calls.push([...entries]);
      return entries.map((entry) => codeOf(entry, calls.length));
    },
  });
  return { add, calls, clock };
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('entries that are added together', () => {
  it('travel ten at a time', async () => {
    const { add, calls } = service(() => undefined);
    await Promise.all(numbers(25).map(add));
    expect(calls.map((entries) => entries.length)).toEqual([10, 10, 5]);
  });

  it('are sent again when the service failed them, and never when it took them', async () => {
    const { add, calls } = service((entry, call) => (entry % 2 === 1 && call < 3 ? 'Throttled' : undefined));
    await Promise.all(numbers(6).map(add));
    expect(calls).toEqual([
      [0, 1, 2, 3, 4, 5],
      [1, 3, 5],
      [1, 3, 5],
    ]);
  });

  it('fail alone, with the code of the service, after four tries ever further apart', async () => {
    const { add, calls, clock } = service((entry) => (entry === 1 ? 'AccessDenied' : undefined));
    const results = await Promise.allSettled(numbers(3).map(add));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'AccessDenied' } });
    expect(calls).toEqual([[0, 1, 2], [1], [1], [1]]);
    expect(clock.slept).toEqual([150, 300, 600]);
  });

  it('are all sent again when the call itself failed', async () => {
    let calls = 0;
    const add = createBatches<number>({
      clock: leapingClock(),
      random: () => 0,
      send: async (entries) => {
        calls += 1;
        if (calls === 1) throw new Error('socket hang up');
        return entries.map(() => undefined);
      },
    });
    await Promise.all(numbers(3).map(add));
    expect(calls).toBe(2);
  });
});
