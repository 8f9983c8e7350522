import { Injectable } from '@nestjs/common';
import type { Job, JobState } from 'bullmq';
import { openEnvelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';

export type JobViewState = 'waiting' | 'delayed' | 'running' | 'retrying' | 'completed' | 'failed';

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
  /** How many attempts have ended. */
  readonly attempts: number;
  readonly timeline: readonly TimelineEntry[];
}

export interface TimelineEntry {
  readonly at: string;
  readonly event: 'accepted' | 'began' | 'completed' | 'failed';
  readonly attempt?: number;
  readonly why?: string;
}

const MOST_LOOKS = 5;

/** Finds a job by its id alone. */
@Injectable()
export class JobReader {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly queues: Queues,
    private readonly store: Store,
  ) {}

  /** The job, or `undefined` when there is none of that id. */
  async read(id: string): Promise<JobView | undefined> {
    const queueName = queueOfJobId(id);
    if (!queueName || !this.kinds.queues().includes(queueName)) return undefined;
    return this.store.call(async () => {
      const queue = this.queues.get(queueName);
      // The state is told apart from the job, which may move on between the two: then both are read again.
      for (let state = await queue.getJobState(id), looks = 0; ; looks += 1) {
        const job = (await queue.getJob(id)) as Job | undefined;
        const stateAfter = await queue.getJobState(id);
        if (state === stateAfter || looks === MOST_LOOKS)
          return job?.name && state !== 'unknown' ? view(job, state) : undefined;
        state = stateAfter;
      }
    });
  }
}

function view(job: Job, state: JobState): JobView {
  return {
    id: job.id!,
    kind: job.name,
    queue: job.queueName,
    owners: openEnvelope(job).owners,
    state: nameState(job, state),
    progress: job.progress,
    result: job.returnvalue ?? null,
    // BullMQ keeps what an earlier attempt failed of, also when a later one completed.
    error: (state !== 'completed' && job.failedReason) || null,
    attempts: job.attemptsMade,
    timeline: timeline(job, state),
  };
}

function nameState(job: Job, state: JobState): JobViewState {
  switch (state) {
    case 'waiting':
    case 'prioritized':
    case 'waiting-children':
      return 'waiting';
    case 'delayed':
      return job.attemptsMade > 0 ? 'retrying' : 'delayed';
    case 'active':
      return 'running';
    case 'completed':
      return 'completed';
    case 'failed':
      return 'failed';
  }
}

function timeline(job: Job, state: JobState): TimelineEntry[] {
  const entries: TimelineEntry[] = [{ at: iso(job.timestamp), event: 'accepted' }];
  if (job.processedOn)
    entries.push({ at: iso(job.processedOn), event: 'began', attempt: job.attemptsStarted });
  if (job.finishedOn && state === 'completed') entries.push({ at: iso(job.finishedOn), event: 'completed' });
  if (job.finishedOn && state === 'failed') {
    entries.push({ at: iso(job.finishedOn), event: 'failed', why: job.failedReason ?? '' });
  }
  return entries;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
