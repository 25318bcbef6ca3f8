import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/cli/durations.ts';

describe('a duration on the command line', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5m', 90_000],
    ['1.25m', 75_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['0s', 0],
    [' 2s ', 2_000],
    ['576h', 2_073_600_000],
  ])('%j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ms });
  });

  it.each([
    ['30', '"30" is no duration: say the unit, as in 30s or 30ms'],
    [' 0.25 ', '" 0.25 " is no duration: say the unit, as in 0.25s or 0.25ms'],
    ['1.x', '"1.x" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['x1', '"x1" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['', '"" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['-2s', '"-2s" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['2 s', '"2 s" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['2S', '"2S" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['1h30m', '"1h30m" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['1e9s', '"1e9s" is no duration: write it as in 500ms, 2s, 5m or 1h'],
    ['577h', '"577h" is too long: at most 576h'],
  ])('%j is refused, with the mend', (text, problem) => {
    expect(parseDuration(text)).toEqual({ problem });
  });
});

describe('a duration on the screen', () => {
  it.each([
    [0, '0ms'],
    [0.4, '0.4ms'],
    [250, '250ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_499, '1.5s'],
    [9_940, '9.9s'],
    [10_400, '10s'],
    [42_400, '42s'],
    [59_400, '59s'],
    [60_000, '1m'],
    [90_000, '1.5m'],
    [3_600_000, '1h'],
    [86_400_000, '24h'],
  ])('%d ms reads %j', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('can be typed back, and means the same within its rounding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 576 * 3_600_000 }), (ms) => {
        const back = parseDuration(formatDuration(ms));
        expect('ms' in back && Math.abs(back.ms - ms) <= ms * 0.05).toBe(true);
      }),
    );
  });
});
