import { InvalidJobError, formatOwner, parseOwner } from '#core';
import { inGroups } from '#core/parts';
import type { JobsOptions } from 'bullmq';

const MAX_ID_BYTES = 200;

/** What a scheduler of BullMQ's keeps of the schedule that it is. Its jobs have it too. */
export interface ScheduleMark {
  readonly id: string;
  /** When it was put, ms. Of two in different queues the later one counts. */
  readonly putAt: number;
}

export interface ScheduleView {
  readonly id: string;
  readonly kind: string;
  readonly owners: readonly string[];
  /** In ms. */
  readonly every: number | null;
  readonly cron: string | null;
  readonly timezone: string | null;
  readonly nextAt: string;
  /** When its last turn was due, and the job of that turn; null until a worker has begun one. */
  readonly lastAt: string | null;
  readonly lastJobId: string | null;
  readonly state: 'active';
  readonly error: null;
}

export interface StoredScheduler {
  readonly mark: ScheduleMark;
  readonly view: ScheduleView;
}

/** @param raw names and values of the hash of a scheduler; null if there is none. Others than those of schedules are left out */
export function readScheduler(
  raw: readonly string[] | null,
  next: string | null,
): StoredScheduler | undefined {
  const fields = Object.fromEntries(inGroups(raw ?? [], 2)) as Record<string, string | undefined>;
  const { name, opts, every, pattern, tz, last } = fields;
  const { schedule: mark, owners = [] } = JSON.parse(opts ?? '{}') as JobsOptions;
  if (!mark || name === undefined || next === null) return undefined;
  const view: ScheduleView = {
    id: mark.id,
    kind: name,
    owners: owners.map((each) => formatOwner(parseOwner(each))),
    every: every === undefined ? null : Number(every),
    cron: pattern ?? null,
    timezone: tz ?? null,
    nextAt: new Date(Number(next)).toISOString(),
    lastAt: last === undefined ? null : new Date(dueOf(last)).toISOString(),
    lastJobId: last ?? null,
    state: 'active',
    error: null,
  };
  return { mark, view };
}

export function checkScheduleId(id: unknown): void {
  if (
    typeof id !== 'string' ||
    id === '' ||
    Buffer.byteLength(id) > MAX_ID_BYTES ||
    /\p{Surrogate}/u.test(id)
  )
    throw new InvalidJobError(`A schedule's id is a text of 1 to ${MAX_ID_BYTES} bytes.`);
}

/** repeat:<scheduler>:<ms> */
function dueOf(turn: string): number {
  return Number(turn.slice(turn.lastIndexOf(':') + 1));
}

// Stored by BullMQ beside its own options.
declare module 'bullmq/dist/esm/interfaces/base-job-options.js' {
  interface BaseJobOptions {
    readonly schedule?: ScheduleMark;
  }
}
