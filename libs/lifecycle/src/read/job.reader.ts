import { Injectable } from '@nestjs/common';
import type { Job, JobState, Queue } from 'bullmq';
import { Removals, type Removal } from '../history/removals.js';
import { isOurs, openEnvelope, type Envelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { failedOfChild, readFailure, TOO_LATE } from '../kinds/outcome.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { readLogLine } from './job.log.js';
import { timelineOf, type TimelineEntry } from './timeline.js';

export type JobViewState =
  | 'waiting'
  | 'delayed'
  | 'running'
  | 'retrying'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'skipped'
  | 'removed';

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
  /** Of one that was removed: why. */
  readonly why?: string;
  /** How many attempts have ended. */
  readonly attempts: number;
  readonly timeline: readonly TimelineEntry[];
}

const MOST_LOOKS = 5;

/** Finds a job by its id alone. */
@Injectable()
export class JobReader {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
    private readonly removals: Removals,
  ) {}

  /** The job, or what is remembered of one that was removed; `undefined` when nothing is known of that id. */
  async read(id: string): Promise<JobView | undefined> {
    const queueName = queueOfJobId(id);
    if (!queueName || !this.queues.has(queueName)) return undefined;
    const job = await this.readJob(this.queues.get(queueName), id);
    if (job) return job;
    const removal = await this.removals.find(id);
    return removal && viewOfRemoved(removal);
  }

  private readJob(queue: Queue, id: string): Promise<JobView | undefined> {
    return this.store.call(async () => {
      // The state is told apart from the job, which may move on between the two: then both are read again.
      for (let state = await queue.getJobState(id), looks = 0; ; looks += 1) {
        const [job, { logs }] = await Promise.all([
          queue.getJob(id) as Promise<Job | undefined>,
          queue.getJobLogs(id),
        ]);
        const stateAfter = await queue.getJobState(id);
        if (state === stateAfter || looks === MOST_LOOKS) {
          return job?.name && state !== 'unknown' && isOurs(job)
            ? view(job, openEnvelope(job), state, logs)
            : undefined;
        }
        state = stateAfter;
      }
    });
  }
}

function view(job: Job, envelope: Envelope, state: JobState, logs: readonly string[]): JobView {
  const failure = readFailure(job.failedReason ?? '');
  const named = nameState(job, state, failure.endedAs);
  return {
    id: job.id!,
    kind: job.name,
    queue: job.queueName,
    owners: envelope.o,
    state: named,
    progress: job.progress,
    result: job.returnvalue ?? null,
    // BullMQ keeps what an earlier attempt failed of, also when a later one completed.
    error: named === 'completed' ? null : failure.why || null,
    // One that was refused at the gate was counted by BullMQ; it was no attempt.
    attempts: wasRefused(job, named, logs) ? job.attemptsMade - 1 : job.attemptsMade,
    timeline: timelineOf(job, named, failure.why, logs),
  };
}

/** One that expired did so wherever it was found; of the others the removal is what there is to say. */
function viewOfRemoved({ id, kind = '?', queue, owners = [], at, ...removal }: Removal): JobView {
  const event = removal.why === 'expired' ? 'expired' : 'removed';
  const why = event === 'expired' ? (removal.reason ?? TOO_LATE) : wordsOf(removal);
  return {
    id,
    kind,
    queue,
    owners,
    state: event,
    progress: null,
    result: null,
    error: why,
    why,
    attempts: 0,
    timeline: [{ at, event, why }],
  };
}

/** As in `cancelled by ops: trip called off (it was delayed)`. */
function wordsOf({ why, by, reason, state }: Pick<Removal, 'why' | 'by' | 'reason' | 'state'>): string {
  return `${why}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''} (it was ${state})`;
}

function nameState(
  job: Job,
  state: JobState,
  endedAs: ReturnType<typeof readFailure>['endedAs'],
): JobViewState {
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
      return endedAs;
  }
}

function wasRefused(job: Job, state: JobViewState, logs: readonly string[]): boolean {
  if (state === 'failed') return failedOfChild(job.failedReason);
  const isMarked = state === 'cancelled' || state === 'expired' || state === 'skipped';
  return isMarked && !logs.some((line) => readLogLine(line)?.event === 'aborted');
}
