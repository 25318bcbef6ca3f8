import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { revisionOf } from '../../src/pool/revision.ts';
import { changed, leaves, rendered } from './_rendered.ts';

/** Turns the keys of every map round, and leaves lists alone: a list is rendered in one order. */
function keysTurnedRound(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keysTurnedRound);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, keysTurnedRound(inner)] as const)
      .reverse(),
  );
}

describe('a revision', () => {
  it('says how it was made, and fits a label', () => {
    expect(revisionOf({ image: 'registry.example.org/ide:1' })).toMatch(/^v1-[0-9a-f]{10}$/);
  });

  it('never changes its meaning: this one was handed out', () => {
    const one = { spec: { replicas: 1, resources: { limits: { memory: '3000M' } } } };
    expect(revisionOf(one)).toBe('v1-15ae421121');
  });

  it.each([
    [
      'amounts spelled otherwise',
      { resources: { limits: { cpu: '2000m' } } },
      { resources: { limits: { cpu: '2' } } },
    ],
    ['a port as text', { targetPort: 3000 }, { targetPort: '3000' }],
    ['what the server would drop', { a: 1, b: '', c: [], d: { e: false } }, { a: 1 }],
  ])('is the same for %s', (_, one, other) => {
    expect(revisionOf(one)).toBe(revisionOf(other));
  });

  it.each([
    ['text that looks like an amount', { value: '1000m' }, { value: '1' }],
    ['root and nobody in particular', { runAsUser: 0 }, {}],
    ['arguments in another order', { args: ['--a', '--b'] }, { args: ['--b', '--a'] }],
    ['an empty argument and none', { args: ['', '--b'] }, { args: ['--b'] }],
    ['a field one level up', { a: { b: 1 } }, { a: 1, b: 1 }],
  ])('differs between %s', (_, one, other) => {
    expect(revisionOf(one)).not.toBe(revisionOf(other));
  });

  it('is the same for every order of keys', () => {
    fc.assert(
      fc.property(fc.oneof(rendered, fc.jsonValue()), (one) => {
        expect(revisionOf(keysTurnedRound(one))).toBe(revisionOf(one));
      }),
    );
  });

  it('moves with every rendered field', () => {
    fc.assert(
      fc.property(rendered, fc.nat(), (one, choice) => {
        const all = leaves(one);
        const steps = all[choice % all.length] ?? [];
        const moved = changed(one, steps, (leaf) => (typeof leaf === 'boolean' ? !leaf : `${leaf}7`));
        expect(revisionOf(moved)).not.toBe(revisionOf(one));
      }),
      { numRuns: 300 },
    );
  });
});
