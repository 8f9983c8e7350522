import { durationMs, type Duration } from '#durations';
import { InvalidJobError } from '../errors.js';
import { nextOfCron } from './cron.js';

const SHORTEST_MS = 1_000;
const LONGEST_MS = 365 * 86_400_000;
const MAX_CRON_LENGTH = 256;
const CRON_FIELDS = [5, 6];
/** What cron-parser fills in by chance: every look at it would give another time. */
const CHANCE = /(^|[\s,])H/i;
const ZONE = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;
const MAX_ZONE_LENGTH = 64;

export interface TimingOptions {
  /** Every so often, from one second to a year. */
  readonly every?: Duration | undefined;
  /** Five or six fields; the first of six is the second. */
  readonly cron?: string | undefined;
  /** The zone in which the fields are read, as in `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined;
}

export type Timing = { readonly every: Duration } | { readonly cron: string; readonly timezone: string };

/** Reads when a schedule is due; throws when it never is, or cannot be told. */
export function readTiming({ every, cron, timezone }: TimingOptions): Timing {
  if ((every === undefined) === (cron === undefined))
    throw new InvalidJobError('A schedule has either every or cron.');
  if (cron !== undefined) return readCron(cron, timezone ?? 'UTC');
  if (timezone !== undefined) throw new InvalidJobError('timezone goes with cron alone.');
  const ms = lengthOf(every!);
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new InvalidJobError('every is at least 1s and at most 365d.');
  return { every: every! };
}

/** When it is due next, after now, by a clock in ms. What was missed meanwhile is left out. */
export function nextAfter(timing: Timing, nowMs: number, lastDueMs = nowMs): number {
  if ('cron' in timing) return nextOfCron(timing.cron, timing.timezone, nowMs);
  const ms = lengthOf(timing.every);
  return lastDueMs + ms * (Math.floor((nowMs - lastDueMs) / ms) + 1);
}

function readCron(cron: string, timezone: string): Timing {
  if (typeof cron !== 'string' || cron.length > MAX_CRON_LENGTH)
    throw new InvalidJobError(`cron has at most ${MAX_CRON_LENGTH} characters.`);
  if (!CRON_FIELDS.includes(cron.trim().split(/\s+/).length) || CHANCE.test(cron))
    throw new InvalidJobError(
      'cron has five or six fields, as in "30 4 * * 1-5", and leaves none to chance.',
    );
  if (typeof timezone !== 'string' || timezone.length > MAX_ZONE_LENGTH || !isZone(timezone))
    throw new InvalidJobError('timezone is a name that is known here, as in Europe/Berlin.');
  try {
    nextOfCron(cron, timezone, Date.now());
  } catch (error) {
    throw new InvalidJobError(`cron is never due: ${(error as Error).message}.`, { cause: error });
  }
  return { cron, timezone };
}

function lengthOf(every: Duration): number {
  try {
    return durationMs(every, 'every');
  } catch (error) {
    throw new InvalidJobError((error as Error).message, { cause: error });
  }
}

function isZone(name: string): boolean {
  try {
    return ZONE.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
