import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { daysOf } from './cron.days.js';
import { ZoneClock, type Repeat } from './zone.clock.js';

type Fields = CronExpression['fields'];

const SECOND_MS = 1_000;
const HOURS_A_DAY = 24;

/**
 * When an expression is due next, after a time in ms; throws when it cannot be read or is never due.
 *
 * cron-parser reads the fields alone. Its search goes through days one by one and gives up after 10,000 steps, which keep the
 * thread busy for a second; where clocks are put back by half an hour it ends that way every time. Here days follow from the
 * calendar, times of the day from the fields, and the zone is asked about the result.
 */
export function nextOfCron(cron: string, timezone: string, nowMs: number): number {
  const { fields } = CronExpressionParser.parse(cron);
  const clock = new ZoneClock(timezone);
  const repeat = clock.repeatAround(nowMs);
  if (!repeat) return clock.instantOf(nextWall(fields, clock.wallOf(nowMs)));
  if (fields.hour.values.length === HOURS_A_DAY) return nextOfEveryHour(fields, clock, nowMs, repeat);
  // The hour that is shown twice counts once: what it names was due the first time.
  const { atMs, lengthMs } = repeat;
  const wallMs = nowMs < atMs ? clock.wallOf(nowMs) : clock.wallOf(atMs) + lengthMs - 1;
  return clock.instantOf(nextWall(fields, wallMs));
}

/** What names every hour is due in each that there is: in the repeated one both times. */
function nextOfEveryHour(
  fields: Fields,
  clock: ZoneClock,
  nowMs: number,
  { atMs, lengthMs }: Repeat,
): number {
  if (nowMs < atMs) {
    const wallMs = clock.wallOf(nowMs);
    const firstMs = nowMs + nextWall(fields, wallMs) - wallMs;
    if (firstMs < atMs) return firstMs;
  }
  const fromMs = Math.max(nowMs, atMs - 1);
  const wallMs = clock.wallOf(atMs) + fromMs - atMs;
  const nextMs = nextWall(fields, wallMs);
  return nextMs < clock.wallOf(atMs) + lengthMs ? fromMs + nextMs - wallMs : clock.instantOf(nextMs);
}

/** The next wall time that the fields name. */
function nextWall(fields: Fields, afterMs: number): number {
  for (const dayMs of daysOf(fields, afterMs)) {
    const seconds = nextOfDay(fields, Math.floor((afterMs - dayMs) / SECOND_MS) + 1);
    if (seconds !== undefined) return dayMs + seconds * SECOND_MS;
  }
  throw new Error('no day of the calendar fits it');
}

/** The first time of a day that the fields name, from a second of that day on. */
function nextOfDay({ hour, minute, second }: Fields, from: number): number | undefined {
  for (const hours of hour.values) {
    for (const minutes of minute.values) {
      const startOfMinute = (hours * 60 + minutes) * 60;
      const found =
        startOfMinute + 59 < from ? undefined : second.values.find((one) => startOfMinute + one >= from);
      if (found !== undefined) return startOfMinute + found;
    }
  }
  return undefined;
}
