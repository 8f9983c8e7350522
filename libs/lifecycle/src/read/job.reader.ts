import { Injectable } from '@nestjs/common';
import type { Job, JobState, Queue } from 'bullmq';
import { Removals, type Removal } from '../history/removals.js';
import { isOurs, openEnvelope, type Envelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { failedOfChild, readFailure, TOO_LATE } from '../kinds/outcome.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { readLogLine } from './job.log.js';

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
  /** How many attempts have ended. */
  readonly attempts: number;
  readonly timeline: readonly TimelineEntry[];
}

export interface TimelineEntry {
  readonly at: string;
  readonly event: string;
  readonly attempt?: number;
  readonly why?: string;
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
    timeline: timeline(job, named, failure.why, logs),
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

/** What BullMQ's times say of an ordinary life, and what the job's log adds of an eventful one. */
function timeline(job: Job, state: JobViewState, why: string, logs: readonly string[]): TimelineEntry[] {
  const entries: (Omit<TimelineEntry, 'at'> & { at: number })[] = [{ at: job.timestamp, event: 'accepted' }];
  for (const line of logs) {
    const entry = readLogLine(line);
    if (entry) entries.push(entry);
  }
  // Of the runs before the last one the log has what there is to say.
  if (job.processedOn && state === 'running') entries.push(began(job.processedOn, job.attemptsMade + 1));
  if (job.processedOn && (state === 'completed' || (state === 'failed' && !failedOfChild(job.failedReason))))
    entries.push(began(job.processedOn, job.attemptsMade));
  if (job.finishedOn)
    entries.push({ at: job.finishedOn, event: state, ...(state !== 'completed' && { why }) });
  return entries
    .toSorted((a, b) => a.at - b.at)
    .map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() }));
}

function began(at: number, attempt: number): { at: number; event: string; attempt: number } {
  return { at, event: 'began', attempt };
}
