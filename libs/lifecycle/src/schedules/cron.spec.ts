import { CronDate, CronExpressionParser } from 'cron-parser';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../../test/support/random.js';
import { nextOfCron } from './cron.js';

const NOW = Date.parse('2026-11-19T10:54:21.123Z');
const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'America/Santiago', 'Pacific/Kiritimati'];
/** Two looks at the calendar for each month of 41 years, and a handful of the zone's clocks. */
const MOST_STEPS = 41 * 12 * 2 + 50;

describe('a cron expression', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ['1-59/2 1-59/2 1-23/2 31 2,4,6 *', 'America/St_Johns'],
    ['* * * 30,31 2 *', 'UTC'],
    ['0 0 31 4,6,9,11 *', 'Australia/Lord_Howe'],
    ['0 0 31 2,4,6,9,11 ?', 'Europe/Berlin'],
  ])('that is never due is refused in few steps: %s', (cron, timezone) => {
    const steps = countSteps();
    expect(() => nextOfCron(cron, timezone, NOW)).toThrow(/no day of the calendar|day of month/);
    expect(steps()).toBeLessThan(MOST_STEPS);
  });

  it.each([
    ['0 0 29 2 *', '2104-02-29T00:00:00.000Z', '2096-03-01T00:00:00.000Z'],
    ['0 0 * 2 1#5', '2112-02-29T00:00:00.000Z', '2072-02-29T00:00:00.000Z'],
    ['59 59 23 * 2 7#5', '2032-02-29T23:59:59.000Z', '2026-11-19T10:54:21.123Z'],
    ['0 12 31 12 *', '2027-12-31T12:00:00.000Z', '2026-12-31T12:00:00.000Z'],
  ])('that is rarely due is found in few steps: %s is %s after %s', (cron, next, after) => {
    const steps = countSteps();
    expect(new Date(nextOfCron(cron, 'UTC', Date.parse(after))).toISOString()).toBe(next);
    expect(steps()).toBeLessThan(MOST_STEPS);
  });

  it.each([
    // cron-parser finds no end there.
    ['0 5 * * *', 'Australia/Lord_Howe', '2028-04-01T12:00:00Z', '2028-04-01T18:30:00.000Z'],
    ['15 * * * *', 'Australia/Lord_Howe', '2028-04-01T14:15:00Z', '2028-04-01T15:45:00.000Z'],
    ['45 * * * *', 'Australia/Lord_Howe', '2028-04-01T14:45:00Z', '2028-04-01T15:15:00.000Z'],
    ['45 1 * * *', 'Australia/Lord_Howe', '2028-04-01T14:45:00Z', '2028-04-02T15:15:00.000Z'],
    // Asked while clocks show the hour again, which had its turn.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', '2026-10-26T01:30:00.000Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', '2026-10-25T02:00:00.000Z'],
    ['30 * * * *', 'Europe/Berlin', '2026-10-25T00:10:00Z', '2026-10-25T00:30:00.000Z'],
    ['30 * * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00.000Z'],
    ['0 * 24 10 *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2027-10-23T22:00:00.000Z'],
  ])('has one turn for what clocks that are put back show twice: %s in %s', (cron, zone, after, next) => {
    const steps = countSteps();
    expect(new Date(nextOfCron(cron, zone, Date.parse(after))).toISOString()).toBe(next);
    expect(steps()).toBeLessThan(MOST_STEPS);
  });

  it.each([
    ['2027-03-28T00:50:00Z', '2027-03-28T01:00:00.000Z'],
    ['2027-03-28T01:00:00Z', '2027-03-29T00:00:00.000Z'],
  ])('has one turn for all times that clocks that are put forward leave out: after %s', (after, next) => {
    expect(new Date(nextOfCron('*/10 2 * * *', 'Europe/Berlin', Date.parse(after))).toISOString()).toBe(next);
  });

  it('is due when cron-parser says so, whatever its fields, its zone and the time', () => {
    let due = 0;
    for (let round = 0; round < 300; round += 1) {
      const [cron, zone, now] = [anExpression(), oneOf(ZONES), NOW + below(3 * 525_600) * 60_000];
      const expected = byItself(cron, zone, now);
      const asked = `${cron} in ${zone} after ${new Date(now).toISOString()}`;
      expect({ asked, at: found(cron, zone, now) }).toEqual({ asked, at: expected });
      if (expected !== undefined) due += 1;
    }
    expect(due).toBeGreaterThan(200);
  });
});

const random = seededRandom(20_261_119);
const below = (count: number): number => Math.floor(random() * count);
const oneOf = <T>(choices: readonly T[]): T => choices[below(choices.length)]!;

function anExpression(): string {
  const days = oneOf(['*', '?', 'L', '31', some(1, 31)]);
  const weekdays = oneOf(['*', '*', '7', `${below(7)}L`, `${below(7)}#${1 + below(5)}`, some(0, 6)]);
  return [some(0, 59), some(0, 23), days, oneOf(['*', '2', '2,4,6', some(1, 12)]), weekdays].join(' ');
}

function some(from: number, to: number): string {
  const [first, second] = [from + below(to - from), to - below(2)];
  return oneOf(['*', `${first}`, `${first}-${second}/2`, `${first},${second}`]);
}

/** What cron-parser finds when it searches. */
function byItself(cron: string, timezone: string, nowMs: number): number | undefined {
  try {
    const expression = CronExpressionParser.parse(cron, { currentDate: new Date(nowMs), tz: timezone });
    return expression.next().getTime();
  } catch {
    return undefined;
  }
}

function found(cron: string, timezone: string, nowMs: number): number | undefined {
  try {
    return nextOfCron(cron, timezone, nowMs);
  } catch {
    return undefined;
  }
}

/** How often the calendar and the zone are asked, and cron-parser moves a date. */
function countSteps(): () => number {
  const steps = [
    vi.spyOn(Date, 'UTC'),
    vi.spyOn(CronDate.prototype, 'getUTCOffset'),
    vi.spyOn(CronDate.prototype, 'invokeDateOperation'),
  ];
  return () => steps.reduce((sum, step) => sum + step.mock.calls.length, 0);
}
