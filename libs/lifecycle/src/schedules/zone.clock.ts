import { CronDate } from 'cron-parser';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** No clock is put back further than this. */
const LONGEST_REPEAT_MS = 3 * 3_600_000;

/** Clocks that are put back: from `atMs` on they show the times again that they showed since `atMs - lengthMs`. */
export interface Repeat {
  readonly atMs: number;
  readonly lengthMs: number;
}

/** What clocks of a zone show. A wall time is the ms since 1970 that a clock in UTC would show the same at. */
export class ZoneClock {
  constructor(private readonly timezone: string) {}

  wallOf(ms: number): number {
    return ms + this.offsetAt(ms);
  }

  /** The first time that clocks show it; of what they leave out, as much later as they are put forward. */
  instantOf(wallMs: number): number {
    const [before, after] = [this.offsetAt(wallMs - DAY_MS), this.offsetAt(wallMs + DAY_MS)];
    const isAfter = this.offsetAt(wallMs - before) !== before && this.offsetAt(wallMs - after) === after;
    return wallMs - (isAfter ? after : before);
  }

  /** The repeat of which a time is part: it is shown twice, or clocks show the same again at another time. */
  repeatAround(ms: number): Repeat | undefined {
    let [low, high] = [ms - LONGEST_REPEAT_MS, ms + LONGEST_REPEAT_MS];
    const [before, after] = [this.offsetAt(low), this.offsetAt(high)];
    if (before <= after) return undefined;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    const lengthMs = before - after;
    return ms >= high - lengthMs && ms < high + lengthMs ? { atMs: high, lengthMs } : undefined;
  }

  private offsetAt(ms: number): number {
    return new CronDate(new Date(ms), this.timezone).getUTCOffset() * MINUTE_MS;
  }
}
