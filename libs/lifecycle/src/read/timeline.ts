import type { Job } from 'bullmq';
import { failedOfChild } from '../kinds/outcome.js';
import { readLogLine, type LogEntry } from './job.log.js';

/** Everything that a timeline tells of. */
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

type Told = Omit<TimelineEntry, 'at'> & { readonly at: number };

/** What BullMQ's times say of an ordinary life, and what the job's log adds of an eventful one. */
export function timelineOf(job: Job, state: string, why: string, logs: readonly string[]): TimelineEntry[] {
  const entries: Told[] = [{ at: job.timestamp, event: 'accepted' }, ...logs.flatMap(tellLine)];
  // Of the runs before the last one the log has what there is to say.
  if (job.processedOn && state === 'running') entries.push(began(job.processedOn, job.attemptsMade + 1));
  if (job.processedOn && (state === 'completed' || (state === 'failed' && !failedOfChild(job.failedReason))))
    entries.push(began(job.processedOn, job.attemptsMade));
  if (job.finishedOn && isEvent(state))
    entries.push({ at: job.finishedOn, event: state, ...(state !== 'completed' && { why }) });
  return entries
    .toSorted((a, b) => a.at - b.at)
    .map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() }));
}

function tellLine(line: string): Told[] {
  const entry = readLogLine(line);
  return entry ? tell(entry) : [];
}

/** The log says more exactly why a run was not the last one: of an attempt that failed, or at the cost of none. */
function tell({ event, ...entry }: LogEntry & { readonly at: number }): Told[] {
  switch (event) {
    case 'retrying': {
      const { why: _why, ...again } = entry;
      return [
        { event: 'failed', ...entry },
        { event: 'retrying', ...again },
      ];
    }
    case 'put-off':
    case 'handed-back':
      return [{ event: 'retrying', ...entry }];
    case 'waiting-for-children':
      return [{ event: 'retrying', ...entry, why: 'its children have not all ended' }];
    default:
      return isEvent(event) ? [{ event, ...entry }] : [];
  }
}

function began(at: number, attempt: number): Told {
  return { at, event: 'began', attempt };
}

function isEvent(event: string): event is TimelineEvent {
  return (TIMELINE_EVENTS as readonly string[]).includes(event);
}
