import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';

describe('virtual time', () => {
  it('stands still however much the programs do', async () => {
    const clock = createVirtualClock(1_000);
    await clock.settle();
    expect(clock.now()).toBe(1_000);
    expect(clock.nextAt()).toBeUndefined();
  });

  it('wakes sleepers in the order of their times, and those of one instant in the order they lay down', async () => {
    const clock = createVirtualClock(0);
    const woken: string[] = [];
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name}@${clock.now()}`);
    };
    void sleeper('late', 20);
    void sleeper('first', 10);
    void sleeper('second', 10);
    await clock.advance(50);
    expect(woken).toEqual(['first@10', 'second@10', 'late@20']);
    expect(clock.now()).toBe(50);
  });

  it('lets a program that sleeps again and again be woken each time on the way', async () => {
    const clock = createVirtualClock(0);
    const times: number[] = [];
    void (async () => {
      for (;;) {
        await clock.sleep(100);
        times.push(clock.now());
      }
    })();
    await clock.advance(350);
    expect(times).toEqual([100, 200, 300]);
  });

  it('moves one timer at a time, and not beyond the limit', async () => {
    const clock = createVirtualClock(0);
    clock.after(10, () => undefined);
    clock.after(20, () => undefined);
    expect(await clock.step(15)).toBe(true);
    expect(clock.now()).toBe(10);
    expect(await clock.step(15)).toBe(false);
    expect(clock.now()).toBe(10);
  });

  it('wakes at once who is told to stop sleeping, and forgets the timer', async () => {
    const clock = createVirtualClock(0);
    const stop = new AbortController();
    let awake = false;
    void clock.sleep(1_000, stop.signal).then(() => {
      awake = true;
    });
    stop.abort();
    await clock.settle();
    expect(awake).toBe(true);
    expect(clock.nextAt()).toBeUndefined();
  });

  it('does not run what was cancelled', async () => {
    const clock = createVirtualClock(0);
    const ran: string[] = [];
    const cancel = clock.after(10, () => ran.push('cancelled'));
    clock.after(10, () => ran.push('kept'));
    cancel();
    await clock.advance(20);
    expect(ran).toEqual(['kept']);
  });
});
