import type { Job, JobState } from 'bullmq';
import { failedOfChild, wordsOfFailure } from './failed-child.js';
import type { JobEvent } from './job-log.js';

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

/** The times that BullMQ keeps say what happens to every job, and the job's log says the rest. */
export function timelineOf(job: Job, state: JobState, events: readonly JobEvent[]): TimelineEntry[] {
  const { processedOn: beganAt, finishedOn, attemptsMade, failedReason } = job;
  const entries: JobEvent[] = [{ at: job.timestamp, event: 'accepted' }, ...events.flatMap(ofEarlierRun)];
  const hasEnded = state === 'completed' || state === 'failed';
  const ran = state === 'failed' ? !failedOfChild(failedReason) : hasEnded || state === 'active';
  if (ran && beganAt)
    entries.push({ at: beganAt, event: 'began', attempt: attemptsMade + (hasEnded ? 0 : 1) });
  if (hasEnded && finishedOn)
    entries.push({
      at: finishedOn,
      event: state,
      ...(state === 'failed' && { why: wordsOfFailure(failedReason) }),
    });
  return entriesOf(entries);
}

/** A run that was not the last one began, and ended so. BullMQ keeps only the times of the last. */
export function ofEarlierRun({ beganAt, retriedAt, retriedBy, ...entry }: JobEvent): JobEvent[] {
  const { at, attempt } = entry;
  const run = attempt === undefined ? {} : { attempt };
  const retried = { at: retriedAt ?? at, ...(retriedBy && { why: `retried by ${retriedBy}` }) };
  return [
    ...(beganAt === undefined ? [] : [{ at: beganAt, event: 'began', ...run }]),
    entry,
    ...(entry.event === 'failed' ? [{ event: 'retrying', ...run, ...retried }] : []),
  ];
}

/** They come in their order. Clocks of workers differ, and a failure is noted when the next run may have begun. */
export function entriesOf(events: readonly JobEvent[]): TimelineEntry[] {
  let latest = Infinity;
  const entries = events.toReversed().map((entry) => {
    latest = Math.min(latest, entry.at);
    return { ...entry, at: new Date(latest).toISOString() } as TimelineEntry;
  });
  return entries.toReversed().filter(({ event }) => TIMELINE_EVENTS.includes(event));
}
