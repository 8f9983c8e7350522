import type { Job, JobState } from 'bullmq';
import { failedOfChild, wordsOfFailure } from '../history/failed-child.js';
import type { RemovedJob } from '../history/job-history.js';
import type { TimelineEntry } from '../history/timeline.js';

export const JOB_STATES = [
  'waiting',
  'delayed',
  'running',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'skipped',
  'removed',
] as const;
export type JobViewState = (typeof JOB_STATES)[number];

/** A job as a caller sees it. */
export interface JobView {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly state: JobViewState;
  readonly progress: unknown;
  readonly result: unknown;
  readonly error: string | null;
  /** Why it was removed, if it was. */
  readonly why?: string;
  /** How many attempts have ended. */
  readonly attempts: number;
  readonly timeline: readonly TimelineEntry[];
}

export function viewOfJob(job: Job, state: JobState, timeline: readonly TimelineEntry[]): JobView {
  const named = nameState(job, state);
  const error = job.failedReason ?? '';
  // To BullMQ it is an attempt, too, that a parent fails because of a child.
  const unrun = named === 'failed' && failedOfChild(error) ? 1 : 0;
  return {
    id: job.id!,
    kind: job.name,
    queue: job.queueName,
    owners: (job.opts.owners ?? []) as string[],
    state: named,
    progress: job.progress,
    result: job.returnvalue ?? null,
    // BullMQ keeps the error of an earlier attempt when a later one completes.
    error: named === 'completed' ? null : wordsOfFailure(error) || null,
    attempts: job.attemptsMade - unrun,
    timeline,
  };
}

/** A run that a cancel stopped was an attempt. */
export function viewOfRemoved(id: string, queue: string, removed: RemovedJob): JobView {
  const { kind, owners, state, words, timeline } = removed;
  const attempts = removed.attempts + (removed.was === 'running' ? 1 : 0);
  const told = { error: words, why: words, attempts, timeline };
  return { id, kind, queue, owners, state, progress: null, result: null, ...told };
}

function nameState({ attemptsMade }: Job, state: JobState): JobViewState {
  switch (state) {
    case 'active':
      return 'running';
    case 'delayed':
      return attemptsMade > 0 ? 'retrying' : 'delayed';
    case 'completed':
    case 'failed':
      return state;
    case 'waiting':
    case 'prioritized':
    case 'waiting-children':
      return 'waiting';
  }
}
