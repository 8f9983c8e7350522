import { DuplicateJobError, OwnerClosedError } from '#core';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { NotFailedError } from '../errors.js';
import { failedOfChild, wordsOfFailure } from '../history/failed-child.js';
import { JobHistory } from '../history/job-history.js';
import type { JobEvent } from '../history/job-log.js';
import { factsOf } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { MooringStore } from '../store/mooring-store.js';

export interface RetryRequest {
  /** Its attempts are counted from 0. */
  readonly reset?: boolean;
  /** Who asked for it. */
  readonly by?: string;
}

/** A failed job, by its id and the time of its failure. */
export interface FailedJob {
  readonly queue: string;
  readonly id: string;
  /** ms */
  readonly failedAt: number;
}

/** `repeated`: the same request has retried it before. `changed`: it was retried or removed since it was read. */
export type Retried =
  | { readonly outcome: 'retried' | 'repeated' | 'changed' }
  | { readonly outcome: 'refused'; readonly error: OwnerClosedError | DuplicateJobError };

type Answer = readonly [word: Exclude<Retried['outcome'], 'refused'> | 'closed' | 'pending', detail: string];

/** Lets failed jobs wait again, under the present epochs of their owners. */
@Injectable()
export class JobRetrier {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly history: JobHistory,
    private readonly store: MooringStore,
    private readonly journal: Journal,
  ) {}

  /**
   * Retries one job. Answers false if there is no such job. Throws `NotFailedError`, or what refuses the job, which keeps its error then. Of
   * several calls at once one succeeds.
   */
  async retry(id: string, request: RetryRequest = {}): Promise<boolean> {
    const queue = this.queues.ofJob(id);
    if (!queue) return false;
    const job = (await queue.getJob(id)) as Job | undefined;
    if (!job) {
      if (await this.history.findRemoved(queue.name, id)) throw new NotFailedError(id, 'removed');
      return false;
    }
    const failedAt = job.finishedOn ?? -1;
    const retried = await this.retryRead(job, failedAt, request);
    if (retried.outcome === 'refused') throw retried.error;
    if (retried.outcome !== 'retried') throw new NotFailedError(id, await queue.getJobState(id));
    return true;
  }

  /**
   * Retries a job for an operation, whatever else retries it at the same time.
   * @param operationId the same one retries a job once; those of later operations sort behind it
   */
  async retryOnce({ queue, id, failedAt }: FailedJob, operationId: string, by: string): Promise<Retried> {
    const job = (await this.queues.find(queue)?.getJob(id)) as Job | undefined;
    if (!job) return { outcome: 'changed' };
    return this.retryRead(job, failedAt, { by }, operationId);
  }

  private async retryRead(
    job: Job,
    failedAt: number,
    { reset = false, by = '' }: RetryRequest,
    operationId = '',
  ): Promise<Retried> {
    const prefix = `${this.store.root}:${job.queueName}:`;
    const [word, detail] = await this.store.run<Answer>('retryOnce', prefix + job.id!, [
      prefix,
      job.id!,
      failedAt,
      operationId,
      reset ? 1 : 0,
      JSON.stringify(eventOf(job, by)),
    ]);
    if (word === 'closed') return { outcome: 'refused', error: new OwnerClosedError(detail) };
    if (word === 'pending') return { outcome: 'refused', error: new DuplicateJobError(detail) };
    if (word === 'retried')
      this.journal.tell({
        event: 'job.retried',
        ...factsOf(job),
        by,
        reset,
        ...(operationId !== '' && { operationId }),
      });
    return { outcome: word };
  }
}

/** The failure stays in the timeline of the job when BullMQ forgets it. */
function eventOf({ finishedOn, processedOn, failedReason, attemptsMade }: Job, by: string): JobEvent {
  const ran = !failedOfChild(failedReason ?? '') && processedOn !== undefined;
  return {
    at: finishedOn ?? 0,
    event: 'failed',
    ...(ran && { attempt: attemptsMade, beganAt: processedOn }),
    why: wordsOfFailure(failedReason ?? ''),
    retriedAt: Date.now(),
    retriedBy: by,
  };
}
