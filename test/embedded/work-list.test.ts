import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWorkList, type WorkList } from '../../src/embedded/_work-list.ts';

it('keys of one instant leave in the order they came, also one that became due earlier', () => {
  const work = createWorkList();
  work.add('late', 9);
  work.add('first', 5);
  expect(work.dueAt()).toBe(5);
  work.add('second', 5);
  work.add('late', 5);
  expect([work.take(5), work.take(5), work.take(5), work.take(5)]).toEqual([
    'late',
    'first',
    'second',
    undefined,
  ]);
});

it('a key that became due later all the same stays due when it was', () => {
  const work = createWorkList();
  work.add('a', 3);
  work.add('a', 8);
  expect([work.dueAt(), work.take(2), work.take(3), work.dueAt()]).toEqual([3, undefined, 'a', undefined]);
});

const KEY = fc.constantFrom('a', 'b', 'c', 'd');
const STEP = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), key: KEY, at: fc.nat(3) }),
  fc.record({ kind: fc.constant('drop' as const), key: KEY }),
  fc.record({ kind: fc.constant('take' as const), at: fc.nat(3) }),
);

/** The same list without a memory: what is due first is searched for whenever it is asked for. */
function searchedList(): WorkList {
  const due = new Map<string, number>();
  // Sorting keeps the order of insertion where the instants are the same.
  const first = () => [...due].sort((a, b) => a[1] - b[1])[0];
  return {
    add: (key, at) => void due.set(key, Math.min(at, due.get(key) ?? at)),
    drop: (key) => void due.delete(key),
    dueAt: () => first()?.[1],
    take: (now) => {
      const [key, at = 0] = first() ?? [];
      if (key === undefined || at > now) return undefined;
      due.delete(key);
      return key;
    },
  };
}

it('whatever is added and dropped, what is due first is what a search of the whole list finds', () => {
  const steps = fc.array(STEP, { maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(steps, (steps) => {
      const [work, searched] = [createWorkList(), searchedList()];
      const play = (list: WorkList) =>
        steps.map((step) => {
          if (step.kind === 'take') return [list.take(step.at), list.dueAt()];
          if (step.kind === 'drop') list.drop(step.key);
          else list.add(step.key, step.at);
          return [undefined, list.dueAt()];
        });
      expect(play(work)).toEqual(play(searched));
    }),
  );
});
