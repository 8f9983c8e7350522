import { Queue, type Job, type JobsOptions, type QueueOptions } from 'bullmq';
import type { NewJob } from '../backend/adds.js';
import { createMooredBackend, type DurableOptions, type MooredBackend } from '../backend/moored-backend.js';
import type { JobLimits } from '../model/job-limits.js';
import { MooredJob } from '../backend/moored-job.js';
import type { Ticket } from '../backend/ticket.js';
import type { OwnersOf } from '../model/run-options.js';
import { adoptWaiting, type Adoption } from './adoption.js';

export interface MooredQueueOptions extends QueueOptions, DurableOptions {
  readonly limits?: JobLimits;
}

/** As BullMQ has it for data and results of which nothing is said. */
type Anything = Job['data'];

/** BullMQ's queue. Its jobs may name owners; everything else works as in BullMQ. */
export class MooredQueue<Data = Anything, Result = Anything, Name extends string = string> extends Queue<
  Data,
  Result,
  Name
> {
  constructor(name: string, opts: MooredQueueOptions) {
    super(name, opts, createMooredBackend);
  }

  protected override get Job(): typeof Job {
    return MooredJob as typeof Job;
  }

  /** Like `add`, and says what became of it: a new job, or one that was pending already. */
  async enqueue(name: Name, data: Data, opts: JobsOptions): Promise<Ticket> {
    return this.moored.enqueue(this.describe(name, data, opts));
  }

  /** The same for many jobs. One that is refused leaves the others alone. */
  async enqueueBulk(
    jobs: readonly { readonly name: Name; readonly data: Data; readonly opts: JobsOptions }[],
  ): Promise<PromiseSettledResult<Ticket>[]> {
    return this.moored.enqueueBulk(jobs.map(({ name, data, opts }) => this.describe(name, data, opts)));
  }

  private describe(name: Name, data: Data, opts: JobsOptions): NewJob {
    return MooredJob.describe(new MooredJob(this, name, data, { ...this.jobsOpts, ...opts }, opts.jobId));
  }

  private get moored(): MooredBackend {
    return this.backend as unknown as MooredBackend;
  }

  /**
   * Gives owners to the jobs that wait and have none: those that are there already, and those of plain producers. A cancel of an
   * owner then finds them.
   */
  adopt(ownersOf: OwnersOf): Promise<Adoption> {
    return adoptWaiting(this as Queue, this.backend as unknown as MooredBackend, ownersOf);
  }
}
