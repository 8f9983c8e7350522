import { MooringError, Owners } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { receiptOf } from '../enqueue/durable-answer.js';
import { meansUnavailable } from '../errors.js';
import { JobHistory } from '../history/job-history.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { JobRetrier } from '../repair/job-retrier.js';
import { MooringStore } from '../store/mooring-store.js';
import { JobKeepers } from '../sweeps/retention/job-keepers.js';
import { JobRemover } from '../sweeps/retention/job-remover.js';
import { cancelIdOf, type OperationRecord, type PendingJob, type Problem } from './operation.js';

/** How the turn of a job ended. `skipped`: it is no longer as it was when it was found. */
export type Settled = 'done' | 'skipped' | Omit<Problem, 'id'>;

const MOST_WORDS = 500;

/**
 * Does to one job what an operation is about. Doing it a second time for the same operation changes nothing and answers the same, so a
 * page whose process died is simply done again.
 */
@Injectable()
export class JobActions {
  constructor(
    private readonly retrier: JobRetrier,
    @Inject(Owners) private readonly owners: Owners,
    private readonly remover: JobRemover,
    private readonly keepers: JobKeepers,
    private readonly history: JobHistory,
    private readonly queues: ApplicationQueues,
    private readonly store: MooringStore,
  ) {}

  /** Rejects only if the store is away. */
  async settle(operation: OperationRecord, job: PendingJob): Promise<Settled> {
    try {
      return await this.act(operation, job);
    } catch (error) {
      if (meansUnavailable(error)) throw error;
      return { outcome: 'failed', ...describe(error) };
    }
  }

  private act(operation: OperationRecord, job: PendingJob): Promise<Settled> {
    switch (operation.action) {
      case 'retry':
        return this.retry(operation, job);
      case 'cancel':
        return this.cancel(operation, job);
      case 'remove':
        return this.remove(operation, job);
    }
  }

  private async retry({ operationId, by }: OperationRecord, { id, queue, at }: PendingJob): Promise<Settled> {
    const retried = await this.retrier.retryOnce({ id, queue, failedAt: at }, operationId, by);
    if (retried.outcome === 'refused') return { outcome: 'refused', ...describe(retried.error) };
    return retried.outcome === 'changed' ? 'skipped' : 'done';
  }

  /** The same cancelId again answers the same receipt. */
  private async cancel({ operationId, by }: OperationRecord, { id, queue }: PendingJob): Promise<Settled> {
    const cancelId = cancelIdOf(operationId, queue, id);
    const options = { cancelId, reason: `operation ${operationId}`, by };
    if (await receiptOf(this.owners.cancelJob(queue, id, options))) return 'done';
    const job = (await this.queues.find(queue)?.getJob(id)) as Job | undefined;
    if (!job || job.finishedOn !== undefined || job.opts.mooring !== undefined) return 'skipped';
    return {
      outcome: 'refused',
      code: 'NO_OWNER',
      why: 'It has no owner: only jobs of owners are cancelled.',
    };
  }

  private async remove(
    { operationId, by }: OperationRecord,
    { id, queue, set, at }: PendingJob,
  ): Promise<Settled> {
    const job = (await this.queues.find(queue)?.getJob(id)) as Job | undefined;
    const reason = `operation ${operationId} by ${by}`;
    if (!job) {
      const isOurs = (await this.history.findRemoved(queue, id))?.words.includes(reason);
      return isOurs ? 'done' : 'skipped';
    }
    if (job.finishedOn !== at) return 'skipped';
    const isWanted = set === 'completed' && (await this.keepers.wanted([job])).has(id);
    if (isWanted)
      return { outcome: 'refused', code: 'WANTED', why: 'The keeper of its kind says that it is wanted.' };
    const removed = await this.remover.remove({ job, reason, word: 'removed' }, set, await this.store.now());
    if (typeof removed === 'object')
      return { outcome: 'failed', code: 'REMOVAL_FAILED', why: removed.failed.slice(0, MOST_WORDS) };
    return removed === 'removed' ? 'done' : 'skipped';
  }
}

function describe(error: unknown): Pick<Problem, 'code' | 'why'> {
  const { message } = error as Error;
  return {
    code: error instanceof MooringError ? error.code : 'ERROR',
    why: message.slice(0, MOST_WORDS),
  };
}
