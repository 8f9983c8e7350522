import { Owners, type CancelOptions, type Receipt } from '#core';
import { emptyReceipt } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { JobHistory } from '../history/job-history.js';
import { ApplicationQueues } from '../queues/application-queues.js';

/** Cancels single jobs, by their ids alone. */
@Injectable()
export class JobCanceller {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly queues: ApplicationQueues,
    private readonly history: JobHistory,
  ) {}

  /**
   * Cancels a job, and those below it in its flow. For a job that a cancel has removed already it answers the receipt of that one, for a job
   * that has ended an empty one, and nothing if there is no such job.
   */
  async cancel(id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    const queue = this.queues.ofJob(id);
    if (!queue) return undefined;
    const receipt = await this.owners.cancelJob(queue.name, id, options);
    if (receipt) return receipt;
    const cancelId = (await this.history.findRemoved(queue.name, id))?.cancelId;
    if (cancelId) return this.owners.receipt(cancelId);
    const job = (await queue.getJob(id)) as Job | undefined;
    return job && receiptOfEnded(job, options);
  }
}

function receiptOfEnded(job: Job, { cancelId = '', reason = '', by = '' }: CancelOptions): Receipt {
  const [owner = ''] = (job.opts.owners ?? []) as string[];
  const ended = { queue: job.queueName, id: job.id! };
  return emptyReceipt(cancelId, '', { owner, job: ended, at: Date.now(), reason, by });
}
