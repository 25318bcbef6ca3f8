import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantityOf } from '../../src/pool/quantity.ts';

describe('a quantity', () => {
  it.each([
    ['3000M', '3G'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1024Ki', '1Mi'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['2', '2000m'],
    ['1e3', '1k'],
    ['1E3', '1k'],
    ['12e-1', '1200m'],
    ['1E', '1000P'],
    ['1Ei', '1024Pi'],
    ['1Pi', '1024Ti'],
    ['1Ti', '1024Gi'],
    ['1T', '1000G'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['+5', '5'],
    ['-1', '-1000m'],
    ['1u', '1000n'],
    ['0', '0.000'],
    ['0.1n', '1n'],
    ['1000e-10', '100n'],
    ['1e12', '1T'],
    [`${'0'.repeat(39)}5`, '5'],
  ])('%s is as much as %s', (one, other) => {
    expect(quantityOf(one)).toBeDefined();
    expect(quantityOf(one)).toBe(quantityOf(other));
  });

  it.each([
    ['3G', '3Gi'],
    ['500m', '500M'],
    ['1', '1n'],
    ['1', '-1'],
  ])('%s is not as much as %s', (one, other) => {
    expect(quantityOf(one)).not.toBe(quantityOf(other));
  });

  it('may come as a number', () => {
    expect(quantityOf(2)).toBe(quantityOf('2'));
  });

  it.each([
    '',
    '.',
    'm',
    'Gi',
    '3 G',
    '3gb',
    '1e',
    '1e3M',
    '1.2.3',
    '--1',
    'NaN',
    '0'.repeat(41),
    [5],
    '9'.repeat(60),
    null,
    {},
    true,
  ])('is not %j', (value) => {
    expect(quantityOf(value)).toBeUndefined();
  });

  it('orders as its amount does', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        expect((quantityOf(`${one}m`) ?? 0n) < (quantityOf(`${other}m`) ?? 0n)).toBe(one < other);
      }),
    );
  });
});
