import { InvalidJobError } from '#core';
import { durationMs } from '#core/parts';
import { defaultRepeatStrategy, type RepeatOptions } from 'bullmq';
import type { Duration } from '../kinds/backoff.js';

const SHORTEST_MS = 1_000;
const LONGEST_MS = 365 * 86_400_000;
const MAX_CRON_LENGTH = 256;
const CRON_FIELDS = [5, 6];
/** What cron-parser fills in at random: every look at it would give another time. */
const RANDOM = /(^|[\s,])H/i;
const ZONE = /^(?=.{1,64}$)[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

export interface TimingOptions {
  /** From one second to a year. */
  readonly every?: Duration | undefined;
  /** Five or six fields; the first of six is the second. */
  readonly cron?: string | undefined;
  /** The zone of the fields, as in `Europe/Berlin`. Default UTC. */
  readonly timezone?: string | undefined;
}

/** When a schedule is due, as BullMQ takes it. Throws when it never is, or cannot be told. */
export function readTiming({ every, cron, timezone }: TimingOptions): RepeatOptions {
  if ((every === undefined) === (cron === undefined))
    throw new InvalidJobError('A schedule has either every or cron.');
  if (cron !== undefined) return readCron(cron, timezone ?? 'UTC');
  if (timezone !== undefined) throw new InvalidJobError('timezone goes with cron alone.');
  const ms = durationMs('every', every!);
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new InvalidJobError('every is at least 1s and at most 365d.');
  return { every: ms, startDate: Date.now() + ms };
}

function readCron(pattern: string, tz: string): RepeatOptions {
  if (typeof pattern !== 'string' || pattern.length > MAX_CRON_LENGTH)
    throw new InvalidJobError(`cron has at most ${MAX_CRON_LENGTH} characters.`);
  if (!CRON_FIELDS.includes(pattern.trim().split(/\s+/).length) || RANDOM.test(pattern))
    throw new InvalidJobError(
      'cron has five or six fields, as in "30 4 * * 1-5", and none of them is random.',
    );
  if (!isZone(tz)) throw new InvalidJobError('timezone is a name that is known here, as in Europe/Berlin.');
  if (nextOf(pattern, tz) === undefined) throw new InvalidJobError('cron is never due.');
  return { pattern, tz };
}

function nextOf(pattern: string, tz: string): number | undefined {
  try {
    return defaultRepeatStrategy(Date.now(), { pattern, tz });
  } catch (error) {
    throw new InvalidJobError(`cron is never due: ${(error as Error).message}.`, { cause: error });
  }
}

function isZone(name: string): boolean {
  try {
    return ZONE.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
