import { Injectable } from '@nestjs/common';
import { DelayedError, type Job } from 'bullmq';
import { ForeignJobs, type Adoptable } from '../enqueue/foreign.jobs.js';
import { CorruptJobError, OwnerClosedError, QueueFullError, StoreUnavailableError } from '../errors.js';
import { Journal } from '../journal.js';
import { factsOf } from '../kinds/envelope.js';
import { EndedError } from '../kinds/outcome.js';

/** When a job is looked at again that could not be adopted now. */
const AGAIN_MS = 1_000;

/** What another program's job completes with: the id of the job that does it. */
export interface Adopted {
  readonly adoptedAs: string;
}

/** Adopts a job of another program's that a worker comes to before a sweep does. */
@Injectable()
export class ForeignPickup {
  constructor(
    private readonly foreign: ForeignJobs,
    private readonly journal: Journal,
  ) {}

  isForeign(job: Job): boolean {
    return this.foreign.isForeign(job.queueName, job.id ?? '');
  }

  /** Nothing when it is nobody's. */
  async adopt(job: Job, lock: string): Promise<Adopted | undefined> {
    const adoptable = this.read(job);
    if (!adoptable) return undefined;
    try {
      return { adoptedAs: await this.foreign.adopt(job, adoptable) };
    } catch (error) {
      if (error instanceof OwnerClosedError) return this.refuse(job, error);
      if (!(error instanceof StoreUnavailableError) && !(error instanceof QueueFullError))
        throw new CorruptJobError(job.id ?? '?', job.queueName, { cause: error });
      this.journal.queueError(job.queueName, error);
      await job.moveToDelayed(Date.now() + AGAIN_MS, lock);
      throw new DelayedError();
    }
  }

  private refuse(job: Job, { message }: OwnerClosedError): never {
    this.journal.jobSkipped(factsOf(job), 'cancelled', message);
    throw new EndedError('cancelled', message);
  }

  private read(job: Job): Adoptable | undefined {
    try {
      return this.foreign.read(job);
    } catch (error) {
      throw new CorruptJobError(job.id ?? '?', job.queueName, { cause: error });
    }
  }
}
