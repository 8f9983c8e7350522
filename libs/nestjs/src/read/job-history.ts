import type { Job, JobState } from 'bullmq';

export const TIMELINE_EVENTS = [
  'accepted',
  'deduplicated',
  'began',
  'waiting-for-slot',
  'failed',
  'retrying',
  'aborted',
  'completed',
  'cancelled',
  'expired',
  'skipped',
  'removed',
] as const;

export interface TimelineEntry {
  readonly at: string;
  readonly event: (typeof TIMELINE_EVENTS)[number];
  readonly attempt?: number;
  readonly why?: string;
}

/** The cancels of an orphan sweep have ids that begin so. */
export const ORPHAN_CANCEL = 'orphan-';

/** What is remembered of a job that was removed. */
export interface RemovedJob {
  readonly kind: string;
  readonly owners: readonly string[];
  /** Why, in one word: `cancelled`, `expired`, `retention`. */
  readonly reason: string;
  /** The state it was in. */
  readonly was: string;
  /** '' if no cancel removed it. */
  readonly cancelId: string;
  /** How many attempts had ended before. */
  readonly attempts: number;
  /** How it ended, in one word and in a sentence. */
  readonly state: 'cancelled' | 'expired' | 'skipped' | 'removed';
  readonly words: string;
  readonly timeline: readonly TimelineEntry[];
}

/** What happened to jobs: to those that are there, and to the newest of those that were removed. */
export abstract class JobHistory {
  /** The oldest event comes first. */
  abstract timelineOf(job: Job, state: JobState): Promise<readonly TimelineEntry[]>;
  abstract findRemoved(queue: string, id: string): Promise<RemovedJob | undefined>;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
