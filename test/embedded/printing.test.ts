import { expect, it } from 'vitest';
import { age } from '../../src/embedded/age.ts';
import { jsonPath } from '../../src/embedded/json-path.ts';
import { compareVersions } from '../../src/embedded/version-order.ts';
import { START } from './_api.ts';

it.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [330, '5m30s'],
  [3_600, '60m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [12_600, '3h30m'],
  [86_400, '24h'],
  [183_600, '2d3h'],
  [864_000, '10d'],
  [63_072_000, '2y'],
  [66_096_000, '2y35d'],
])('shows an age of %i seconds as %s', (seconds, text) => {
  expect(age('2026-01-01T00:00:00Z', START + seconds * 1000)).toBe(text);
});

it('does not know the age of what has no time', () => {
  expect(age(undefined, START)).toBe('<unknown>');
  expect(age('soon', START)).toBe('<unknown>');
});

it.each([
  ['.metadata.name', ['x']],
  ['.metadata.labels.a\\.b/c', ['dotted']],
  [".metadata.labels['a.b/c']", ['dotted']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[0].type', ['Ready']],
  ['.status.conditions[-1].type', ['Current']],
  ['.status.conditions[*].type', ['Ready', 'Current']],
  ['.spec.missing.below', []],
  ['.status.conditions[?(', []],
])('finds %s', (path, values) => {
  const object = {
    metadata: { name: 'x', labels: { 'a.b/c': 'dotted' } },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Current', status: 'False' },
      ],
    },
  };
  expect(jsonPath(path)(object)).toEqual(values);
});

it('prefers stable versions to beta to alpha, higher numbers to lower, and free names last', () => {
  const versions = ['foo', 'v1alpha1', 'v2', 'v1beta9', 'v1beta11', 'bar', 'v10', 'v2alpha1'];
  expect(versions.toSorted(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1beta11',
    'v1beta9',
    'v2alpha1',
    'v1alpha1',
    'bar',
    'foo',
  ]);
});
