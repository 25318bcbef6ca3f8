import { describe, expect, it } from 'vitest';
import { createOutbox, type News } from '../../src/forwarder/outbox.ts';
import { formatKey } from '../../src/pool/key.ts';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import type { Notice } from '../../src/transport/notice.ts';
import { notice, poolKey, START } from '../transport/_world.ts';

/** An outbox whose sends end when the test says so, or at once. */
function world(isInstant = true) {
  const clock = createVirtualClock(START);
  const sent: { readonly at: number; readonly notice: Notice; readonly end: () => void }[] = [];
  const outbox = createOutbox({
    clock,
    epoch: 'e1',
    send: async (it) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      sent.push({ at: clock.now() - START, notice: it, end: resolve });
      if (!isInstant) await promise;
    },
  });
  const add = (name: string, more: Partial<News> = {}) =>
    outbox.add({
      key: poolKey(name),
      object: notice().data.object,
      reason: 'changed',
      urgent: false,
      ...more,
    });
  /** `java at 250 (3)`: which pool, when, for how many changes. */
  const story = () =>
    sent.map(({ at, notice: { data } }) => `${data.key.split('/').at(-1)} at ${at} (${data.coalesced})`);
  return { clock, outbox, sent, add, story };
}

describe('the outbox', () => {
  it('makes one notice of a burst, a quarter of a second after its end', async () => {
    const { clock, add, story } = world();
    for (let i = 0; i < 3; i += 1) {
      add('java');
      await clock.advance(100);
    }
    await clock.advance(10_000);
    expect(story()).toEqual(['java at 450 (3)']);
  });

  it('holds nothing back for more than two seconds, however long the burst', async () => {
    const { clock, add, story } = world();
    for (let i = 0; i < 30; i += 1) {
      add('java');
      await clock.advance(100);
    }
    await clock.advance(10_000);
    expect(story()).toEqual(['java at 2000 (20)', 'java at 3150 (10)']);
  });

  it('sends what is urgent at once, and what waited with it', async () => {
    const { clock, add, story, sent } = world();
    add('java');
    add('python');
    await clock.advance(100);
    add('java', { urgent: true, reason: 'deleted' });
    await clock.advance(10_000);
    expect(story()).toEqual(['java at 100 (2)', 'python at 250 (1)']);
    expect(sent[0]?.notice.data).toMatchObject({ reason: 'deleted', observedAt: '2026-01-01T00:00:00.000Z' });
  });

  it('lets a mere listing not hide a change', async () => {
    const { clock, add, sent } = world();
    add('java', { object: { ...notice().data.object, name: 'changed-one' } });
    add('java', { reason: 'sync', object: { ...notice().data.object, name: 'listed-one' } });
    await clock.advance(10_000);
    expect(sent.map(({ notice: { data } }) => [data.reason, data.object.name])).toEqual([
      ['changed', 'changed-one'],
    ]);
  });

  it('never sends two notices of one pool at once; what comes meanwhile is the next', async () => {
    const { clock, add, story, sent } = world(false);
    add('java', { urgent: true });
    add('java', { urgent: true });
    add('java', { urgent: true });
    await clock.advance(5_000);
    expect(story()).toEqual(['java at 0 (1)']);
    sent[0]?.end();
    await clock.settle();
    expect(story()).toEqual(['java at 0 (1)', 'java at 5000 (2)']);
  });

  it('keeps one entry a pool while the door is shut, and sends sixteen side by side', async () => {
    const { clock, add, sent, outbox } = world(false);
    for (let round = 0; round < 50; round += 1) for (let pool = 0; pool < 40; pool += 1) add(`pool-${pool}`);
    await clock.advance(10_000);
    expect(sent).toHaveLength(16);
    expect(outbox.size()).toBe(40);
  });

  it('numbers its notices, so that a retry can be told from a new one', async () => {
    const { clock, add, sent } = world();
    for (const name of ['a', 'b', 'a']) {
      add(name, { urgent: true });
      await clock.settle();
    }
    expect(sent.map(({ notice: { data } }) => `${data.epoch}/${data.seq}`)).toEqual(['e1/1', 'e1/2', 'e1/3']);
  });

  it('is flushed when all of it is sent', async () => {
    const { clock, add, outbox, sent } = world(false);
    await outbox.flushed();
    add('java');
    let isFlushed = false;
    const flushed = outbox.flushed().then(() => {
      isFlushed = true;
    });
    await clock.advance(10_000);
    expect(isFlushed).toBe(false);
    sent[0]?.end();
    await flushed;
  });

  it('sends nothing more once it is stopped', async () => {
    const { clock, add, outbox, sent } = world();
    add('java');
    outbox.stop();
    await clock.advance(10_000);
    expect(sent).toEqual([]);
    expect(formatKey(poolKey('java'))).toBe('prod/theia-cloud/ide/java');
  });
});
