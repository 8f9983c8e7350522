import type { CronExpression } from 'cron-parser';

type Fields = CronExpression['fields'];

const DAY_MS = 86_400_000;
/** Around 2100, 40 years lie between two days of the rarest kind: 29 February on a given weekday. */
const YEARS = 41;

/** The days that an expression names, each as its midnight in UTC, from a time on. They follow from the calendar alone. */
export function* daysOf(fields: Fields, fromMs: number): Generator<number> {
  const from = new Date(fromMs);
  const firstMonth = from.getUTCFullYear() * 12 + from.getUTCMonth();
  for (let month = firstMonth; month < firstMonth + YEARS * 12; month += 1) {
    if (includes(fields.month.values, (month % 12) + 1)) yield* daysOfMonth(fields, month, fromMs);
  }
}

function* daysOfMonth(fields: Fields, month: number, fromMs: number): Generator<number> {
  const [year, monthOfYear] = [Math.floor(month / 12), month % 12];
  const firstMs = Date.UTC(year, monthOfYear);
  const length = new Date(Date.UTC(year, monthOfYear + 1, 0)).getUTCDate();
  const weekdayOfFirst = new Date(firstMs).getUTCDay();
  for (let day = 1; day <= length; day += 1) {
    const atMs = firstMs + (day - 1) * DAY_MS;
    if (atMs + DAY_MS > fromMs && isNamed(fields, day, (weekdayOfFirst + day - 1) % 7, length)) yield atMs;
  }
}

/** As cron has it: where days of the month and of the week are both restricted, either will do. */
function isNamed({ dayOfMonth, dayOfWeek }: Fields, day: number, weekday: number, length: number): boolean {
  const isDay = includes(dayOfMonth.values, day) || (dayOfMonth.hasLastChar && day === length);
  const isNth = dayOfWeek.nthDay <= 0 || Math.ceil(day / 7) === dayOfWeek.nthDay;
  const isLast = dayOfWeek.hasLastChar && day > length - 7 && hasLast(dayOfWeek.values, weekday);
  const isWeekday = (includes(dayOfWeek.values, weekday) && isNth) || isLast;
  if (dayOfWeek.isWildcard) return isDay;
  return dayOfMonth.isWildcard ? isWeekday : isDay || isWeekday;
}

function includes(values: readonly unknown[], value: number): boolean {
  return values.includes(value);
}

/** `5L` is the last Friday of a month. */
function hasLast(values: readonly (number | string)[], weekday: number): boolean {
  return values.some((value) => Number.parseInt(String(value), 10) % 7 === weekday);
}
