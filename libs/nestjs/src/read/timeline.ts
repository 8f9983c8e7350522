import type { Job } from 'bullmq';

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
export type TimelineEvent = (typeof TIMELINE_EVENTS)[number];

export interface TimelineEntry {
  readonly at: string;
  readonly event: TimelineEvent;
  readonly attempt?: number;
  readonly why?: string;
}

/** What happened to a job that is still there, the oldest first. */
export abstract class Timeline {
  abstract of(job: Job): Promise<readonly TimelineEntry[]>;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
