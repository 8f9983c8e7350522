import { Injectable } from '@nestjs/common';
import { DelayedError, type Job } from 'bullmq';
import { JobLog } from '../history/job-log.js';
import type { JobFacts } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import type { SnoozeJob } from './snooze-job.js';
import { Waker } from './waker.js';

/** Puts a job off. It keeps its attempts. */
@Injectable()
export class Snoozer {
  constructor(
    private readonly log: JobLog,
    private readonly journal: Journal,
    private readonly waker: Waker,
  ) {}

  async snooze(job: Job, token: string, facts: JobFacts, { why, forMs, isOver }: SnoozeJob): Promise<never> {
    await job.moveToDelayed(Date.now() + forMs, token);
    this.journal.tell({ event: 'job.put-off', ...facts, why, forMs });
    this.log.writeRetrying(job, why);
    await this.wakeIfOver(facts, isOver);
    throw new DelayedError();
  }

  /** What the job waits for may have happened while it was put off. */
  private async wakeIfOver({ queue, jobId }: JobFacts, isOver: SnoozeJob['isOver']): Promise<void> {
    try {
      if (await isOver()) await this.waker.wake(queue, jobId);
    } catch (error) {
      // The job is looked at again when its delay is over.
      this.journal.trouble(`A snoozed job of queue ${queue}`, error);
    }
  }
}
