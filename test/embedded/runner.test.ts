import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/clock.ts';
import { runActors } from '../../src/embedded/runner.ts';
import { createStore } from '../../src/embedded/store.ts';
import type { Actor } from '../../src/embedded/types.ts';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';

/** An actor with a diary of what is due, which it works off into `done`. */
function worker(name: string, due: number[], done: string[]): Actor {
  return {
    name,
    dueAt: () => (due.length === 0 ? undefined : Math.min(...due)),
    run: () => {
      const at = Math.min(...due);
      due.splice(due.indexOf(at), 1);
      done.push(`${name}@${at}`);
    },
  };
}

function world() {
  const clock = createVirtualClock(0);
  const store = createStore({ now: () => clock.now(), random: seededRandom(1) });
  const commit = () =>
    store.execute({
      verb: 'create',
      resource: { group: '', version: 'v1', plural: 'configmaps' },
      namespace: 'default',
      body: { metadata: { generateName: 'c-' } },
      user: 'tester',
    });
  return { clock, store, commit };
}

describe('the actors of a cluster', () => {
  it('work in the order in which their work is due, whoever has it', async () => {
    const { clock, store } = world();
    const done: string[] = [];
    runActors([worker('a', [30, 10], done), worker('b', [20, 10], done)], clock, store);
    await clock.advance(100);
    expect(done).toEqual(['a@10', 'b@10', 'b@20', 'a@30']);
  });

  it('are not early', async () => {
    const { clock, store } = world();
    const done: string[] = [];
    runActors([worker('a', [500], done)], clock, store);
    await clock.advance(499);
    expect(done).toEqual([]);
    await clock.advance(1);
    expect(done).toEqual(['a@500']);
  });

  it('are woken by a commit although nothing was due', async () => {
    const { clock, store, commit } = world();
    const due: number[] = [];
    const done: string[] = [];
    runActors([worker('a', due, done)], clock, store);
    await clock.advance(100);
    due.push(105);
    commit();
    await clock.advance(10);
    expect(done).toEqual(['a@105']);
  });

  it('hear within a second of work that no commit told of', async () => {
    const { clock, store } = world();
    const due: number[] = [];
    const done: string[] = [];
    runActors([worker('a', due, done)], clock, store);
    await clock.advance(100);
    due.push(100);
    await clock.advance(1_000);
    expect(done).toEqual(['a@100']);
  });

  it('leave others a turn however much there is to do', async () => {
    const { clock, store } = world();
    const done: string[] = [];
    runActors(
      [
        worker(
          'a',
          Array.from({ length: 100 }, () => 0),
          done,
        ),
      ],
      clock,
      store,
    );
    clock.after(0, () => done.push('somebody else'));
    await clock.advance(1);
    expect(done).toHaveLength(101);
    expect(done.indexOf('somebody else')).toBeLessThan(50);
  });

  it('rest for good once they are stopped', async () => {
    const { clock, store, commit } = world();
    const done: string[] = [];
    const stop = runActors([worker('a', [10, 50], done)], clock, store);
    await clock.advance(20);
    stop();
    commit();
    await clock.advance(5_000);
    expect(done).toEqual(['a@10']);
    expect(clock.nextAt()).toBeUndefined();
  });
});
