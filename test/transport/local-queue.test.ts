import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import type { PoolKey } from '../../src/pool/key.ts';
import { createVirtualClock, type VirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createLocalQueue, type LocalQueue } from '../../src/transport/local-queue.ts';
import type { PassResult, Trigger } from '../../src/transport/queue.ts';
import { poolKey, recordingLog, START } from './_world.ts';

interface Pass {
  readonly name: string;
  readonly at: number;
  readonly triggers: readonly Trigger[];
  readonly end: (result?: PassResult) => void;
  readonly fail: (error: Error) => void;
}

interface World {
  readonly queue: LocalQueue;
  readonly clock: VirtualClock;
  /** Every pass that began, in order. */
  readonly passes: readonly Pass[];
  readonly lines: readonly string[];
  /** When each pass of `name` began, in ms since the start. */
  times(name: string): number[];
}

/** A queue whose passes last until the test ends them, or take no time when `result` says what they come to. */
function world(concurrency: number, result?: (key: PoolKey, count: number) => PassResult): World {
  const clock = createVirtualClock(START);
  const { log, lines } = recordingLog();
  const passes: Pass[] = [];
  const queue = createLocalQueue({
    clock,
    random: () => 0.999_999,
    log,
    concurrency,
    consume: async (key, triggers) => {
      const { promise, resolve, reject } = Promise.withResolvers<PassResult>();
      passes.push({
        name: key.name,
        at: clock.now(),
        triggers,
        end: (ended = {}) => resolve(ended),
        fail: reject,
      });
      return result === undefined ? await promise : result(key, passes.length);
    },
  });
  const times = (name: string) => passes.filter((pass) => pass.name === name).map(({ at }) => at - START);
  return { queue, clock, passes, lines, times };
}

const trigger = (reason: Trigger['reason'], observedAt = START): Trigger => ({ reason, observedAt });
const names = (passes: readonly Pass[]) => passes.map(({ name }) => name);

describe('the local queue', () => {
  it('gives a key one pass, however often it was added', async () => {
    const { queue, clock, passes } = world(1);
    await queue.add(poolKey('busy'));
    await queue.add(poolKey('a'), trigger('changed'));
    await queue.add(poolKey('a'), trigger('deleted'));
    passes[0]?.end();
    await clock.settle();
    passes[1]?.end();
    await queue.idle();
    expect(names(passes)).toEqual(['busy', 'a']);
    expect(passes[1]?.triggers.map(({ reason }) => reason)).toEqual(['changed', 'deleted']);
  });

  it('never lets two passes of one key run at once, and repeats one for what came meanwhile', async () => {
    const { queue, clock, passes } = world(4);
    await queue.add(poolKey('a'));
    await queue.add(poolKey('a'), trigger('changed'));
    await queue.add(poolKey('a'));
    await clock.settle();
    expect(passes).toHaveLength(1);
    passes[0]?.end();
    await clock.settle();
    expect(passes).toHaveLength(2);
    passes[1]?.end();
    await queue.idle();
    expect(passes).toHaveLength(2);
  });

  it('has keys side by side, as many as there is room for, in the order they came', async () => {
    const { queue, clock, passes } = world(2);
    for (const name of ['a', 'b', 'c', 'd']) await queue.add(poolKey(name));
    expect(names(passes)).toEqual(['a', 'b']);
    passes[1]?.end();
    await clock.settle();
    expect(names(passes)).toEqual(['a', 'b', 'c']);
  });

  it('remembers of many triggers the latest', async () => {
    const { queue, clock, passes } = world(1);
    await queue.add(poolKey('busy'));
    for (let at = 0; at < 100; at += 1) await queue.add(poolKey('a'), trigger('changed', at));
    passes[0]?.end();
    await clock.settle();
    expect(passes[1]?.triggers.map(({ observedAt }) => observedAt)).toEqual([92, 93, 94, 95, 96, 97, 98, 99]);
  });

  it('comes back to a key when its pass asked for it', async () => {
    const { queue, clock, times } = world(1, (_key, count) => (count < 3 ? { requeueAfterMs: 5_000 } : {}));
    await queue.add(poolKey('a'));
    await clock.advance(60_000);
    expect(times('a')).toEqual([0, 5_000, 10_000]);
  });

  it('goes by what the newest pass asked for', async () => {
    const { queue, clock, times } = world(1, (_key, count) => (count === 1 ? { requeueAfterMs: 5_000 } : {}));
    await queue.add(poolKey('a'));
    await clock.advance(1_000);
    await queue.add(poolKey('a'));
    await clock.advance(60_000);
    expect(times('a')).toEqual([0, 1_000]);
  });

  it('keeps an appointment that somebody else made', async () => {
    const { queue, clock, times } = world(1, () => ({}));
    await queue.addAfter(poolKey('a'), 9_000);
    await queue.addAfter(poolKey('a'), 3_000);
    await queue.addAfter(poolKey('a'), 6_000);
    await queue.add(poolKey('a'));
    await clock.advance(60_000);
    expect(times('a')).toEqual([0, 3_000]);
  });

  it('tries a failed pass again, ever more rarely, while other keys go on', async () => {
    const { queue, clock, times } = world(1, (key) => {
      if (key.name === 'poison') throw new Error('the cluster is not there');
      return {};
    });
    await queue.add(poolKey('poison'));
    await queue.add(poolKey('b'));
    await clock.advance(200_000);
    expect(times('poison')).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000]);
    expect(times('b')).toEqual([0]);
  });

  it('starts over with short delays once a pass went well', async () => {
    const { queue, clock, times } = world(1, (_key, count) => {
      if (count === 4) return { requeueAfterMs: 10_000 };
      if (count > 5) return {};
      throw new Error('no');
    });
    await queue.add(poolKey('a'));
    await clock.advance(60_000);
    expect(times('a')).toEqual([0, 1_000, 3_000, 7_000, 17_000, 18_000]);
  });

  it('does not try again what cannot help, and says so', async () => {
    const { queue, clock, times, lines } = world(1, () => {
      throw new TerminalError('no permission');
    });
    await queue.add(poolKey('a'));
    await clock.advance(600_000);
    expect(times('a')).toEqual([0]);
    expect(lines).toEqual(['error queue.gave-up pool=prod/theia-cloud/ide/a cause="no permission"\n']);
  });

  it('is idle when nothing has its turn, whatever waits for later', async () => {
    const { queue, passes } = world(1);
    await queue.addAfter(poolKey('later'), 1_000);
    await queue.idle();
    await queue.add(poolKey('a'));
    let isIdle = false;
    const idle = queue.idle().then(() => {
      isIdle = true;
    });
    await Promise.resolve();
    expect(isIdle).toBe(false);
    passes[0]?.end();
    await idle;
  });

  it('when stopped gives what waits its pass, and then takes nothing more', async () => {
    const { queue, clock, passes } = world(1);
    await queue.add(poolKey('a'));
    await queue.add(poolKey('b'));
    await queue.addAfter(poolKey('later'), 1_000);
    const stopped = queue.stop();
    await queue.add(poolKey('c'));
    passes[0]?.end({ requeueAfterMs: 10 });
    await clock.settle();
    passes[1]?.fail(new Error('no'));
    await stopped;
    await clock.advance(600_000);
    expect(names(passes)).toEqual(['a', 'b']);
  });
});
