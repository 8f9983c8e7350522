import { describe, expect, it } from 'vitest';
import { InvalidJobError } from '../errors.js';
import { nextAfter, readTiming, type TimingOptions } from './timing.js';

/** The next times after one, as ISO texts. */
function next(options: TimingOptions, after: string, count: number): string[] {
  const timing = readTiming(options);
  const times: string[] = [];
  for (let at = Date.parse(after); times.length < count;) {
    at = nextAfter(timing, at);
    times.push(new Date(at).toISOString());
  }
  return times;
}

describe('a timing', () => {
  it('by an interval keeps its step, whenever it is looked at', () => {
    const timing = readTiming({ every: '10s' });
    expect(nextAfter(timing, 1_000)).toBe(11_000);
    expect(nextAfter(timing, 11_000, 11_000)).toBe(21_000);
    expect(nextAfter(timing, 20_999, 11_000)).toBe(21_000);
    expect(nextAfter(timing, 21_000, 11_000)).toBe(31_000);
    // Long after: what was missed is left out.
    expect(nextAfter(timing, 3_600_003, 11_000)).toBe(3_601_000);
  });

  it('by five fields has minutes, by six seconds, and is read in UTC', () => {
    expect(next({ cron: '30 4 * * 1-5' }, '2026-07-03T04:30:00.000Z', 2)).toEqual([
      '2026-07-06T04:30:00.000Z',
      '2026-07-07T04:30:00.000Z',
    ]);
    expect(next({ cron: '*/20 * * * * *' }, '2026-07-03T04:30:00.001Z', 3)).toEqual([
      '2026-07-03T04:30:20.000Z',
      '2026-07-03T04:30:40.000Z',
      '2026-07-03T04:31:00.000Z',
    ]);
  });

  const berlin = (cron: string): TimingOptions => ({ cron, timezone: 'Europe/Berlin' });

  it('follows the clocks of its zone when they are changed', () => {
    expect(next(berlin('0 9 * * *'), '2026-03-28T00:00:00Z', 2)).toEqual([
      '2026-03-28T08:00:00.000Z',
      '2026-03-29T07:00:00.000Z',
    ]);
    expect(next(berlin('0 9 * * *'), '2026-10-24T00:00:00Z', 2)).toEqual([
      '2026-10-24T07:00:00.000Z',
      '2026-10-25T08:00:00.000Z',
    ]);
  });

  it('that names a time which is left out has its turn an hour later by the clock, once', () => {
    expect(next(berlin('30 2 * * *'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('that names a time which comes twice has its turn once', () => {
    expect(next(berlin('30 2 * * *'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('of every hour has one in each hour there is', () => {
    expect(next(berlin('0 * * * *'), '2026-10-24T23:30:00Z', 4)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ]);
  });

  it.each<[string, TimingOptions, RegExp]>([
    ['none', {}, /either every or cron/],
    ['both', { every: '1s', cron: '* * * * *' }, /either every or cron/],
    ['an interval just below a second', { every: 999 }, /at least 1s/],
    ['an interval just above a year', { every: 365 * 86_400_000 + 1 }, /at most 365d/],
    ['an interval that is none', { every: 'often' }, /every must be/],
    ['four fields', { cron: '* * * *' }, /five or six/],
    ['seven fields', { cron: '* * * * * * *' }, /five or six/],
    ['a name instead of fields', { cron: '@daily' }, /five or six/],
    ['a field out of its range', { cron: '61 * * * *' }, /never due/],
    ['a day that never comes', { cron: '0 0 30 2 *' }, /never due/],
    ['chance', { cron: 'H * * * *' }, /chance/],
    ['a long text', { cron: `${'0,'.repeat(50_000)}0 * * * *` }, /256/],
    ['a zone that nobody knows', { cron: '* * * * *', timezone: 'Europe/Atlantis' }, /Europe\/Berlin/],
    ['an offset for a zone', { cron: '* * * * *', timezone: '+02:00' }, /Europe\/Berlin/],
    ['a zone without cron', { every: '1m', timezone: 'UTC' }, /cron alone/],
  ])('is refused: %s', (_what, options, message) => {
    expect(() => readTiming(options)).toThrow(InvalidJobError);
    expect(() => readTiming(options)).toThrow(message);
  });

  it.each([{ every: 1_000 }, { every: '365d' }, { cron: '0 0 29 2 *' }, { cron: '0 0 * * THU' }])(
    'is taken: %j',
    (options) => {
      expect(readTiming(options)).toMatchObject(options);
    },
  );
});
