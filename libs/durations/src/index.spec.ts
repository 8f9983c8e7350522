import { describe, expect, it } from 'vitest';
import { formatDuration, hasUnit, parseDuration, typedDurationMs } from './index.js';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1.5s', 1_500],
    ['250', 250],
    [0, 0],
    [90, 90],
  ])('are parsed: %s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '-1s', '5 minutes', '1e3s', 's', '1m30s', -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'are refused: %s',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('that a person types need a unit, except 0', () => {
    expect(['0', '250ms', '1.5s'].map((text) => typedDurationMs(text))).toEqual([0, 250, 1_500]);
    expect(['5', '0', '42s', 'soon'].map(hasUnit)).toEqual([false, false, true, false]);
    for (const text of ['5', '1.5', 'soon', ''])
      expect(() => typedDurationMs(text, '--wait')).toThrow(
        `--wait must be a number with a unit (500ms, 30s, 5m, 24h, 7d); got "${text}".`,
      );
  });

  it('are formatted so that they can be parsed again', () => {
    expect([0, 500, 1_500, 60_000, 90_000, 86_400_000].map(formatDuration)).toEqual([
      '0ms',
      '500ms',
      '1500ms',
      '1m',
      '90s',
      '1d',
    ]);
  });
});
